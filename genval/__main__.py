"""The commands ``dgsuite inputs`` and ``dgsuite validate``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.app:genval", "python -m genval", "genval: {}")

if __name__ == "__main__":
    main.run()
