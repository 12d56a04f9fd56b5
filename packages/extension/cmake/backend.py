"""Build backend: scikit-build-core, plus the core's headers in the sdist.

In a checkout CMake finds `wherry/device.h` in the sibling package. An sdist has no sibling, so the
headers travel in `_vendored/` (not kept in version control: the originals are the only source).
"""
import shutil
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist

PACKAGE = Path(__file__).resolve().parent.parent
SIBLING = PACKAGE.parent / "tensor" / "src" / "wherry_tensor" / "include"


def build_sdist(sdist_directory, config_settings=None):
    """Copy the headers beside the sources, then build the sdist as usual."""
    if SIBLING.is_dir():
        vendored = PACKAGE / "_vendored"
        shutil.rmtree(vendored, ignore_errors=True)
        shutil.copytree(SIBLING, vendored)
    return _build_sdist(sdist_directory, config_settings)
