"""The command ``dgsuite transports``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.app:transports", "python -m dgsuite.transports")

if __name__ == "__main__":
    main.run()
