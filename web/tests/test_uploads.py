"""Programs that people upload: who may, what is kept, and what a hostile one can do."""
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle
from wherry_web import Config, create_app
from wherry_web.isolated import Limits, Pool

sys.path.insert(0, str(Path(__file__).parent))
from uploads_fuzz import run  # noqa: E402

SMALL = Limits(memory=512 << 20, loading=30, answering=3)
HEADERS = {"X-Wherry-Upload": "1"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A program that was saved: the content of its files, by their suffix."""
    folder = tmp_path_factory.mktemp("saved")
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU(), paddle.nn.Linear(4, 2))
    paddle.jit.save(net, str(folder / "net"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    expected = net(paddle.to_tensor([[1.0, 2.0, 3.0]])).numpy()[0].tolist()
    return {suffix: (folder / f"net.{suffix}").read_bytes() for suffix in ("pdmodel", "pdiparams")} | {"answer": expected}


@pytest.fixture
def uploads(tmp_path):
    return tmp_path / "uploads"


@pytest.fixture
def started(models, uploads):
    """Starts servers that take uploads; their processes end with the test."""
    apps = []

    def start(**options):
        apps.append(create_app(Config(models=models, uploads=uploads, **{"upload_limits": SMALL, **options})))
        return apps[-1].test_client()

    yield start
    for app in apps:
        app.extensions["gallery"].close()


def form(saved, file="net.pdmodel", **fields):
    parts = {"model": (io.BytesIO(saved["pdmodel"]), file)}
    if saved.get("pdiparams"):
        parts["params"] = (io.BytesIO(saved["pdiparams"]), "net.pdiparams")
    return {**parts, **fields}


def send(client, data, headers=HEADERS, **options):
    return client.post("/api/uploads", data=data, headers=headers, content_type="multipart/form-data", **options)


def detail(answer):
    return answer.get_json()["error"]["detail"]


def left_in(uploads):
    return sorted(path.name for path in uploads.iterdir())


def test_uploads_are_off_unless_the_operator_gives_a_folder(client, saved):
    answer = send(client, form(saved))
    assert answer.status_code == 404 and "--uploads" in detail(answer)
    assert 'id="upload"' not in client.get("/gallery").get_data(as_text=True)


def test_an_uploaded_program_is_listed_and_answers(started, saved, uploads):
    client = started()
    assert 'id="upload"' in client.get("/gallery").get_data(as_text=True)
    answer = send(client, form(saved, title="A <net>", labels="yes\nno\n"))
    card = answer.get_json()
    assert answer.status_code == 201 and answer.headers["Location"] == "/api/models/net"
    assert card == client.get("/api/models/net").get_json() and card["uploaded"] and card["labels"] == ["yes", "no"]
    assert [model["name"] for model in client.get("/api/models").get_json()["models"]] == ["digits", "net"]
    assert "A &lt;net&gt;" in client.get("/gallery").get_data(as_text=True)
    said = client.post("/api/models/net/predict", json={"inputs": [1, 2, 3], "top": 1}).get_json()
    assert said["outputs"][0] == pytest.approx(saved["answer"], rel=1e-5)
    assert said["top"][0][0]["label"] == ["yes", "no"][int(np.argmax(saved["answer"]))]
    assert client.get(card["program_url"]).data == saved["pdmodel"] and client.get(card["params_url"]).data == saved["pdiparams"]
    assert left_in(uploads) == ["net"] and left_in(uploads / "net") == ["model.json", "program.pdiparams", "program.pdmodel"]


@pytest.mark.parametrize(("headers", "says"), [
    ({}, "X-Wherry-Upload"),
    ({**HEADERS, "Origin": "https://elsewhere.org"}, "another site"),
    ({**HEADERS, "Origin": "null"}, "another site"),
    ({**HEADERS, "Origin": "http://localhost.elsewhere.org"}, "another site"),
    ({**HEADERS, "Sec-Fetch-Site": "cross-site"}, "another site"),
    ({**HEADERS, "Sec-Fetch-Site": "same-site"}, "another site"),
])
def test_other_sites_cannot_send_one(started, saved, uploads, headers, says):
    answer = send(started(), form(saved), headers)
    assert answer.status_code == 403 and says in detail(answer) and left_in(uploads) == []


@pytest.mark.parametrize("headers", [{"Origin": "http://localhost"}, {"Origin": "https://localhost"}, {"Sec-Fetch-Site": "same-origin"}])
def test_pages_of_the_server_can_send_one_also_behind_a_proxy(started, saved, headers):
    assert send(started(), form(saved), {**HEADERS, **headers}).status_code == 201


def test_a_token_is_asked_for_where_there_is_one(started, saved):
    client = started(upload_token="secret")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}, {"Authorization": "Bearer s\xe9cret"}):
        answer = send(client, form(saved), {**HEADERS, **headers})
        assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer" and "token" in detail(answer)
    assert send(client, form(saved), {**HEADERS, "Authorization": "Bearer secret"}).status_code == 201
    assert "secret" not in repr(client.application.config["WHERRY"]) + client.get("/gallery").get_data(as_text=True)


@pytest.mark.parametrize(("file", "name", "becomes"), [
    ("Mobile Net.v2.pdmodel", None, "mobile-net-v2"), ("../../etc/passwd.pdmodel", None, "passwd"),
    ("net.pdmodel", "../../../etc/cron", "cron"), ("net.pdmodel", ".hidden", "hidden"), ("net.pdmodel", "a\0b/c", "c"),
    ("net.pdmodel", "x" * 500, "x" * 64),
    ("net.pdmodel", "\u00e9t\u00e9", "t"), ("__main__.pdmodel", None, "main"),
])
def test_names_are_made_fit_for_addresses(started, saved, uploads, file, name, becomes):
    answer = send(started(), form(saved, file, **({"name": name} if name else {})))
    assert (answer.status_code, answer.get_json().get("name")) == (201, becomes), answer.get_json()
    assert left_in(uploads) == [becomes]


def test_no_model_is_replaced(started, saved, uploads, models):
    client = started()
    assert send(client, form(saved)).status_code == 201
    before = {path: path.read_bytes() for path in (uploads / "net").iterdir()}
    for name in ("net", "digits"):
        answer = send(client, form(saved, name=name))
        assert answer.status_code == 409 and "already" in detail(answer)
    assert {path: path.read_bytes() for path in (uploads / "net").iterdir()} == before and left_in(uploads) == ["net"]


def wrong_fields(saved):
    yield {}, 400, "model: the field is missing"
    yield {"model": "text"}, 400, "expected one as a file"
    yield {**form(saved), "more": "x"}, 400, "Got the field 'more'"
    yield form(saved, name="..."), 400, "name: got '...'"
    yield form(saved, labels="a\nb\nc"), 400, "labels: got 3"
    yield form(saved, title="x" * 201), 400, "title"
    yield form({"pdmodel": b"no program"}), 422, "not a model that runs here"
    yield form({"pdmodel": b""}), 422, "not a model that runs here"
    yield form({"pdmodel": saved["pdmodel"]}), 422, "pdiparams"
    yield form({"pdmodel": saved["pdmodel"], "pdiparams": saved["pdiparams"][:-1]}), 422, "not a model that runs here"


def test_what_is_no_model_is_explained_and_not_kept(started, saved, uploads):
    client = started()
    for data, status, says in wrong_fields(saved):
        answer = send(client, data)
        assert answer.status_code == status and says in detail(answer) and str(uploads) not in detail(answer), answer.get_json()
        assert left_in(uploads) == []
    assert client.post("/api/uploads", json={}, headers=HEADERS).status_code == 415
    assert client.post("/api/uploads", data=b"x", headers=HEADERS, content_type="multipart/form-data").status_code == 400
    assert client.get("/api/uploads").status_code == 405


def test_what_is_too_large_is_refused(started, saved, uploads):
    client = started(max_upload=1000)
    answer = send(client, form({"pdmodel": bytes(900), "pdiparams": bytes(200)}))
    assert answer.status_code == 413 and "Got 1100 bytes, expected at most 1000" in detail(answer)
    answer = send(client, form({"pdmodel": bytes(2 << 20)}))
    assert answer.status_code == 413 and left_in(uploads) == []


def test_the_folder_has_a_quota(started, saved, uploads):
    size = len(saved["pdmodel"]) + len(saved["pdiparams"])
    client = started(upload_quota=3 * size)
    assert send(client, form(saved)).status_code == 201
    answer = send(client, form(saved, name="second"))
    while answer.status_code == 201:
        answer = send(client, form(saved, name=f"{answer.get_json()['name']}x"))
    assert answer.status_code == 507 and "no room" in detail(answer) and answer.get_json()["error"]["title"] == "Insufficient Storage"
    assert sum(path.stat().st_size for path in uploads.rglob("*") if path.is_file()) <= 3 * size


def test_uploads_of_one_name_at_once_are_kept_once(started, saved, uploads):
    client, statuses = started(), []
    threads = [threading.Thread(target=lambda: statuses.append(send(client, form(saved)).status_code)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count(201) == 1 and set(statuses) <= {201, 409, 503} and left_in(uploads) == ["net"]


def test_what_was_cut_off_is_cleared_away(uploads, models):
    for name, age in ((".new-old", 7200), (".new-now", 0)):
        (uploads / name).mkdir(parents=True)
        os.utime(uploads / name, (os.path.getmtime(uploads) - age,) * 2)
    create_app(Config(models=models, uploads=uploads))
    assert left_in(uploads) == [".new-now"]


def test_the_folder_of_the_models_takes_no_uploads(models):
    with pytest.raises(ValueError, match="^uploads: .* is the folder of the models"):
        Config(models=models, uploads=models)
    with pytest.raises(ValueError, match="^uploads: .* cannot be made"):
        Config(uploads=models / "digits" / "model.json" / "x")


# Hostile programs.

class Endless(paddle.nn.Layer):
    def forward(self, x):
        i = paddle.zeros([1])
        while i < 1:
            i = i * 1
        return i + x


class Large(paddle.nn.Layer):
    def forward(self, x):
        return (x.reshape([-1, 1]) * paddle.ones([1, 1 << 20])).sum()


class Long(paddle.nn.Layer):
    def forward(self, x):
        return x.expand([1 << 21, -1])


@pytest.mark.parametrize(("net", "says"), [
    pytest.param(Endless, "more than 3 s", marks=pytest.mark.slow), (Large, "memory"), (Long, "answer is too large"),
])
def test_a_program_without_bounds_ends_and_the_server_does_not(started, uploads, tmp_path, net, says):
    paddle.jit.save(paddle.jit.to_static(net()), str(tmp_path / "bad"), input_spec=[paddle.static.InputSpec([None], "float32", "x")])
    client = started()
    bad = {"pdmodel": (tmp_path / "bad.pdmodel").read_bytes()}
    assert send(client, form(bad, "bad.pdmodel")).status_code == 201
    many = {"inputs": [1.0] * (1000 if net is Large else 1)}
    for _ in range(2):  # a process that has ended is started again
        answer = client.post("/api/models/bad/predict", json=many)
        assert answer.status_code == 422 and says in detail(answer), answer.get_json()
    assert client.get("/api/health").status_code == 200


def test_a_program_that_is_huge_when_it_is_read_is_refused_in_its_process(started, uploads, tmp_path):
    class Constant(paddle.nn.Layer):
        def forward(self, x):
            return x + paddle.ones([1 << 32]).sum()  # constants are computed when a program is loaded

    paddle.jit.save(paddle.jit.to_static(Constant()), str(tmp_path / "bad"), input_spec=[paddle.static.InputSpec([1], "float32", "x")])
    client = started()
    answer = send(client, form({"pdmodel": (tmp_path / "bad.pdmodel").read_bytes()}, "bad.pdmodel"))
    if answer.status_code == 201:
        answer = client.post("/api/models/bad/predict", json={"inputs": [1.0]})
    assert answer.status_code == 422 and "memory" in detail(answer)


def test_the_processes_are_few(tmp_path, saved):
    for name in "abc":
        for suffix in ("pdmodel", "pdiparams"):
            (tmp_path / f"{name}.{suffix}").write_bytes(saved[suffix])
    pool = Pool(SMALL, size=2)
    try:
        for name in "abcab":
            (answer,) = pool.answer((name, "digest"), tmp_path / name, [np.array([[1, 2, 3]], "float32")])
            assert answer[0].tolist() == pytest.approx(saved["answer"], rel=1e-5)
            assert len(pool._kept) <= 2
    finally:
        pool.close()


def test_damaged_models_are_refused_or_answer(tmp_path, saved):
    found = run(tmp_path, saved, 40, SMALL)
    assert found["ended"] == [] and found["other"] == [], found
    assert found["refused"] + found["answered"] == 40 and found["slowest"] < SMALL.answering
