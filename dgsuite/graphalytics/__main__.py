"""The command ``dgsuite graphalytics``."""

from partition.command import CommandLine

main = CommandLine("dgsuite.cli.graphalytics:graphalytics", "python -m dgsuite.graphalytics")

if __name__ == "__main__":
    main.run()
