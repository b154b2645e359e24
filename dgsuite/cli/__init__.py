"""The command `dgsuite`: a file for each sub-command, and the options and the console that they share.

``python -m dgsuite.experiment``, ``python -m genval`` and the other mains are the same commands under
another name. To add a command, write its file and list it in `dgsuite.cli.app`.
"""
