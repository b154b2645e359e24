"""The command `dgsuite`; also ``python -m dgsuite``."""

from dgsuite.base.command import CommandLine

main = CommandLine("dgsuite.faces.cli.app:app", "dgsuite")

if __name__ == "__main__":
    main.run()
