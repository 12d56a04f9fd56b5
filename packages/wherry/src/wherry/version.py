"""`paddle.version`: what is running."""
from wherry import _absent
from wherry._version import __version__ as wherry_version

__all__ = [
    "cinn", "cuda", "cudnn", "full_version", "major", "minor", "mkl", "patch", "rc", "show", "wherry_version", "xpu", "xpu_xccl",
]

# The Paddle whose behaviour is ours. After alias_paddle() the versions below are this one's.
PADDLE_VERSION = "2.6.2"

full_version = wherry_version
major, minor, patch = full_version.split(".")
rc = "0"


def show_paddle() -> None:
    """Make `paddle.version` report the version of Paddle whose API this is, for scripts that compare it."""
    global full_version, major, minor, patch
    full_version = PADDLE_VERSION
    major, minor, patch = full_version.split(".")


def show() -> None:
    """Print the version.

    Examples:
        >>> wherry.version.show()
        full_version: ...
    """
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")


def cuda() -> str:
    """'False': this build has no CUDA.

    Examples:
        >>> wherry.version.cuda()
        'False'
    """
    return "False"


def cudnn() -> str:
    """'False': this build has no cuDNN.

    Examples:
        >>> wherry.version.cudnn()
        'False'
    """
    return "False"


def xpu() -> str:
    """'False': this build has no XPU.

    Examples:
        >>> wherry.version.xpu()
        'False'
    """
    return "False"


def xpu_xccl() -> str:
    """'False': this build has no XPU.

    Examples:
        >>> wherry.version.xpu_xccl()
        'False'
    """
    return "False"


def cinn() -> str:
    """'False': this build has no CINN.

    Examples:
        >>> wherry.version.cinn()
        'False'
    """
    return "False"


def mkl() -> str:
    """'OFF': matrix products are Wherry's own.

    Examples:
        >>> wherry.version.mkl()
        'OFF'
    """
    return "OFF"


def nccl() -> str:
    """'0': this build has no NCCL.

    Examples:
        >>> wherry.version.nccl()
        '0'
    """
    return "0"


def tensorrt() -> str:
    """'None': this build has no TensorRT.

    Examples:
        >>> wherry.version.tensorrt()
        'None'
    """
    return "None"


def xpu_xre() -> str:
    """'False': this build has no XPU.

    Examples:
        >>> wherry.version.xpu_xre()
        'False'
    """
    return "False"


def xpu_xhpc() -> str:
    """'False': this build has no XPU.

    Examples:
        >>> wherry.version.xpu_xhpc()
        'False'
    """
    return "False"


def cuda_archs() -> list[int]:
    """The architectures of GPUs that kernels were compiled for: none, they are compiled where they run.

    Examples:
        >>> wherry.version.cuda_archs()
        []
    """
    return []


hip = None  # the version of ROCm


_absent.explain(__name__)
