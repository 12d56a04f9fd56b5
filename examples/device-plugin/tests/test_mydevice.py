"""The device, the pair it belongs to, and the tables: with the package installed."""
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import wherry_mydevice

import wherry as paddle

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()

pytestmark = pytest.mark.filterwarnings("ignore:.*has no kernel for it")  # the cpu computes it


def on(values):
    return paddle.to_tensor(values, place="mydevice")


def test_the_program_of_the_readme_prints_a_tensor_of_the_device():
    program = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL).group(1)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "place=Place(mydevice:0)" in done.stdout and "[3., 3.]" in done.stdout


def test_the_device_is_found_by_its_name_without_an_import():
    program = "import sys, wherry as paddle\nprint(paddle.set_device('mydevice:1'), 'wherry_mydevice' in sys.modules, paddle.ones([1]).place)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "Place(mydevice:1) True Place(mydevice:1)", done.stderr


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,))])
def test_arithmetic_broadcasts_as_numpy(shapes, dtype):
    x, y = (np.random.default_rng(len(shape)).uniform(1, 2, shape).astype(dtype) for shape in shapes)
    for ours, theirs in [(on(x) + on(y), x + y), (on(x) - on(y), x - y), (on(x) * on(y), x * y), (on(x) / on(y), x / y)]:
        assert ours.place.is_custom_place()
        np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3,)), ((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3))])
def test_products_are_those_of_numpy(shapes):
    x, y = (np.random.default_rng(len(shape)).standard_normal(shape).astype("float32") for shape in shapes)
    np.testing.assert_allclose(paddle.matmul(on(x), on(y)).numpy(), x @ y, rtol=1e-5, atol=1e-6)
    if x.ndim > 1 and y.ndim > 1:
        ours = paddle.matmul(on(np.swapaxes(x, -1, -2)), on(np.swapaxes(y, -1, -2)), transpose_x=True, transpose_y=True)
        np.testing.assert_allclose(ours.numpy(), x @ y, rtol=1e-5, atol=1e-6)


def test_a_model_trains_on_it_as_on_the_cpu():
    losses = {}
    for place in ("cpu", "mydevice"):
        paddle.seed(1)
        model = paddle.nn.Sequential(paddle.nn.Linear(3, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1)).to(place)
        optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        x = paddle.to_tensor(np.random.default_rng(0).standard_normal((16, 3)), dtype="float32", place=place)
        for _ in range(5):
            loss = (model(x) - x.sum(axis=1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        losses[place] = float(loss)
    assert losses["mydevice"] == pytest.approx(losses["cpu"], rel=1e-5)


def test_gradients_find_the_way_back_from_the_device():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x.mydevice() * on([3.0, 4.0])).sum().backward()
    assert x.grad.place.is_cpu_place() and x.grad.tolist() == [3.0, 4.0]


def test_check_of_the_installation_counts_the_devices(capsys):
    paddle.set_device("mydevice")
    try:
        paddle.utils.run_check()
        assert paddle.get_device() == "mydevice:0"
    finally:
        paddle.set_device("cpu")
    said = capsys.readouterr().out
    assert "works well on 1 MYDEVICE." in said and "works well on 2 MYDEVICEs." in said and "is installed successfully!" in said


def test_programs_are_compiled_saved_and_loaded_on_it(tmp_path):
    x = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    paddle.set_device("mydevice")
    try:
        layer = paddle.nn.Linear(3, 2)
        expected = layer(paddle.to_tensor(x))
        compiled = paddle.jit.to_static(layer)
        np.testing.assert_array_equal(compiled(paddle.to_tensor(x)).numpy(), expected.numpy())
        paddle.jit.save(compiled, str(tmp_path / "model"), input_spec=[paddle.static.InputSpec([None, 3], "float32")])
        loaded = paddle.jit.load(str(tmp_path / "model"))(paddle.to_tensor(x))
    finally:
        paddle.set_device("cpu")
    assert repr(loaded.place) == "Place(mydevice:0)"
    np.testing.assert_array_equal(loaded.numpy(), expected.numpy())
    config = paddle.inference.Config(str(tmp_path / "model.pdmodel"), str(tmp_path / "model.pdiparams"))
    config.enable_custom_device("mydevice")
    predictor = paddle.inference.create_predictor(config)
    (name,), (result,) = predictor.get_input_names(), predictor.get_output_names()
    predictor.get_input_handle(name).copy_from_cpu(x)
    predictor.run()
    np.testing.assert_allclose(predictor.get_output_handle(result).copy_to_cpu(), expected.numpy(), rtol=1e-6)


def test_memory_that_is_not_there_is_an_error_and_all_goes_on():
    paddle.set_device("mydevice:1")
    try:
        with pytest.raises(MemoryError, match=r"mydevice:1 is out of memory"):
            paddle.empty([1 << 20, 1 << 10])
    finally:
        paddle.set_device("cpu")
    np.testing.assert_array_equal((on([1.0]) + on([2.0])).numpy(), [3.0])


def test_importing_it_with_another_host_names_the_one_it_needs(monkeypatch):
    monkeypatch.setattr(wherry_mydevice, "version", lambda name: "99.0.0")
    with pytest.raises(ImportError, match=r"belongs to wherry-tensor \d+\.\d+\.\d+. Got wherry-tensor 99.0.0, expected .* pip install"):
        wherry_mydevice._check_pairing()


def test_tables_are_those_of_the_data():
    subprocess.run([sys.executable, str(ROOT / "tools" / "tables.py"), "--check"], check=True)


def test_project_is_the_newest_release_and_needs_its_host_exactly():
    newest = tomllib.loads((ROOT / "releases.toml").read_text())["release"][0]
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert said["project"]["version"] == newest["version"] == importlib.metadata.version("wherry-mydevice")
    needed = f"wherry-tensor=={newest['host']}"
    assert needed in said["project"]["dependencies"] and needed in said["build-system"]["requires"]
    assert f"cp{sys.version_info.major}{sys.version_info.minor}-" in (ROOT / "COMPATIBILITY.md").read_text()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [(('version = "', 'version = "9'), "the version is the host's"), (('branch = "v', 'branch = "w'), "a branch is v<host>-<number>"),
     (("architectures = [", "architectures = [] #"), "no architecture")],
)
def test_data_that_break_a_rule_are_refused(tmp_path, wrong, text):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "tables.py").write_text((ROOT / "tools" / "tables.py").read_text())
    (tmp_path / "releases.toml").write_text((ROOT / "releases.toml").read_text().replace(*wrong))
    done = subprocess.run([sys.executable, str(tmp_path / "tools" / "tables.py")], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and text in done.stderr
