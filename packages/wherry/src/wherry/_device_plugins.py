"""Device plug-ins that are installed: their libraries are loaded when the package is imported, as Paddle does."""
from __future__ import annotations

import os

from wherry_tensor import device


def install() -> None:
    """Load what is there. It gives Tensor methods, so it does not wait until somebody names a device."""
    if any(map(os.path.isdir, device.plugin_folders())):
        from wherry_extension import plugins

        plugins.load_installed()
