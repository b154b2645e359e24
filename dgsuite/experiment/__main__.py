"""The command ``dgsuite run``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.run:run", "python -m dgsuite.experiment")

if __name__ == "__main__":
    main.run()
