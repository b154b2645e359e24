"""The errors a user can meet, from the lowest layer so that every package can raise them."""


class DgsuiteError(Exception):
    """Base of all errors that dgsuite raises on purpose."""


class InputError(DgsuiteError, ValueError):
    """The user's input is wrong: the message says what, where, and what would be right."""


class RunError(DgsuiteError, RuntimeError):
    """A run failed: the message names the kernel, where it was, and the cause."""
