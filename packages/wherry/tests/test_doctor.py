"""`wherry doctor`, `wherry --version`, and imports where a package is missing."""
import subprocess
import sys

import pytest

import wherry
from wherry import _doctor
from wherry.__main__ import main


def test_version_is_that_of_the_facade(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"wherry {wherry.__version__}\n"


def test_doctor_lists_packages_processor_and_memory_and_finds_nothing_wrong_here(capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    for project in ("wherry", *_doctor.BELOW, "numpy"):
        assert project in said
    if sys.platform == "emscripten":  # a page has neither processors nor a memory to tell of
        return
    assert "instruction set" in said and "threads" in said and "GiB available" in said
    assert "gives the right loss and gradient" in said
    assert "To mend it" not in said


def test_doctor_says_what_to_type_for_a_package_that_is_missing_or_too_old(capsys, monkeypatch):
    versions = {"wherry-nn": "0.0.9", "wherry-train": None}
    actual = _doctor.version_of
    monkeypatch.setattr(_doctor, "version_of", lambda project: versions[project] if project in versions else actual(project))
    monkeypatch.setattr(_doctor, "requirements", lambda: {"wherry-nn": "0.1"})
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "wherry-train      not installed: pip install wherry-train" in said
    assert "0.0.9, older than 0.1, which wherry needs: pip install --upgrade wherry-nn" in said
    assert said.endswith("To mend it:\n  pip install --upgrade wherry-nn\n  pip install wherry-train\n")


def test_doctor_reports_a_step_of_training_that_fails(capsys, monkeypatch):
    monkeypatch.setattr(wherry, "to_tensor", lambda *values, **options: 1 / 0)
    assert main(["doctor"]) == 1
    assert "failed: ZeroDivisionError" in capsys.readouterr().out


# As if the package were not installed: the finder of installed packages does not find it.
WITHOUT = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, *rest: None if name == {module!r} else find(name, *rest))
{statement}
"""


@pytest.mark.parametrize("statement, module", [
    ("import wherry; wherry.Model", "wherry_train"),
    ("import wherry.io", "wherry_train"),
    ("from wherry import nn", "wherry_nn"),
    ("import wherry.vision", "wherry_vision"),
    ("import wherry", "wherry_autograd"),
])
def test_an_import_of_a_missing_package_says_what_to_install(statement, module):
    done = subprocess.run([sys.executable, "-c", WITHOUT.format(module=module, statement=statement)], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: wherry: a package is missing."), done.stderr
    assert f"pip install {module.replace('_', '-')}," in last
