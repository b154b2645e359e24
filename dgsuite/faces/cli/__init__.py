"""The command `dgsuite`: a file for each sub-command, and the options and the console that they share.

``python -m dgsuite.experiment`` and ``python -m dgsuite.genval`` are some of them under another name.

To add a command, write its file and list it in `dgsuite.faces.cli.app`.
"""
