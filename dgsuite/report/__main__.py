"""The command ``dgsuite report``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.report:report", "python -m dgsuite.report")

if __name__ == "__main__":
    main.run()
