"""The command ``dgsuite gap``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.gap:gap", "python -m dgsuite.gap")

if __name__ == "__main__":
    main.run()
