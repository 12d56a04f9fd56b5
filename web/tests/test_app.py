"""What every answer has: type, security headers, caching, compression, and one form of errors."""
import io
import zipfile

import brotli
import pytest

from wherry_web import Config, create_app, memory


def addresses(manifest) -> dict[str, str]:
    """Address -> type, of everything that is answered to GET."""
    static = manifest["digits"].removesuffix("data/digits.bin")
    core = manifest["pyodide"]["url"]
    return {
        "/": "text/html", "/train": "text/html", "/model": "text/html", "/playground": "text/html", "/classifier": "text/html",
        "/browser": "text/html", "/play": "text/html", "/manifest.json": "application/json",
        "/sw.js": "text/javascript", "/simple/": "text/html", "/simple/wherry-tensor/": "text/html",
        "/api/health": "application/json", "/api/openapi.json": "application/json", "/api/models": "application/json",
        "/api/models/digits": "application/json",
        f"/{static}js/worker.js": "text/javascript", f"/{static}css/site.css": "text/css",
        f"/{static}icon.svg": "image/svg+xml", f"/{static}data/digits.bin": "application/octet-stream",
        f"/{core}pyodide.mjs": "text/javascript", f"/{core}pyodide.asm.wasm": "application/wasm",
        f"/{core}python_stdlib.zip": "application/zip", f"/{core}pyodide-lock.json": "application/json",
        f"/{manifest['bundle']['url']}": "application/zip", f"/{manifest['playground']['url']}": "application/zip",
        f"/{manifest['models'][0]['weights_url']}": "application/octet-stream",
        "/wheels/wherry_tensor-0.1.0-cp313-cp313-pyemscripten_2025_0_wasm32.whl": "application/zip",
    }


def test_every_address_answers_with_its_type(client, manifest):
    found = {address: client.get(address) for address in addresses(manifest)}
    assert {address: (answer.status_code, answer.mimetype) for address, answer in found.items()} == {
        address: (200, kind) for address, kind in addresses(manifest).items()
    }


def test_every_answer_has_the_security_headers(client, manifest):
    for address in [*addresses(manifest), "/nowhere", "/api/models/none"]:
        headers = client.get(address).headers
        policy = headers["Content-Security-Policy"]
        assert "unsafe-inline" not in policy and "'unsafe-eval'" not in policy and "default-src 'none'" in policy
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_pages_hold_no_inline_script_and_no_foreign_address(client):
    for address in ("/", "/train", "/play", "/classifier", "/model", "/playground", "/browser"):
        text = client.get(address).get_data(as_text=True)
        assert "http" not in text.replace("http-equiv", "")
        assert " style=" not in text and " onclick" not in text and text.count("<script") == text.count('<script type="module" src=')


def test_addresses_with_a_digest_are_kept_for_good_and_others_are_asked_for_again(client, manifest):
    for address in addresses(manifest):
        control = client.get(address).headers["Cache-Control"]
        if address.startswith(("/static/", "/bundle/", "/pyodide/", "/models/")):
            assert "immutable" in control and "max-age=31536000" in control, address
        else:
            assert control == "no-cache", address


def test_an_unchanged_file_is_not_sent_again(client, manifest):
    for address in (f"/{manifest['bundle']['url']}", f"/{manifest['digits']}"):
        tag = client.get(address).headers["ETag"]
        again = client.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, again.data) == (304, b"")


def test_text_and_weights_are_compressed_for_those_who_ask(client, manifest):
    for address in ("/", f"/{manifest['digits']}", f"/{manifest['models'][0]['weights_url']}"):
        plain = client.get(address)
        packed = client.get(address, headers={"Accept-Encoding": "br"})
        assert plain.content_encoding is None
        assert packed.content_encoding == "br" and "Accept-Encoding" in packed.headers["Vary"]
        assert brotli.decompress(packed.data) == plain.data
        assert len(packed.data) < len(plain.data)


