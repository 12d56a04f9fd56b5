"""The readers of tools/fuzz_files.py that read programs and folders, and what runs the programs that could be read."""
from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz_changes import changed, zipped
from fuzz_children import ROOM, SLOW, TooSlow, bound_memory, set_alarm
from fuzz_files import PYTHONS_OWN, REPOSITORY, Files, NumPy, Safetensors, Torch, of_others, pickles

import wherry
from wherry_tensor import Tensor, _core
from wherry_tensor.errors import EnforceNotMet, InvalidArgumentError, raised_on_purpose

_MOST_FED = 10**5  # elements


def one_op_programs() -> Iterator[bytes]:
    """For each op that can be written, the program of its first sample."""
    from wherry_paddle_files.models import write_program
    from wherry_program.program.capture import capture
    from wherry_program.program.ir import Program
    from wherry_tensor.testing.kit import specs

    for op, spec in specs.items():
        for case in spec.cases()[:1]:
            program = Program()
            inputs = [None if x is None else program.feed(x.shape, _core.dtype_of_name(x.dtype.name), f"x{i}") for i, x in enumerate(case.inputs)]
            try:
                with capture(program):
                    results = op(*inputs, **case.attrs)
                program.fetches += [results] if isinstance(results, Tensor) else list(results)
                data = write_program(program)
            except (NotImplementedError, TypeError, ValueError):  # no rule, or samples in dtypes that are cast before
                continue
            yield data


def run(program: Any) -> None:
    """Run a program that could be read, with small inputs: an answer, or an error that says what is wrong."""
    from wherry_program.run.executor import compiled

    sizes = [[2 if n < 0 else n for n in x.sizes] for x in program.feeds]
    if sum(map(math.prod, sizes)) > _MOST_FED or any(x.bound is None for x in program.bound_variables()):
        return
    bound_memory(ROOM)
    set_alarm(SLOW / 4)
    try:
        compiled(program)(*(wherry.ones(shape, x.dtype) for shape, x in zip(sizes, program.feeds, strict=True)))
    except TooSlow:
        pass  # a loop may have lost its end, and large sizes take their time
    except PYTHONS_OWN as error:
        if not isinstance(error, EnforceNotMet) and not raised_on_purpose(error):
            raise
    except (ValueError, TypeError, NotImplementedError, MemoryError, RuntimeError):
        pass
    finally:
        set_alarm(0)


class Models(Files):
    """File number n, as a program."""

    what = "models"

    def sound_files(self) -> list[bytes]:
        from wherry_paddle_files.models import read_program, write_program
        from wherry_paddle_files.testing.model_files import sound_programs

        files = [*sound_programs(), *one_op_programs()]
        for data in _of_paddle3():
            with contextlib.suppress(NotImplementedError, ValueError):
                files.append(write_program(read_program(data)))
        return files

    def take(self, data: bytes, number: int) -> None:
        from wherry_paddle_files import desc
        from wherry_paddle_files.reading import program_of

        described = desc.parse(data)
        if number % 4 == 0:
            desc.serialize(described)
        program = program_of(described)
        if number % 8 == 1:
            run(program)


class Params(Files):
    """File number n, as parameters."""

    what = "params"

    def sound_files(self) -> list[bytes]:
        from wherry_paddle_files import params

        files = []
        for state in (
            {"b": wherry.ones([3]), "w": wherry.ones([2, 3], "bfloat16"), "x": wherry.zeros([5], "bool")},
            {"b": wherry.zeros([0, 3]), "w": wherry.ones([2, 3], "complex64"), "x": wherry.to_tensor(7)},
        ):
            params.write_params(file := io.BytesIO(), state, b"mark" * 4)
            files.append(file.getvalue())
        return files

    def take(self, data: bytes, number: int) -> None:
        from wherry_paddle_files import params

        params.params_of(data, None, ("b", "w", "x"))


class OnnxModels(Files):
    """File number n, as a model of ONNX: one of ONNX's cases for operators or of exporters' models, changed."""

    what = "onnx"

    def sound_files(self) -> list[bytes]:
        from onnx.backend.test.case.node import collect_testcases

        return _stored("onnx") + [case.model.SerializeToString() for case in collect_testcases()]

    def take(self, data: bytes, number: int) -> None:
        from wherry_onnx_files.models import read_model

        program = read_model(data).program()
        if number % 8 == 1:
            run(program)


