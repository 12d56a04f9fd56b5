"""Samples and references of the vocabulary, one module per op family.

Importing this package registers every spec.
"""
import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
