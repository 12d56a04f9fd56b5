"""What pages load: the bundle, the index of wheels, the service worker."""
import hashlib
import io
import json
import re
import zipfile

import pytest

from wherry_export.web.wheels import without_docstrings
from wherry_web import Config, create_app
from wherry_web.files import Bundle


def test_the_bundle_holds_what_a_page_needs_and_no_more(client, manifest):
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"/{manifest['bundle']['url']}").data))
    assert sorted(archive.namelist()) == [
        "wherry_tensor/__init__.py", "wherry_tensor/_core.so", "wherry_tensor/empty.py", "wherry_web/client/__init__.py",
        "wherry_web/client/backbone.py", "wherry_web/client/classifier.py", "wherry_web/client/compiled.py", "wherry_web/client/digits.py",
        "wherry_web/client/formats.py", "wherry_web/client/model.py", "wherry_web/client/networks.py", "wherry_web/client/on_demand.py",
        "wherry_web/client/page.py", "wherry_web/client/play.py", "wherry_web/client/table.py",
    ]
    assert archive.read("wherry_tensor/__init__.py") == b"def one():\n    return 1"


def test_the_bundle_is_the_same_each_time(wheels):
    assert Bundle(wheels).manifest() == Bundle(wheels).manifest()


def test_wheels_are_not_taken_apart_again_by_the_next_start(wheels, monkeypatch):
    first = Bundle(wheels)
    assert not first.is_quick
    found = first.manifest()
    kept = [file.name for file in (wheels / ".encoded").glob("*.modules.zip")]
    assert len(kept) == 1
    with monkeypatch.context() as patched:
        patched.setattr("wherry_export.web.wheels.without_docstrings", lambda source: b"taken apart again")
        again = Bundle(wheels)
        assert again.is_quick
        assert again.manifest() == found and again.zips == first.zips
    (wheels / ".encoded" / kept[0]).write_bytes(b"broken")
    assert Bundle(wheels).manifest() == found
    with zipfile.ZipFile(wheels / "wherry_more-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("wherry_more/__init__.py", "")
    assert not Bundle(wheels).is_quick
    with monkeypatch.context() as patched:
        patched.setattr("wherry_export.web.wheels.without_docstrings", lambda source: b"new")  # of the wheel that is new, and of no other
        assert Bundle(wheels).manifest()["later"].keys() == {"wherry_more"}
        more = Bundle(wheels)
        more.ready()
    assert more.zips["wherry.zip"] == first.zips["wherry.zip"] and more.zips["later.zip"] == {"wherry_more/__init__.py": b"new"}


def test_an_application_does_not_wait_for_its_wheels(wheels, monkeypatch):
    def late(*_):
        raise AssertionError("the wheels are taken apart before anybody asks for them")

    with monkeypatch.context() as patched:
        patched.setattr("wherry_web.files.kept_modules", late)
        client = create_app(Config(wheels=wheels)).test_client()
        assert client.get("/").status_code == 200
    address = create_app(Config(wheels=wheels)).test_client().get("/manifest.json").get_json()["bundle"]["url"]
    assert client.get(f"/{address}").status_code == 200  # a page that knows the address from an earlier start


def test_packages_that_predictions_and_training_go_without_come_later(wheels):
    with zipfile.ZipFile(wheels / "wherry_quant-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in ("wherry_quant/__init__.py", "wherry_quant/part.py", "wherry_quant-0.1.0.dist-info/METADATA", "wherry_quant-0.1.0.data/x.1"):
            wheel.writestr(name, "")
    client = create_app(Config(wheels=wheels)).test_client()
    found = client.get("/manifest.json").get_json()["bundle"]
    assert found["later"].keys() == {"wherry_quant"}
    addresses = found["later"]["wherry_quant"], found["url"]
    later, first = (zipfile.ZipFile(io.BytesIO(client.get(f"/{address}").data)).namelist() for address in addresses)
    assert later == ["wherry_quant/__init__.py", "wherry_quant/part.py"] and not {*later} & {*first}
    assert found["later"]["wherry_quant"] in client.get("/sw.js").get_data(as_text=True)


def test_docstrings_go_and_programs_stay():
    source = b'"""Module."""\nclass A:\n    """Class."""\n\ndef f():\n    """Function."""\n    return """text"""\n'
    names: dict = {}
    exec(without_docstrings(source), names)
    assert b'"""' not in without_docstrings(source)
    assert names["f"]() == "text" and names["A"].__doc__ is None


def test_the_index_lists_wheels_with_digests(client, wheels):
    (wheel,) = wheels.glob("*.whl")
    assert re.findall(r'<a href="([^"]*)">([^<]*)</a>', client.get("/simple/").get_data(as_text=True)) == [("wherry-tensor/", "wherry-tensor")]
    ((address, name),) = re.findall(r'<a href="([^"]*)">([^<]*)</a>', client.get("/simple/wherry-tensor/").get_data(as_text=True))
    path, _, digest = address.partition("#sha256=")
    assert name == wheel.name
    assert hashlib.sha256(client.get(path).data).hexdigest() == digest


def test_the_service_worker_keeps_everything_that_the_pages_load(client, manifest):
    text = client.get("/sw.js").get_data(as_text=True)
    addresses = json.loads(re.search(r"ADDRESSES = (.*);", text)[1])
    needed = {manifest["playground"]["url"], manifest["bundle"]["url"], manifest["digits"], manifest["models"][0]["weights_url"]}
    assert {manifest["backbone"], "./", "train", "play", "classifier", "model", "playground", "browser"} | needed <= set(addresses)
    assert all(client.get(f"/{address.removeprefix('./')}").status_code == 200 for address in addresses)


def test_weights_are_what_their_address_says(client, manifest, models, tmp_path):
    address = "/" + manifest["models"][0]["weights_url"]
    weights = models / "digits" / "weights.pdparams"
    content = weights.read_bytes()
    assert client.get(address).data == content
    for change in (content[:-1] + b"!", content + b"more", b""):
        weights.write_bytes(change)
        answer = client.get(address)
        assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]
        assert "immutable" not in answer.headers["Cache-Control"]
    weights.unlink()
    (tmp_path / "elsewhere").write_bytes(content)
    weights.symlink_to(tmp_path / "elsewhere")
    assert client.get(address).status_code == 500


def test_another_model_makes_another_service_worker(client, models):
    before = client.get("/sw.js").data
    (models / "digits" / "model.json").unlink()
    assert client.get("/sw.js").data != before


def test_the_digits_are_those_of_scikit_learn(client, manifest):
    np = pytest.importorskip("numpy")
    found = pytest.importorskip("sklearn.datasets").load_digits()
    content = np.frombuffer(client.get(f"/{manifest['digits']}").data, np.uint8)
    order = np.random.default_rng(0).permutation(1797)
    np.testing.assert_array_equal(content[: 1797 * 64].reshape(1797, 8, 8), found.images[order])
    np.testing.assert_array_equal(content[1797 * 64 :], found.target[order])
