"""The command `dgsuite`; also ``python -m dgsuite``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.app:app", "dgsuite")

if __name__ == "__main__":
    main.run()
