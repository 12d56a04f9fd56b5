"""Models in folders, also broken ones."""
import hashlib
import json
import os
import pickle

import pytest

import wherry as paddle
from wherry_web import Gallery, save_model
from wherry_web.client.networks import network
from wherry_web.gallery import BrokenModel, digest_of

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
    assert client.get("/api/models").get_json() == {"models": []}
    assert "the card" in caplog.text and "is wrong" in caplog.text
    answer = client.get("/api/models/digits")
    assert answer.status_code == 500 and "saved wrongly" in answer.get_json()["error"]["detail"]
    assert client.get("/manifest.json").get_json()["models"] == []
    assert client.get("/").status_code == client.get("/sw.js").status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_a_broken_card_is_left_out(client, models, content):
    (models / "digits" / "model.json").write_bytes(content)
    assert client.get("/api/models").get_json() == {"models": []}
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