def _stored(kind: str) -> list[bytes]:
    """Small models of exporters, as tests have them."""
    return [path.read_bytes() for path in sorted((REPOSITORY / "tests" / "data" / kind).glob(f"*.{kind}")) if path.stat().st_size < 50_000]


def _of_paddle3() -> list[bytes]:
    with zipfile.ZipFile(REPOSITORY / "packages" / "paddle-files" / "tests" / "data" / "paddle3.zip") as archive:
        return [archive.read(name) for name in archive.namelist() if name.endswith(".json")]


class Paddle3Models(Files):
    """File number n, as a program of Paddle 3: one of those that its own calls wrote, changed."""

    what = "json"

    def sound_files(self) -> list[bytes]:
        return _of_paddle3()

    def take(self, data: bytes, number: int) -> None:
        from wherry_paddle_files.models import read_program
        from wherry_paddle_files.summary import summary

        if number % 4 == 0:
            summary(data)
        program = read_program(data)
        if number % 8 == 1:
            run(program)


class ExportedModels(Files):
    """File number n, as a program of torch.export."""

    what = "pt2"

    def sound_files(self) -> list[bytes]:
        return _stored("pt2")

    def take(self, data: bytes, number: int) -> None:
        from wherry_onnx_files.exported import read_exported

        program = read_exported(data)
        if number % 8 == 1:
            run(program)


class Folders(Files):
    """Folder number n: a zip of its files, of which one was changed."""

    def sound_files(self) -> list[bytes]:
        return [_packed(folder) for folder in self.sound_folders()]

    def sound_folders(self) -> list[Path]:
        raise NotImplementedError

    @contextlib.contextmanager
    def unpacked(self, data: bytes) -> Iterator[str]:
        """The folder, if the zip itself is sound."""
        folder = Path(f"{self.path}-{os.getpid()}")
        folder.mkdir()
        try:
            with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
                for info in archive.infolist():
                    if info.filename == os.path.basename(info.filename) and "\0" not in info.filename:
                        (folder / info.filename).write_bytes(archive.read(info))
            yield str(folder)
        finally:
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


def _packed(folder: Path) -> bytes:
    return zipped([(path.name, path.read_bytes(), zipfile.ZIP_STORED) for path in sorted(folder.iterdir())])


def _networks(folder: Path) -> Iterator[Path]:
    """Folders with saved layers, one of each kind: products, a picture, words, and a list that grows."""
    from fuzz_programs import networks

    for name, (net, shape, dtype) in networks().items():
        where = folder / name
        where.mkdir()
        net.eval()
        wherry.jit.save(net, str(where / "net"), input_spec=[wherry.static.InputSpec(shape, dtype, "x")])
        yield where


class Saved(Folders):
    what = "saved"

    def sound_folders(self) -> list[Path]:
        return list(_networks(Path(self.folder)))

    def take(self, data: bytes, number: int) -> None:
        from wherry_paddle_files.models import load_model

        with self.unpacked(data) as folder, contextlib.suppress(FileNotFoundError):
            if number % 8 == 0 and os.path.exists(f"{folder}/net.pdmodel"):
                wherry.load(f"{folder}/net")
            program = load_model(f"{folder}/net")
            if number % 4 == 1:
                run(program)


class Paddle1(Folders):
    what = "paddle1"

    def sound_folders(self) -> list[Path]:
        from wherry_paddle_files import desc
        from wherry_paddle_files.models import load_model
        from wherry_paddle_files.params import save_separate_params

        found = []
        for folder in _networks(Path(self.folder)):
            values = {x.name: x.bound for x in load_model(str(folder / "net")).bound_variables() if x.persistable}
            program = desc.parse((folder / "net.pdmodel").read_bytes())
            program.params_mark = None  # of one file for all
            for path in folder.iterdir():
                path.unlink()
            (folder / "__model__").write_bytes(desc.serialize(program))
            save_separate_params(str(folder), values)
            found.append(folder)
        return found

    def take(self, data: bytes, number: int) -> None:
        from wherry_paddle_files.models import load_model

        with self.unpacked(data) as folder, contextlib.suppress(FileNotFoundError):
            if number % 4 == 0 and os.path.exists(f"{folder}/__model__"):
                wherry.load(folder)
            program = load_model(folder)
            if number % 8 == 1:
                run(program)


