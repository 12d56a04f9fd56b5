"""Models in folders, also broken ones."""
import hashlib
import json
import os
import pickle
import re

import pytest

import wherry as paddle
from wherry_web import Gallery, save_model
from wherry_web.client.networks import network
from wherry_web.freeze import freeze
from wherry_web.gallery import BrokenModel, digest_of, link_page

ROW = [[[0.5] * 28] * 28]


def changed(models, **values):
    """Write other values into the card; the value ... takes a key away."""
    path = models / "digits" / "model.json"
    card = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({key: value for key, value in card.items() if value is not ...}))


def weights(models, content: bytes):
    """Other weights, with a card that says so, and no program, which would be asked first."""
    (models / "digits" / "weights.pdparams").write_bytes(content)
    changed(models, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content), program_sha256=...)


@pytest.mark.parametrize("values", [
    {"labels": ...}, {"labels": "0123456789"}, {"labels": [1, 2]}, {"labels": []}, {"title": 3}, {"architecture": "os.system"},
    {"weights": "../digits/weights.pdparams"}, {"weights": "/etc/passwd"}, {"weights": ".."}, {"sha256": "0"}, {"bytes": "many"},
    {"input_shape": [0]}, {"input_shape": "28"}, {"sha256": "../" * 21 + "x"},
])
def test_a_wrong_card_is_left_out_and_explained(client, models, values, caplog):
    changed(models, **values)
    assert client.get("/api/models").get_json() == {"models": [], "bundles": []}
    assert "the card" in caplog.text and "is wrong" in caplog.text
    answer = client.get("/api/models/digits")
    assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]
    assert client.get("/manifest.json").get_json()["models"] == []
    assert client.get("/").status_code == client.get("/sw.js").status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_a_broken_card_is_left_out(client, models, content):
    (models / "digits" / "model.json").write_bytes(content)
    assert client.get("/api/models").get_json() == {"models": [], "bundles": []}
    assert client.get("/api/models/digits").status_code == 500


class Hostile:
    def __reduce__(self):
        return os.system, ("touch /tmp/wherry-was-here",)


@pytest.mark.parametrize("content", [
    b"", b"no pickle", pickle.dumps({"conv": Hostile()}), pickle.dumps([1, 2]), pickle.dumps({"a": 1})[:-5],
], ids=["empty", "text", "hostile", "list", "truncated"])
def test_weights_that_are_none_do_no_harm(client, models, content):
    weights(models, content)
    answer = client.post("/api/models/digits/predict", json={"inputs": ROW})
    assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]
    assert not os.path.exists("/tmp/wherry-was-here")
    assert client.get("/api/health").status_code == 200


@pytest.mark.parametrize("content", [b"", b"no program", b"\x0a" * 1000])
@pytest.mark.parametrize("suffix", ["pdmodel", "pdiparams"])
def test_a_program_that_is_none_does_no_harm(client, models, suffix, content):
    prefix = models / "digits" / "program"
    prefix.with_suffix(f".{suffix}").write_bytes(content)
    for digest in ("0" * 64, digest_of(prefix)):
        changed(models, program_sha256=digest)
        answer = client.post("/api/models/digits/predict", json={"inputs": ROW})
        assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]
    assert client.get("/api/health").status_code == 200


def test_the_server_answers_from_the_program(models):
    assert type(Gallery(models).find("digits").load()).__name__ == "TranslatedLayer"


def test_weights_that_changed_after_saving_are_refused(models):
    (models / "digits" / "weights.pdparams").write_bytes(b"changed")
    changed(models, program_sha256=...)
    model = Gallery(models).find("digits")
    with pytest.raises(BrokenModel, match="changed after they were saved"):
        model.load()


def test_weights_of_another_network_are_refused(models):
    changed(models, architecture="MLP", program_sha256=...)
    with pytest.raises(BrokenModel, match="weights of another network"):
        Gallery(models).find("digits").load()


def test_missing_weights_are_explained(models):
    changed(models, program_sha256=...)
    (models / "digits" / "weights.pdparams").unlink()
    with pytest.raises(BrokenModel, match="No such file"):
        Gallery(models).find("digits").load()


def test_a_card_with_another_input_shape_is_the_models_fault(client, models):
    changed(models, input_shape=[3, 3])
    answer = client.post("/api/models/digits/predict", json={"inputs": [[0.0] * 3] * 3})
    assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]


def test_a_new_model_appears_without_a_restart(client, models):
    save_model(models, "mlp", network("MLP", 3), title="MLP", architecture="MLP", labels=["a", "b", "c"], input_shape=[1, 28, 28])
    assert [model["name"] for model in client.get("/api/models").get_json()["models"]] == ["digits", "mlp"]
    answer = client.post("/api/models/mlp/predict", json={"inputs": ROW, "top": 1}).get_json()
    assert answer["top"][0][0]["label"] in "abc"


