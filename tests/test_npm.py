"""The npm package @wherry/web: what is in it, that it is the same bytes each time, and that its types are right."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import npm  # noqa: E402
import package_table  # noqa: E402

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
TYPESCRIPT = "typescript@5.9.3"
PROGRAM = """
import { load, WherryError, type Model, type Tensor } from "@wherry/web";
const model: Model = await load("/lenet/", { threads: 2, worker: new Worker("worker.js"), onprogress: ({ loaded, total }) => loaded / total });
const answer: { [name: string]: Tensor } = await model.predict({ image: { data: new Float32Array(784), shape: [1, 1, 28, 28] } });
const history: number[] = (await model.train([[1, 2]], [0n], { optimizer: "Adam" })).history.map(({ loss }) => loss);
"""


def test_everything_that_a_script_loads_is_in_the_package(tmp_path):
    folder = npm.layout(tmp_path / "web")
    names = {path.name for path in folder.iterdir()}
    for script in folder.glob("*.js"):
        loaded = re.findall(r'(?:from|import\(|new URL\()\s*"\./([\w.]+)"', script.read_text())
        assert set(loaded) <= names, script.name
    facts = (folder / "package.json").read_text()
    assert f'"version": "{package_table.packages()["export"].version}"' in facts and '"name": "@wherry/web"' in facts


@needs_npm
def test_the_same_sources_are_the_same_bytes(tmp_path):
    archives = []
    for name, mask, time in (("one", 0o022, 1.0), ("other", 0o077, 1e9)):
        (tmp_path / name).mkdir()
        before = os.umask(mask)
        try:
            folder = npm.layout(tmp_path / name / "web")
            for file in folder.iterdir():
                os.utime(file, (time, time))
            archives.append(npm.packed(folder, tmp_path / name))
        finally:
            os.umask(before)
    first, second = (archive.read_bytes() for archive in archives)
    assert archives[0].name == f"wherry-web-{package_table.packages()['export'].version}.tgz" and first == second
    with tarfile.open(archives[0]) as archive:
        assert {name.removeprefix("package/") for name in archive.getnames()} == {file.name for file in folder.iterdir()}


@needs_npm
def test_typescript_takes_its_types_and_finds_what_is_wrong(tmp_path):
    packed = npm.packed(npm.layout(tmp_path / "web"), tmp_path)
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    got = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", packed, TYPESCRIPT], cwd=tmp_path, capture_output=True, text=True)
    if got.returncode:
        pytest.skip(f"npm has no {TYPESCRIPT}: {got.stderr[-200:]}")

    def said(program: str) -> str:
        (tmp_path / "main.ts").write_text(program)
        modern = ["--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "esnext,dom"]
        return subprocess.run(["npx", "tsc", "--noEmit", "--strict", *modern, "main.ts"], cwd=tmp_path, capture_output=True, text=True).stdout

    assert said(PROGRAM) == ""
    assert "'\"adam\"' is not assignable" in said(PROGRAM.replace('"Adam"', '"adam"')).replace("Type ", "")
