"""Which architectures a build is for. The builds themselves are those of `tox -e cuda`, `tox -e cuda-slow` and conftest.py."""
import pytest

from wherry_ops_cuda import __main__, building


@pytest.fixture(autouse=True)
def _nothing_is_named(monkeypatch):
    monkeypatch.delenv("CUDA_ARCH_NAME", raising=False)
    monkeypatch.delenv("CMAKE_CUDA_ARCHITECTURES", raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80", (80,)), ("90 80", (80, 90)), ("8.0;9.0", (80, 90)), ("sm_120", (120,)), ("90a", (90,)), ("80-real;90-virtual", (80, 90)),
        ("Ampere", (80, 86)), ("Turing, hopper", (75, 90)), ("All", building.ARCHITECTURES), (None, building.ARCHITECTURES),
    ],
)
def test_architectures_by_number_and_name(text, expected):
    assert building.architectures_for(text) == expected


@pytest.mark.parametrize("text", ["kepler", "7", "", "80 x"])
def test_what_names_no_architecture_is_refused(text):
    with pytest.raises(ValueError, match=r"unknown architecture. Got '.*', expected numbers such as 90, turing, .*all, or auto"):
        building.architectures_for(text)


def test_the_environment_names_them_as_it_does_for_other_builds(monkeypatch):
    monkeypatch.setenv("CMAKE_CUDA_ARCHITECTURES", "86-real;89")
    assert building.architectures_for() == (86, 89)
    monkeypatch.setenv("CUDA_ARCH_NAME", "Hopper")
    assert building.architectures_for() == (90,)
    assert building.architectures_for("75") == (75,)


def test_auto_asks_the_driver(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf '9.0\\n12.0\\n9.0\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert building.architectures_for("Auto") == (90, 120)
    tool.write_text("#!/bin/sh\nexit 9\n")
    with pytest.raises(FileNotFoundError, match="no GPU was found.*Name the architectures, as in --architectures 90"):
        building.architectures_for("native")


def test_the_command_line_says_what_it_does_not_know(capsys, tmp_path):
    assert __main__.main(["build", "--architectures", "80", "volta", "--output", str(tmp_path / "lib.so")]) == 1
    assert "Got 'volta' in '80 volta'" in capsys.readouterr().err


def test_check_says_what_nvcc_refuses(capsys, monkeypatch, tmp_path):
    tool = tmp_path / "bin" / "nvcc"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho \"$@\" >> {tmp_path}/calls\n")
    tool.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(building, "_cache", list)  # ccache calls a compiler in ways of its own
    assert __main__.main(["check", "--architecture", "80"]) == 0
    kernels = [source for source in building.sources() if source.suffix == ".cu"]
    assert f"nvcc takes {len(kernels)} files for 8" in capsys.readouterr().out
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sorted(call.split()[-3] for call in calls) == sorted(map(str, kernels))
    assert all("code=compute_80 " in call and " -c " in call for call in calls)
    tool.write_text("#!/bin/sh\necho 'scan.cu(7): error: no' >&2\nexit 1\n")
    assert __main__.main(["check"]) == 1
    assert "the compiler refused" in (said := capsys.readouterr().err) and "scan.cu(7): error: no" in said
