"""How pages unpack zips without Python: their JavaScript, in Node."""
import json
import shutil
import subprocess
import zipfile

import pytest

from wherry_web.files import STATIC

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
START = f"""
import {{ readFileSync }} from "node:fs";
import {{ entriesOf, unpack }} from "{(STATIC / 'js' / 'unzip.js').as_uri()}";
const read = () => Uint8Array.from(readFileSync(process.argv[1])).buffer;
"""
FILES = {"package/__init__.py": b"pass\n" * 500, "package/inner/é.bin": bytes(range(256)) * 40, "empty.py": b""}
UNPACKED = """
const written = {}, folders = [];
const FS = { cwd: () => "/home", mkdirTree: (folder) => folders.push(folder), writeFile: (place, content) => (written[place] = [...content]) };
await unpack({ FS }, entriesOf(read()));
console.log(JSON.stringify({ written, folders }));
"""


def run(path, code):
    done = subprocess.run(["node", "--input-type=module", "-e", START + code, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"PK said somebody"])
def test_files_of_a_zip_are_written(tmp_path, method, comment):
    with zipfile.ZipFile(tmp_path / "some.zip", "w", method) as archive:
        archive.mkdir("package")
        for name, content in FILES.items():
            archive.writestr(name, content)
        archive.comment = comment
    found = run(tmp_path / "some.zip", UNPACKED)
    assert {name: bytes(content) for name, content in found["written"].items()} == {f"/home/{name}": content for name, content in FILES.items()}
    assert found["folders"] == ["/home/package", "/home/package/inner", "/home"]  # each once


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[:-30], "not a zip"),
        (lambda content: content.replace(b"PK\1\2", b"PK\1\1"), "directory ends too early"),
        (lambda content: content.replace(b"PK\3\4", b"PK\3\3"), "a.py is not where it should be"),
        (lambda content: content.replace(b"PK\1\2\x14\3\x14\0\0\0\0\0", b"PK\1\2\x14\3\x14\0\0\0\x0c\0"), "a.py by method 12"),
    ],
)
def test_a_damaged_zip_is_refused(tmp_path, damage, words):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("a.py", "pass\n")
    path = tmp_path / "damaged.zip"
    path.write_bytes(damage((tmp_path / "some.zip").read_bytes()))
    message = run(path, "try { entriesOf(read()); } catch (error) { console.log(JSON.stringify(error.message)); }")
    assert words in message
