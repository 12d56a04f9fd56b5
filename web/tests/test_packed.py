"""How pages unpack what a copy of the site has packed: their JavaScript, in Node."""
import gzip
import json
import random
import shutil
import subprocess

import pytest

from wherry_web.encoded import Encoded
from wherry_web.files import STATIC

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
START = f"""
import {{ readFileSync }} from "node:fs";
import {{ fetched, fetchedNow, unpacked }} from "{(STATIC / "js" / "packed.js").as_uri()}";
const read = () => Uint8Array.from(readFileSync(process.argv[1])).buffer;
"""
# The same by each of the three: what `fetch` and a synchronous request bring.
WAYS = """
class Request {
  status = 200;
  open(method, url, later) { this.asked = [method, url, later]; }
  send() { this.response = read(); }
}
globalThis.fetch = async (url) => ({ ok: true, arrayBuffer: async () => read() });
const url = process.argv[2];
const found = [unpacked(url, read()), await fetched(url), fetchedNow(url, Request).buffer];
console.log(JSON.stringify(found.map((content) => [content instanceof ArrayBuffer, Buffer.from(content).toString("hex")])));
"""
FAILING = """
try {
  unpacked("a/b.zip.zst", read());
} catch (error) {
  console.log(JSON.stringify(error.message));
}
"""


def run(content, code, folder, *more):
    (folder / "content").write_bytes(content)
    command = ["node", "--input-type=module", "-e", START + code, folder / "content", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("content", [b"", b"a", b"ab" * 70_000, random.Random(0).randbytes(200_000), b"abc" * 9 + bytes(300_000)], ids=len)
def test_content_is_unpacked_by_its_address(tmp_path, content):
    packed = Encoded(content).packed()
    assert run(packed, WAYS, tmp_path, "bundle/1/wherry.zip.zst") == [[True, content.hex()]] * 3
    assert run(packed, WAYS, tmp_path, "bundle/1/wherry.zip") == [[True, packed.hex()]] * 3


def test_what_the_server_has_unpacked_stays(tmp_path):
    content = gzip.compress(b"content")
    assert run(content, WAYS, tmp_path, "bundle/1/wherry.zip.zst") == [[True, content.hex()]] * 3


def test_what_ends_too_early_is_said(tmp_path):
    packed = Encoded(bytes(range(256)) * 400 + random.Random(0).randbytes(5000)).packed()
    for damaged in (packed[: len(packed) // 2], packed[:9], packed[:-20]):
        message = run(damaged, FAILING, tmp_path)
        assert message.startswith("a/b.zip.zst is damaged: ") and message.endswith("Load the page again."), message
