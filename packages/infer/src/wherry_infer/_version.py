"""The version, which files of this package read too."""
__version__ = "0.14.0"