@pytest.mark.parametrize("path", [
    "/static/{digest}/../../app.py", "/static/{digest}/..%2f..%2fapp.py", "/static/{digest}/%2e%2e/%2e%2e/app.py",
    "/static/{digest}//etc/passwd", "/static/{digest}/js/../../app.py", "/static/{digest}/..\\..\\app.py",
    "/static/0000/js/worker.js", "/wheels/../models/digits/model.json", "/wheels/..%2f..%2fetc%2fpasswd", "/wheels/.encoded",
    "/pyodide/0.29.5/package.json", "/pyodide/0.29.5/../secret", "/pyodide/9/pyodide.mjs", "/models/../x/weights.pdparams",
    "/models/digits/0000/weights.pdparams", "/models/..%2f..%2fdigits/0000/weights.pdparams", "/models/digits/model.json",
    "/bundle/0000/wherry.zip", "/simple/none/", "/api/models/..%2fdigits", "/static/{digest}/\0", "/\ufffd",
])
def test_nothing_outside_is_reached(client, app, path):
    answer = client.get(path.format(digest=app.extensions["assets"].digest))
    assert answer.status_code in (404, 405)
    assert answer.get_json()["error"]["status"] == answer.status_code


def test_errors_are_json_that_says_what_to_do(client):
    error = client.get("/api/models/none").get_json()["error"]
    assert error == {"status": 404, "title": "Not Found", "detail": "Got 'none', expected one of: digits."}
    answer = client.delete("/api/models")
    assert answer.status_code == 405 and "GET" in answer.headers["Allow"]
    assert answer.get_json()["error"]["title"] == "Method Not Allowed"


def test_a_mistake_of_ours_shows_nothing_of_the_inside(app):
    @app.get("/mistake")
    def mistake():
        raise RuntimeError("secret")

    answer = app.test_client().get("/mistake")
    assert answer.status_code == 500 and "secret" not in answer.get_data(as_text=True)


def test_without_pyodide_the_pages_answer_and_say_so(models):
    client = create_app(Config(models=models)).test_client()
    manifest = client.get("/manifest.json").get_json()
    assert client.get("/").status_code == 200
    assert manifest["pyodide"] is None and manifest["bundle"] is None
    assert client.get("/pyodide/0.29.5/pyodide.mjs").status_code == 404


@pytest.mark.parametrize("name", ["models", "pyodide", "wheels"])
def test_a_folder_that_is_not_there_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match=f"^{name}: .* does not exist"):
        Config(**{name: tmp_path / "none"})


def test_pages_work_under_a_prefix(client):
    text = client.get("/train").get_data(as_text=True)
    assert 'href="/' not in text and 'src="/' not in text


def test_the_memory_of_a_started_pyodide_is_served_where_there_is_one(models, pyodide, wheels):
    def served():
        client = create_app(Config(models=models, pyodide=pyodide, wheels=wheels)).test_client()
        told = client.get("/manifest.json").get_json()["pyodide"]
        return told["snapshot"], client.get(f"/{told['url']}snapshot.bin").status_code, "snapshot.bin" in client.get("/sw.js").get_data(as_text=True)

    assert served() == (None, 404, False)
    (pyodide / "snapshot.bin").write_bytes(b"memory")
    assert served() == ([], 200, True)


def test_pyodide_is_sent_without_what_is_in_two_files(models, pyodide, wheels, constants):
    heap = bytearray(65536)
    heap[1024 : 1024 + len(constants)] = constants
    heap[1030] ^= 5  # a variable that has changed
    snapshot = b"of its own" + bytes(heap)
    (pyodide / "snapshot.bin").write_bytes(snapshot)
    client = create_app(Config(models=models, pyodide=pyodide, wheels=wheels)).test_client()
    told = client.get("/manifest.json").get_json()["pyodide"]
    sent = client.get(f"/{told['url']}snapshot.bin").data
    assert sent.count(0) == len(sent) - len(b"of its own") - 1
    module = client.get(f"/{told['url']}pyodide.asm.wasm").data
    assert memory.without(sent, module, [memory.Share(*share) for share in told["snapshot"]]) == snapshot  # as python.js does
    with zipfile.ZipFile(io.BytesIO(client.get(f"/{told['url']}python_stdlib.zip").data)) as library:
        assert [(file.filename, file.compress_type) for file in library.infolist()] == [("this.py", zipfile.ZIP_STORED)]
        assert library.read("this.py") == b"pass\n" * 1000


def test_another_memory_has_another_address(models, pyodide, wheels):
    def address():
        return create_app(Config(models=models, pyodide=pyodide, wheels=wheels)).test_client().get("/manifest.json").get_json()["pyodide"]["url"]

    without = address()
    (pyodide / "snapshot.bin").write_bytes(b"memory")
    assert address() != without


def test_a_module_that_is_none_is_refused():
    with pytest.raises(ValueError, match="not a WebAssembly module. Got a file that begins with b'<htm'"):
        memory.data_of(b"<html>")
