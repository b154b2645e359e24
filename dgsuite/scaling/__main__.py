"""The command ``dgsuite scaling``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.scaling:scaling", "python -m dgsuite.scaling")

if __name__ == "__main__":
    main.run()
