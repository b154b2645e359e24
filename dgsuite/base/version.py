"""The version, in a module without imports; the package takes it from here."""

__version__ = "1.0.0"
