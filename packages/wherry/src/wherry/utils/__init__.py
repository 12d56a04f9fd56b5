"""`paddle.utils`: what programs need beside tensors and layers."""
from wherry import _absent
from wherry.utils import dlpack, unique_name
from wherry.utils.checks import deprecated, require_version, run_check, try_import

__all__ = ["deprecated", "dlpack", "require_version", "run_check", "try_import", "unique_name"]

_absent.explain(__name__)
