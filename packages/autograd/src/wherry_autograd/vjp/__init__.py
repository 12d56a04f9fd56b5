"""The gradient rules, family by family; importing this package fills the vjp column."""
import importlib
import pkgutil

for _family in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_family}")
