"""`wherry graph`, `wherry convert`, `wherry export-web`, `wherry predict`."""
import numpy as np
import pytest

import wherry
from wherry import profiler
from wherry.__main__ import main
from wherry_paddle_files.models import save_model
from wherry_program import Program
from wherry_program.program.capture import capture


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    net = wherry.nn.Sequential(wherry.nn.Linear(3, 2), wherry.nn.Softmax())
    program = Program()
    x = program.feed([-1, 3], wherry.float32, "x")
    with capture(program), wherry.no_grad():
        program.fetches = [net(x)]
    prefix = str(tmp_path_factory.mktemp("model") / "net")
    save_model(prefix, program)
    return prefix, net


def test_a_program_is_printed_or_drawn(model, tmp_path, capsys):
    prefix, _ = model
    assert main(["graph", f"{prefix}.pdmodel"]) == 0
    assert "softmax" in capsys.readouterr().out
    picture = tmp_path / "net.svg"
    assert main(["graph", f"{prefix}.pdmodel", "-o", str(picture)]) == 0
    assert picture.read_text().startswith("<svg") and "softmax" in picture.read_text()


def test_a_program_answers_and_says_how_fast(model, tmp_path, capsys):
    prefix, net = model
    x = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
    np.save(tmp_path / "x.npy", x)
    answers = tmp_path / "y.npz"
    assert main([
        "predict", f"{prefix}.pdmodel", "--input", str(tmp_path / "x.npy"), "--repeat", "3", "--profile", "--output", str(answers),
    ]) == 0
    printed = capsys.readouterr().out
    assert "[2, 2] float32" in printed and "p50" in printed and "p99" in printed and "calls" in printed
    (y,) = np.load(answers).values()
    np.testing.assert_allclose(y, net(wherry.to_tensor(x)).numpy(), rtol=1e-5)


def test_a_model_of_onnx_is_printed_and_converted_to_a_program_of_paddle(model, tmp_path, capsys):
    pytest.importorskip("onnx")  # writes the first file
    prefix, net = model
    assert main(["convert", f"{prefix}.pdmodel", str(tmp_path / "net.onnx")]) == 0
    assert main(["graph", str(tmp_path / "net.onnx")]) == 0
    assert "softmax" in capsys.readouterr().out
    assert main(["convert", str(tmp_path / "net.onnx"), str(tmp_path / "again.pdmodel")]) == 0
    x = wherry.ones([2, 3])
    np.testing.assert_allclose(wherry.jit.load(str(tmp_path / "again"))(x).numpy(), net(x).numpy(), rtol=1e-5)


def test_what_goes_wrong_is_one_line_and_a_status(model, tmp_path, capsys):
    prefix, _ = model
    np.save(tmp_path / "bad.npy", np.ones((1, 4), "float32"))
    for arguments, word in (
        (["graph", "nowhere.pdmodel"], "nowhere.pdmodel"),
        (["graph", f"{prefix}.pdmodel", "-o", "picture.png"], "SVG"),
        (["predict", f"{prefix}.pdmodel", "--input", f"z={tmp_path / 'bad.npy'}"], "no such input"),
        (["predict", f"{prefix}.pdmodel", "--input", str(tmp_path / "bad.npy")], "expected [-1, 3]"),
        (["predict", f"{prefix}.pdmodel", "--repeat", "0"], "at least 1"),
        (["convert", f"{prefix}.pdmodel", "net.pb"], "models are written as"),
    ):
        assert main(arguments) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"wherry {arguments[0]}: ") and word in error and error.count("\n") == 1


def test_a_program_is_written_as_onnx(model, tmp_path, capsys):
    pytest.importorskip("onnx", reason="the package `onnx`, which writes the files, is not installed")
    prefix, _ = model
    file = tmp_path / "net.onnx"
    assert main(["convert", f"{prefix}.pdmodel", str(file)]) == 0
    assert file.stat().st_size > 0 and "opset 13" in capsys.readouterr().out


def test_a_program_becomes_a_page(model, tmp_path, capsys):
    from wherry_export.web import engine_files

    prefix, _ = model
    np.save(tmp_path / "x.npy", np.ones((1, 3), "float32"))
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    status = main([
        "export-web", f"{prefix}.pdmodel", str(tmp_path / "site"), "--title", "Pets", "--labels", str(tmp_path / "labels.txt"),
        "--example", str(tmp_path / "x.npy"),
    ])
    said = capsys.readouterr()
    if engine_files.missing():  # wheels that were made without `make engine`
        assert status == 1 and "make engine" in said.err
        return
    assert status == 0 and "http.server" in said.out
    assert main(["export-web", f"{prefix}.pdmodel", str(tmp_path / "pets.html"), "--title", "Pets", "--single-file"]) == 0
    assert "pets.html: one file, " in capsys.readouterr().out and "<h1>Pets</h1>" in (tmp_path / "pets.html").read_text()
    assert "Pets" in (tmp_path / "site" / "index.html").read_text() and '"dog"' in (tmp_path / "site" / "manifest.json").read_text()


def test_trace_makes_a_page_beside_the_trace(tmp_path, capsys):
    with profiler.Profiler(on_trace_ready=lambda p: None) as p:
        wherry.ones([2]) + 1
    p.export(str(tmp_path / "run.json"))
    assert main(["trace", str(tmp_path / "run.json")]) == 0
    assert "run.html: " in capsys.readouterr().out
    assert (tmp_path / "run.html").read_text().startswith("<!doctype html>")
    (tmp_path / "bad.json").write_text("{}")
    assert main(["trace", str(tmp_path / "bad.json")]) == 1
    assert "this is not a trace of a profiler" in capsys.readouterr().err
