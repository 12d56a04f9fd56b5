"""Stub of wherry.utils, written by tools/stubs.py: where each public name comes from."""
from wherry.utils import cpp_extension as cpp_extension
from wherry.utils import dlpack as dlpack
from wherry.utils import download as download
from wherry.utils import unique_name as unique_name
from wherry.utils.checks import deprecated as deprecated
from wherry.utils.checks import require_version as require_version
from wherry.utils.checks import run_check as run_check
from wherry.utils.checks import try_import as try_import
__all__: list[str]
