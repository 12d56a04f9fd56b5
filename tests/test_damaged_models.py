"""Ten thousand damaged models each: bundles in Node, and programs after the bounds of uploads. A few hundred of them are tests of the packages."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import wherry

ROOT = Path(__file__).parent.parent
COUNT = 10_000
pytestmark = pytest.mark.slow


def module_at(path: Path):
    """A test module of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_damaged_bundles_are_explained_or_answer(tmp_path):
    tests = module_at(ROOT / "packages" / "export" / "tests" / "test_web.py")
    if tests.lack or tests.checking.node() is None:
        pytest.skip(str(tests.lack or "Node is not installed"))
    found = tests.damaged_bundles(tmp_path, COUNT)
    assert found["other"] == [] and found["late"] == [] and found["rss"] < 1e9, found
    assert found["answered"] + sum(found["codes"].values()) == COUNT


def test_damaged_programs_are_refused_or_answer(tmp_path):
    fuzz = module_at(ROOT / "web" / "tests" / "uploads_fuzz.py")
    from wherry_web.isolated import Limits

    wherry.seed(0)
    net = wherry.nn.Sequential(wherry.nn.Linear(3, 4), wherry.nn.ReLU(), wherry.nn.Linear(4, 2))
    wherry.jit.save(net, str(tmp_path / "net"), input_spec=[wherry.static.InputSpec([None, 3], "float32", "x")])
    saved = {suffix: (tmp_path / f"net.{suffix}").read_bytes() for suffix in ("pdmodel", "pdiparams")}
    found = fuzz.run(tmp_path, saved, COUNT, Limits(memory=512 << 20, loading=30, answering=10))
    assert found["ended"] == [] and found["other"] == [], found
    assert found["refused"] + found["answered"] == COUNT and found["slowest"] < 10
