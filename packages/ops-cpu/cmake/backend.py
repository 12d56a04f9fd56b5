"""Build backend: scikit-build-core, plus the ABI header in the sdist.

In a checkout CMake finds `wherry/abi.h` in the sibling package. An sdist has no sibling, so the
header travels in `_vendored/` (not kept in version control: the original is the only source).
"""
import shutil
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist

PACKAGE = Path(__file__).resolve().parent.parent
SIBLING = PACKAGE.parent / "tensor" / "src" / "wherry_tensor" / "include"


def build_sdist(sdist_directory, config_settings=None):
    """Copy the header beside the sources, then build the sdist as usual."""
    vendored = PACKAGE / "_vendored" / "include"
    if SIBLING.is_dir():
        shutil.rmtree(vendored, ignore_errors=True)
        (vendored / "wherry").mkdir(parents=True)
        shutil.copy2(SIBLING / "wherry" / "abi.h", vendored / "wherry" / "abi.h")
    return _build_sdist(sdist_directory, config_settings)