class Checkpoints(Folders):
    what = "checkpoints"

    def sound_folders(self) -> list[Path]:
        from wherry_distributed.checkpoint import save_state_dict

        net = wherry.nn.Linear(3, 2)
        states: list[dict[str, Any]] = [
            {"net": net.state_dict(), "epoch": 3, "name": "x"},
            {"w": wherry.ones([4, 2], "bfloat16"), "e": wherry.zeros([0, 3]), "s": wherry.to_tensor(1)},
        ]
        found = []
        for number, state in enumerate(states):
            save_state_dict(state, f"{self.folder}/{number}")
            found.append(Path(f"{self.folder}/{number}"))
        return found

    def take(self, data: bytes, number: int) -> None:
        from wherry_distributed.checkpoint import METADATA, _checksum, load_whole

        with self.unpacked(data) as folder, contextlib.suppress(FileNotFoundError):
            path = Path(folder, METADATA)
            if not path.exists():
                return
            if number % 2:  # with a checksum that fits, as an attacker has it
                with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                    read = json.loads(path.read_bytes())
                    path.write_text(json.dumps(read | {"crc": _checksum(read)}))
            load_whole(folder, return_numpy=bool(number & 4))


class Training(Files):
    what = "training"

    def sound_files(self) -> list[bytes]:
        from wherry_train import Checkpoint

        net = wherry.nn.Linear(3, 2)
        optimizer = wherry.optimizer.Adam(learning_rate=wherry.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters())
        self.run = Checkpoint(self.path, net=net, optimizer=optimizer)
        files = []
        for _ in self.run.epochs(2):
            for x in self.run.batches([wherry.ones([4, 3])] * 2):
                net(x).sum().backward()
                optimizer.step()
                optimizer.clear_grad()
                self.run.save()
                files.append(Path(self.path).read_bytes())
        return files

    def take(self, data: bytes, number: int) -> None:
        with self.written(data) as path:
            self.run.path = Path(path)
            try:
                self.run.restore()
            except InvalidArgumentError as error:  # a sound file of another training
                if not raised_on_purpose(error):
                    raise


class Inspected(Files):
    """File number n, of any kind, as `wherry inspect` shows it. Its ending stands before its content."""

    what = "inspect"

    def sound_files(self) -> list[bytes]:
        from fuzz_quantized import gguf

        kinds: list[tuple[str, list[bytes]]] = [
            (".pdmodel", list(one_op_programs())[::9]), (".json", _of_paddle3()[::9]), (".pth", of_others("*.pth", "*.pt")),
            (".gguf", [gguf(2), gguf(3)]), (".npz", of_others("*.npz", "*.npy")), (".safetensors", of_others("*.safetensors")),
            (".pdparams", pickles()[::3]), (".onnx", _stored("onnx")), (".pt2", _stored("pt2")),
        ]
        self.endings = {data: ending for ending, files in kinds for data in files}
        return list(self.endings)

    def make(self, number: int) -> bytes:
        rng = random.Random(f"file {self.seed}/{number}")
        sound = rng.choice(self.sound)
        return self.endings[sound].encode() + b"|" + changed(rng, sound, self.sound)

    def take(self, data: bytes, number: int) -> None:
        from wherry._inspect import as_json, as_text, inspected

        ending, _, content = data.partition(b"|")
        if data in self.endings:
            ending, content = self.endings[data].encode(), data
        with self.written(content, ending.decode()) as path:
            try:
                found = inspected(path)
            except (NotImplementedError, ValueError) as error:
                if not raised_on_purpose(error):
                    raise
                return
            as_text(found)
            as_json(found)


READERS: dict[str, type[Files]] = {kind.what: kind for kind in (
    Files, Torch, NumPy, Safetensors, Models, Params, Paddle3Models, OnnxModels, ExportedModels, Paddle1, Saved, Checkpoints, Training, Inspected,
)}
