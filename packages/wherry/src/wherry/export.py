"""Programs for places where there is no Python: `web`, folders in which a model answers in browsers."""
from wherry_export.web import export as web

__all__ = ["web"]
