"""Models for pages: one call makes a folder that any file server hosts, and in which the model answers without Python.

    export(net, "site", input_spec=[InputSpec([None, 1, 28, 28])])
"""
from __future__ import annotations

from wherry_export.web.exporting import Exported, export

__all__ = ["Exported", "export"]
