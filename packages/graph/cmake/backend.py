"""Build backend: scikit-build-core, plus the core's declarations in the sdist.

In a checkout CMake finds `wherry_tensor/_core.pxd` and the headers in the sibling package. An sdist
has no sibling, so they travel in `_vendored/` (not kept in version control: the originals are the
only source).
"""
import shutil
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist

PACKAGE = Path(__file__).resolve().parent.parent
SIBLING = PACKAGE.parent / "tensor" / "src"


def build_sdist(sdist_directory, config_settings=None):
    """Copy the declarations beside the sources, then build the sdist as usual."""
    if SIBLING.is_dir():
        vendored = PACKAGE / "_vendored"
        shutil.rmtree(vendored, ignore_errors=True)
        tensor = SIBLING / "wherry_tensor"
        for path in [*tensor.glob("*.pxd"), *tensor.glob("include/**/*.h")]:
            copy = vendored / path.relative_to(SIBLING)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    return _build_sdist(sdist_directory, config_settings)
