"""Predictions: right answers, and readable ones to wrong questions."""
import base64
import json
import re
import struct
import time

import pytest

import wherry as paddle
from wherry_web import Config, create_app

ADDRESS = "/api/models/digits/predict"


@pytest.fixture
def images():
    paddle.seed(3)
    return paddle.rand([4, 1, 28, 28])


@pytest.fixture
def expected(app, images):
    gallery = app.extensions["gallery"]
    return gallery.network(gallery.find("digits"))(images).tolist()


def encoded(images) -> str:
    flat = paddle.flatten(images).tolist()
    return base64.b64encode(struct.pack(f"<{len(flat)}f", *flat)).decode()


def test_nested_lists_and_base64_get_what_the_network_says(client, images, expected):
    nested = client.post(ADDRESS, json={"inputs": images.tolist()}).get_json()
    raw = client.post(ADDRESS, json={"base64": encoded(images), "shape": [4, 1, 28, 28]}).get_json()
    one = client.post(ADDRESS, json={"inputs": images[0].tolist()}).get_json()
    assert nested["outputs"] == raw["outputs"] == expected
    assert one["outputs"][0] == pytest.approx(expected[0], rel=1e-5, abs=1e-5)  # one row is summed in another order
    assert nested["model"] == "digits" and nested["milliseconds"] > 0


def test_the_top_labels_come_in_order(client, images, expected):
    answer = client.post(ADDRESS, json={"inputs": images.tolist(), "top": 10}).get_json()
    for row, scores in zip(answer["top"], expected):
        assert [entry["label"] for entry in row] == [str(i) for i in sorted(range(10), key=lambda i: -scores[i])]
        assert sum(entry["probability"] for entry in row) == pytest.approx(1)
    assert len(client.post(ADDRESS, json={"inputs": images.tolist()}).get_json()["top"][0]) == 3


ROW = [[[0.0] * 28] * 28]


@pytest.mark.parametrize(("content", "says"), [
    ({}, "request"),
    ([], "request"),
    (None, "request"),
    ({"inputs": ROW, "base64": "AAAA", "shape": [1]}, "request"),
    ({"inputs": ROW, "more": 1}, "more"),
    ({"inputs": []}, "inputs"),
    ({"inputs": [[0.0] * 28] * 28}, r"Got inputs of shape \[28, 28\], expected \[1, 28, 28\]"),
    ({"inputs": [[[0.0] * 28] * 27]}, r"\[1, 27, 28\]"),
    ({"inputs": [[[0.0] * 28] * 27 + [[0.0] * 27]]}, "rows differ"),
    ({"inputs": [[[0.0] * 28] * 27 + [0.0]]}, "rows differ"),
    ({"inputs": [[["0"] * 28] * 28]}, "expected numbers"),
    ({"inputs": [[[True] * 28] * 28]}, "expected numbers"),
    ({"inputs": [[[None] * 28] * 28]}, "expected numbers"),
    ({"inputs": [[[1e39] * 28] * 28]}, "not a finite float32"),
    ({"inputs": [[[10**400] * 28] * 28]}, "not a finite float32"),
    ({"inputs": [[]]}, "shape"),
    ({"inputs": ROW, "top": 0}, "top"),
    ({"inputs": ROW, "top": "3"}, "top"),
    ({"base64": "!!!!", "shape": [1, 28, 28]}, "base64"),
    ({"base64": "AAAA", "shape": [1, 28, 28]}, "got 3 bytes, expected 3136"),
    ({"base64": "AAAA", "shape": [0, 28, 28]}, "shape"),
    ({"base64": "AAAA", "shape": [-1]}, "shape"),
    ({"base64": "AAAA", "shape": [10**30]}, r"expected \[1, 28, 28\] or a batch"),
    ({"base64": "AAAA", "shape": [1] * 9}, "too long"),
    ({"base64": "AAAA", "shape": [[1]]}, "shape"),
    ({"base64": ["AAAA"], "shape": [1]}, "base64"),
    ({"base64": base64.b64encode(struct.pack("<784f", *[float("nan")] * 784)).decode(), "shape": [1, 28, 28]}, "base64: .*NaN"),
    ({"base64": base64.b64encode(struct.pack("<784f", *[float("-inf")] * 784)).decode(), "shape": [1, 28, 28]}, "base64: .*NaN"),
    ({"inputs": [[[0.0] * 28] * 27 + [[0.0] * 27 + ["0"]]]}, "expected numbers"),
    ({"base64": "AAAA"}, "request"),
])
def test_wrong_requests_are_explained(client, content, says):
    answer = client.post(ADDRESS, data=json.dumps(content), content_type="application/json")
    assert answer.status_code == 400
    assert re.search(says, answer.get_json()["error"]["detail"]), answer.get_json()
    assert len(answer.data) < 1000


@pytest.mark.parametrize("body", [
    b"", b"{", b"\xff\xfe", b'{"inputs": NaN}', b'{"inputs": [[[Infinity]]]}', b"[" * 100_000, b'{"inputs":' + b"[" * 50_000,
])
def test_broken_json_is_explained(client, body):
    answer = client.post(ADDRESS, data=body, content_type="application/json")
    assert answer.status_code == 400 and answer.get_json()["error"]["detail"]


@pytest.mark.parametrize("body", [
    b'{"inputs":[' + b",".join([b'""'] * 1_300_000) + b"]}",
    b'{"inputs":[' + b",".join([b"[[1]]"] * 600_000) + b"]}",
    b'{"base64":"AAAA","shape":[' + b",".join([b"1"] * 2_000_000) + b"]}",
    b"{" + b",".join(b'"k%d":1' % i for i in range(300_000)) + b"}",
], ids=["texts", "rows", "shape", "keys"])
def test_a_large_wrong_request_is_answered_at_once(client, body):
    # The checks of a schema took a minute for one of these, and nobody else was answered meanwhile.
    started = time.process_time()
    answer = client.post(ADDRESS, data=body, content_type="application/json")
    assert answer.status_code == 400 and len(answer.data) < 1000
    assert time.process_time() - started < 5


def test_another_type_is_refused(client):
    answer = client.post(ADDRESS, data=b"inputs=1", content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 415


def test_a_large_request_is_refused_before_it_is_read(models):
    client = create_app(Config(models=models, max_request=1000)).test_client()
    answer = client.post(ADDRESS, data=b" " * 1001, content_type="application/json")
    assert answer.status_code == 413
    assert answer.get_json()["error"]["detail"] == "Got 1001 bytes, expected at most 1000. Send less at a time."


def test_a_large_batch_is_refused(models):
    client = create_app(Config(models=models, max_batch=2)).test_client()
    answer = client.post(ADDRESS, json={"inputs": [ROW] * 3})
    assert answer.status_code == 413
    assert "Got a batch of 3, expected at most 2" in answer.get_json()["error"]["detail"]


def test_unknown_models_are_named(client):
    for address in ("/api/models/other", "/api/models/Digits", "/api/models/" + "x" * 500):
        answer = client.get(address)
        assert answer.status_code == 404 and "expected one of: digits" in answer.get_json()["error"]["detail"]
    assert client.post("/api/models/other/predict", json={"inputs": ROW}).status_code == 404


def test_the_list_names_every_model_with_its_weights(client):
    (model,) = client.get("/api/models").get_json()["models"]
    assert model == client.get("/api/models/digits").get_json()
    assert model["title"] == "LeNet on digits" and model["accuracy"] == 0.5
    assert len(client.get(model["weights_url"]).data) == model["bytes"]
