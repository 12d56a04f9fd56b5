"""Models for web pages: one call writes a folder for any file server, in which the model runs without Python.

    export(net, "site", input_spec=[InputSpec([None, 1, 28, 28])])
"""
from __future__ import annotations

from wherry_export.web.exporting import Exported, export

__all__ = ["Exported", "export"]