def test_a_model_that_was_trained_again_answers_anew(client, models):
    before = client.post("/api/models/digits/predict", json={"inputs": ROW}).get_json()["outputs"]
    paddle.seed(1)
    save_model(models, "digits", network("LeNet", 10), title="Again", architecture="LeNet", labels=list("0123456789"), input_shape=[1, 28, 28])
    assert client.post("/api/models/digits/predict", json={"inputs": ROW}).get_json()["outputs"] != before


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", "A", "-a", "a" * 65, "a b"])
def test_names_that_do_not_fit_addresses_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="Choose another"):
        save_model(tmp_path, name, network("MLP", 2), title="", architecture="MLP", labels=["a", "b"], input_shape=[1, 28, 28])


def test_networks_that_could_not_be_built_are_refused(tmp_path):
    with pytest.raises(ValueError, match="expected one of LeNet, MLP"):
        save_model(tmp_path, "a", network("MLP", 2), title="", architecture="Other", labels=["a", "b"], input_shape=[1, 28, 28])


# Programs and exported pages.

def test_programs_in_the_folder_are_asked_like_networks(client, models):
    net = paddle.nn.Linear(3, 2)
    paddle.jit.save(net, str(models / "My Net"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    (models / "My Net.json").write_text(json.dumps({"title": "Mine", "labels": ["a", "b"]}))
    card = client.get("/api/models/my-net").get_json()
    assert (card["kind"], card["title"], card["labels"], card["uploaded"]) == ("program", "Mine", ["a", "b"], False)
    assert card["inputs"] == [{"name": "x", "dtype": "float32", "shape": [-1, 3]}]
    wanted = net(paddle.to_tensor([[1.0, 2.0, 3.0]])).numpy()
    for content in {"inputs": [1.0, 2, 3]}, {"inputs": {"x": [[1, 2, 3]]}}, {"base64": "AACAPwAAAEAAAEBA", "shape": [3]}:
        answer = client.post("/api/models/my-net/predict", json={**content, "top": 1}).get_json()
        assert answer["outputs"][0] == pytest.approx(wanted[0].tolist(), rel=1e-5)
        assert answer["top"][0][0]["label"] == "ab"[int(wanted.argmax())]
    program = client.get(card["program_url"])
    assert program.data == (models / "My Net.pdmodel").read_bytes() and "immutable" in program.headers["Cache-Control"]
    assert client.get(card["params_url"]).data == (models / "My Net.pdiparams").read_bytes()
    page = client.get("/gallery").get_data(as_text=True)
    assert "Mine" in page and "api/models/my-net/predict" in page and "Models: 2. Exported pages: 0." in page


class Two(paddle.nn.Layer):
    def forward(self, ids, mask):
        return ids + 1, paddle.where(mask, ids.astype("float32"), paddle.full([1], float("nan")))


@pytest.fixture
def two(models):
    spec = [paddle.static.InputSpec([None], "int64", "ids"), paddle.static.InputSpec([None], "bool", "mask")]
    paddle.jit.save(Two(), str(models / "two"), input_spec=spec)


def test_several_inputs_and_outputs_have_names(client, two):
    names = [one["name"] for one in client.get("/api/models/two").get_json()["outputs"]]
    answer = client.post("/api/models/two/predict", json={"inputs": {"ids": [2**53 + 1, 1], "mask": [0, 1]}}).get_json()
    assert answer["outputs"] == {names[0]: [2**53 + 2, 2], names[1]: [None, 1.0]} and "top" not in answer
    raw = {"ids": {"base64": "AQAAAAAAAAA=", "shape": [1]}, "mask": {"base64": "/w==", "shape": [1]}}
    assert client.post("/api/models/two/predict", json={"inputs": raw}).get_json()["outputs"] == {names[0]: [2], names[1]: [1.0]}


@pytest.mark.parametrize(("inputs", "status", "says"), [
    ([1], 400, "the model takes 2"),
    ({"ids": [1]}, 400, r"expected \['ids', 'mask'\]"),
    ({"ids": [1], "mask": [1], "more": [1]}, 400, "expected"),
    ({"ids": [1.5], "mask": [1]}, 400, "whole numbers of int64"),
    ({"ids": [2**63], "mask": [1]}, 400, "from -9223372036854775808"),
    ({"ids": [1], "mask": [2]}, 400, "whole numbers of bool, from 0 to 1"),
    ({"ids": ["1"], "mask": [1]}, 400, "expected numbers"),
    ({"ids": [[1]], "mask": [1]}, 400, r"shape \[1, 1\]"),
    ({"ids": {"base64": "AAAA", "shape": [1]}, "mask": [1]}, 400, "got 3 bytes, expected 8"),
    ({"ids": {"base64": "AAAA"}, "mask": [1]}, 400, "'shape' is a required property"),
    ({"ids": [1, 2, 3], "mask": [1, 1]}, 422, "does not answer"),
    ({str(i): [1] for i in range(70)}, 400, r"request\['inputs'\]"),
])
def test_wrong_inputs_of_programs_are_explained(client, two, inputs, status, says):
    answer = client.post("/api/models/two/predict", json={"inputs": inputs})
    assert answer.status_code == status
    assert re.search(says, answer.get_json()["error"]["detail"]), answer.get_json()


def test_a_program_that_is_broken_is_left_out_and_explained(client, models, caplog):
    (models / "net.pdmodel").write_bytes(b"no program")
    assert [model["name"] for model in client.get("/api/models").get_json()["models"]] == ["digits"]
    assert "net.pdmodel" in caplog.text
    assert client.get("/api/models/net").status_code == 500
    paddle.jit.save(paddle.nn.Linear(3, 2), str(models / "net"), input_spec=[paddle.static.InputSpec([None, 3])])
    (models / "net.json").write_text('{"labels": "ab"}')
    assert client.get("/api/models/net").status_code == 500
    (models / "net.json").write_text('{"labels": ["a"]}')
    answer = client.post("/api/models/net/predict", json={"inputs": [1, 2, 3]})
    assert answer.status_code == 500 and "labels do not fit" in caplog.text
    (models / "net.json").unlink()
    assert client.post("/api/models/net/predict", json={"inputs": [1, 2, 3]}).status_code == 200


@pytest.fixture
def bundle(models):
    folder = models / "lenet-page"
    (folder / "data").mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"wherry": "predict", "format": 1, "title": "Digits <b>", "precision": "int8"}))
    (folder / "index.html").write_text("<!DOCTYPE html><title>page</title>")
    (folder / "data" / "engine.0123.wasm").write_bytes(b"\0asm")
    (folder / ".hidden").write_text("")


