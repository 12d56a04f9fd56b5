"""`wherry docs`: serves a built site on this machine, and says what to do where there is none."""
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from wherry.__main__ import main


@pytest.fixture
def served(tmp_path):
    (tmp_path / "objects.inv").write_bytes(b"")
    (tmp_path / "index.html").write_text("<h1>Wherry</h1>")
    (tmp_path / "a.wasm").write_bytes(b"\0asm")
    process = subprocess.Popen([sys.executable, "-m", "wherry", "docs", "--site", str(tmp_path), "--no-open"], stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().split(" on ")[1].split()[0]
    process.kill()
    process.communicate()


def test_a_site_is_served_with_what_workers_need(served):
    with urllib.request.urlopen(served) as answer:
        assert answer.read() == b"<h1>Wherry</h1>"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    with urllib.request.urlopen(f"{served}a.wasm") as answer:
        assert answer.headers["Content-Type"] == "application/wasm"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{served}../objects")


def test_without_a_site_the_command_says_how_to_build_one(tmp_path, capsys):
    assert main(["docs", "--site", str(tmp_path), "--no-open"]) == 2
    said = capsys.readouterr().err
    assert str(tmp_path) in said and "make docs" in said


@pytest.mark.parametrize("command", ["upgrade", "from-torch"])
def test_rewriting_asks_for_its_package(command, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "wherry_migrate", None)
    monkeypatch.setitem(sys.modules, "wherry_migrate.command", None)
    assert main([command, "model.py"]) == 2
    assert "pip install wherry-migrate" in capsys.readouterr().err
