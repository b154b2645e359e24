"""The command ``dgsuite graph500``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.graph500:graph500", "python -m dgsuite.graph500")

if __name__ == "__main__":
    main.run()
