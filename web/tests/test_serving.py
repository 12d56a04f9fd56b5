"""The command, and the server under load."""
import concurrent.futures
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from waitress.server import create_server

from wherry_web import Config, create_app
from wherry_web.app import HEADERS
from wherry_web.serving import make_server

ROW = [[[0.25] * 28] * 28]


@pytest.fixture
def address(app):
    server = create_server(app, host="127.0.0.1", port=0, threads=8)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.close()
    thread.join(10)


def post(address: str, content: object) -> dict:
    request = urllib.request.Request(address, json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_200_concurrent_predictions_are_all_answered_right(address, app, capsys):
    address += "/api/models/digits/predict"
    inputs = [[[[i / 200] * 28] * 28] for i in range(200)]
    post(address, {"inputs": ROW})  # reads the weights
    times = [0.0] * 200

    def ask(i: int) -> list[float]:
        started = time.perf_counter()
        answer = post(address, {"inputs": inputs[i]})
        times[i] = time.perf_counter() - started
        return answer["outputs"][0]

    started = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(ask, range(200)))
    seconds = time.perf_counter() - started
    together = post(address, {"inputs": inputs})["outputs"]
    for one, row in zip(answers, together, strict=True):
        assert one == pytest.approx(row, abs=1e-5)
    times.sort()
    with capsys.disabled():
        print(f"\n200 predictions, 8 clients: {200 / seconds:.0f}/s, p50 {times[100] * 1e3:.1f} ms, p99 {times[197] * 1e3:.1f} ms")


@pytest.fixture
def listening(models):
    """A server as the command makes it, with little patience: its port."""
    server = make_server(create_app(Config(models=models, max_request=10_000)), "127.0.0.1", 0, idle=1)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.effective_port
    server.close()
    thread.join(10)


def told(port: int, *parts: bytes) -> bytes:
    """Everything that the server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while more := connection.recv(65536):
            answer += more
        return answer


@pytest.mark.parametrize(("request_", "status"), [
    (b"POST /api/models/digits/predict HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", 413),
    (b"no HTTP at all\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n", 501),
    (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\nGET /api/health HTTP/1.1\r\n\r\n", 400),
])
def test_what_the_server_refuses_by_itself_looks_like_our_errors(listening, request_, status):
    head, _, body = told(listening, request_).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.") and f" {status} ".encode() in head.splitlines()[0]
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.decode().splitlines()[1:])}
    assert all(headers[name.lower()] == value for name, value in HEADERS.items())
    error = json.loads(body)["error"]
    assert error["status"] == status and error["detail"] and "aaaa" not in error["detail"]


def test_a_chunked_request_alone_is_answered(listening):
    head = told(listening, b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    assert b" 200 " in head.splitlines()[0]


def test_idle_connections_keep_nobody_out_and_are_closed(listening):
    idle = [socket.create_connection(("127.0.0.1", listening), timeout=60) for _ in range(150)]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{listening}/api/health", timeout=60) as answer:
            assert json.load(answer)["status"] == "ok"
        assert all(connection.recv(1) == b"" for connection in idle)
    finally:
        for connection in idle:
            connection.close()


def run(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "wherry", "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def test_the_command_serves_and_stops(models):
    process = run("--port", "0", "--models", str(models))
    try:
        address = process.stdout.readline().split()[3]
        with urllib.request.urlopen(f"{address}/api/health", timeout=60) as answer:
            assert json.load(answer)["status"] == "ok"
        other = run("--port", address.rpartition(":")[2])
        assert other.wait(60) == 1
        assert "Give another with --port" in other.stderr.read()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_command_says_which_folder_is_missing(tmp_path):
    process = run("--models", str(tmp_path / "none"))
    assert process.wait(60) == 2
    assert "does not exist" in process.stderr.read()


def test_the_command_freezes(models, tmp_path):
    process = run("--models", str(models), "--freeze", str(tmp_path / "site"))
    assert process.wait(60) == 0
    assert "python -m http.server" in process.stdout.read()
    assert (tmp_path / "site" / "index.html").exists()


@pytest.mark.parametrize("options", [[], ["--preload"]])
def test_gunicorn_serves(models, tmp_path, options):
    pytest.importorskip("gunicorn", reason="gunicorn is not installed")
    (tmp_path / "pages.py").write_text(f"from wherry_web import Config, create_app\n\napp = create_app(Config(models={str(models)!r}))\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--workers", "2", "--threads", "8", "--bind", "127.0.0.1:0", *options, "pages:app"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )
    try:
        address = next(line.split()[-2] for line in process.stderr if "Listening at" in line)
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            answers = list(clients.map(lambda _: post(f"{address}/api/models/digits/predict", {"inputs": ROW})["outputs"], range(40)))
        assert all(answer == answers[0] for answer in answers)
    finally:
        process.terminate()
        process.communicate(timeout=30)
