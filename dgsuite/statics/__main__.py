"""The command ``dgsuite statics``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.statics:statics", "python -m dgsuite.statics")

if __name__ == "__main__":
    main.run()
