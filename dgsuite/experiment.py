"""The command ``dgsuite run``, also as ``python -m dgsuite.experiment``."""

from dgsuite.base.command import CommandLine

main = CommandLine("dgsuite.faces.cli.run:run", "python -m dgsuite.experiment")

if __name__ == "__main__":
    main.run()
