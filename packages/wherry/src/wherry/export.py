"""Programs without Python: `web`, folders in which a model runs in browsers."""
from wherry_export.web import export as web

__all__ = ["web"]