def test_exported_pages_are_listed_and_served(client, bundle):
    assert client.get("/api/models").get_json()["bundles"] == [
        {"name": "lenet-page", "title": "Digits <b>", "precision": "int8", "url": "/bundles/lenet-page/"}
    ]
    assert "Digits &lt;b&gt;" in client.get("/gallery").get_data(as_text=True)
    page = client.get("/bundles/lenet-page/")
    assert page.data.startswith(b"<!DOCTYPE") and page.headers["Cache-Control"] == "no-cache"
    engine = client.get("/bundles/lenet-page/data/engine.0123.wasm")
    assert engine.mimetype == "application/wasm" and "immutable" in engine.headers["Cache-Control"]
    for name in (".hidden", "../digits/model.json", "none", "..%2fdigits/model.json"):
        assert client.get(f"/bundles/lenet-page/{name}").status_code == 404
    assert client.get("/bundles/digits/model.json").status_code == 404
    assert client.post("/api/models/lenet-page/predict", json={"inputs": [1]}).status_code == 404


def test_a_model_names_its_exported_page_where_there_is_one(client, bundle, models):
    (model,) = [each for each in Gallery(models).models() if each.name == "digits"]
    assert "page_url" not in client.get("/manifest.json").get_json()["models"][0]
    link_page(model, "lenet-page")
    assert client.get("/manifest.json").get_json()["models"][0]["page_url"] == "bundles/lenet-page/"
    link_page(model, "gone")
    assert "page_url" not in client.get("/manifest.json").get_json()["models"][0]
    with pytest.raises(ValueError, match=r"got the name '../x'"):
        link_page(model, "../x")


def test_exported_pages_are_part_of_the_static_build(app, bundle, tmp_path):
    freeze(app, tmp_path / "site")
    assert (tmp_path / "site" / "bundles" / "lenet-page" / "data" / "engine.0123.wasm").read_bytes() == b"\0asm"
    page = (tmp_path / "site" / "gallery" / "index.html").read_text()
    assert 'href="../bundles/lenet-page/"' in page and "api/models" not in page


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"title": "x"}', b'{"wherry": 1, "title": "x"}'])
def test_a_folder_with_another_manifest_is_no_page(client, bundle, models, content):
    (models / "lenet-page" / "manifest.json").write_bytes(content)
    assert client.get("/api/models").get_json()["bundles"] == [] and client.get("/bundles/lenet-page/").status_code == 404
