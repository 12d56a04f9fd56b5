"""Names of `paddle.*` that another package has: the error of `wherry_tensor.NAME` says which package, and what to type."""
from __future__ import annotations

_PACKAGES = {
    "autograd": "autograd PyLayer enable_grad grad is_grad_enabled no_grad set_grad_enabled",
    "nn": "nn ParamAttr create_parameter",
    "train": "amp callbacks flops io load metric Model optimizer regularizer save summary",
    "vision": "vision",
}
_OWNER = {name: package for package, names in _PACKAGES.items() for name in names.split()}


def absent(name: str) -> AttributeError:
    """The error for a name that `wherry_tensor` does not have."""
    if name not in _OWNER:
        return AttributeError(f"module 'wherry_tensor' has no attribute {name!r}", name="wherry_tensor")
    package = _OWNER[name]
    module = f"wherry_{package}"
    where = module if name == package else f"{module}.{name}"
    return AttributeError(
        f"wherry_tensor.{name}: it is not part of wherry-tensor. Got {name!r}, expected a name of dir(wherry_tensor). "
        f"pip install wherry-{package}, then use {where}; or pip install wherry, where all of it is wherry.{name}.",
        name=name,
    )
