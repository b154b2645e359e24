"""The command `dgsuite`: a file for each sub-command, and the options and the console that they share.

``python -m dgsuite.experiment`` is `dgsuite run`, and ``python -m dgsuite.genval`` is `dgsuite inputs` and
`dgsuite validate`.

To add a command, write its file and list it in `dgsuite.faces.cli.app`.
"""
