"""The command ``dgsuite scc``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.scc:scc", "python -m dgsuite.scc")

if __name__ == "__main__":
    main.run()
