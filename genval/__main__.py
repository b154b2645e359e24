"""The commands ``dgsuite inputs`` and ``dgsuite validate``."""

from dgsuite.base.command import CommandLine

main = CommandLine("dgsuite.faces.cli.app:genval", "python -m dgsuite.genval", "genval: {}")

if __name__ == "__main__":
    main.run()
