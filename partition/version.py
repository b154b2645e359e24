"""The version: here alone, without imports."""

__version__ = "0.1.0"
