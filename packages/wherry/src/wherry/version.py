"""`paddle.version`: what is running."""
from wherry import __version__ as full_version

__all__ = ["cuda", "cudnn", "full_version", "major", "minor", "patch", "rc", "show", "xpu"]

major, minor, patch = full_version.split(".")
rc = "0"


def show() -> None:
    """Print the version."""
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")


def cuda() -> str:
    """'False': this build has no CUDA."""
    return "False"


def cudnn() -> str:
    """'False': this build has no cuDNN."""
    return "False"


def xpu() -> str:
    """'False': this build has no XPU."""
    return "False"
