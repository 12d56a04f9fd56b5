"""Many damaged programs in processes with the bounds of uploads: one process for some hundred of them, a new one where one ends.

    python uploads_fuzz.py FOLDER FIRST LAST MEMORY SECONDS      the side that reads and asks them
"""
from __future__ import annotations

import json
import random
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from wherry_web.isolated import bounded, end_after
from wherry_web.programs import Loaded, Refused, described

TOGETHER = 250


def mutated(content, rng):
    """The content with some bytes changed, taken out, put in or doubled."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del data[at : at + rng.randint(1, 20)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 20))
        elif kind == 3:
            data[at : at + 8] = struct.pack("<q", rng.choice([-1, 0, 1 << 31, 1 << 40, (1 << 63) - 1]))
        else:
            other = rng.randrange(len(data) + 1)
            data[at:at] = data[other : other + rng.randint(1, 50)]
    return bytes(data)


def run(folder, saved, count, limits):
    """What became of `count` damaged programs; each depends on its number alone."""
    found = {"refused": 0, "answered": 0, "ended": [], "other": [], "slowest": 0.0, "memory": 0}
    for first in range(0, count, TOGETHER):
        last = min(first + TOGETHER, count)
        for i in range(first, last):
            rng = random.Random(i)
            which = rng.choice(["pdmodel", "pdmodel", "pdiparams"])
            for suffix in ("pdmodel", "pdiparams"):
                content = mutated(saved[suffix], rng) if suffix == which else saved[suffix]
                (folder / f"{i}.{suffix}").write_bytes(content)
        at = first
        while at < last:
            done = subprocess.run(
                [sys.executable, __file__, folder, str(at), str(last), str(limits.memory), str(limits.answering)],
                capture_output=True,
            )
            for line in done.stdout.splitlines():
                kind, text, seconds, memory = json.loads(line)
                if kind == "other":
                    found["other"].append([at, text])
                else:
                    found[kind] += 1
                found["slowest"], found["memory"] = max(found["slowest"], seconds), max(found["memory"], memory)
                at += 1
            if at < last:
                found["ended"].append([at, done.returncode, done.stderr[-300:].decode(errors="replace")])
                at += 1
        for path in folder.glob("*.pd*"):
            path.unlink()
    return found


def become_of(prefix):
    try:
        inputs = described(prefix.with_name(f"{prefix.name}.pdmodel"))["inputs"]
        shapes = [[2 if n < 0 else n for n in one["shape"]] for one in inputs]
        if any(np.prod(shape, dtype=object) > 1 << 20 for shape in shapes):
            return "refused", "its inputs are larger than a request"
        Loaded(prefix).answer([np.ones(shape, one["dtype"]) for shape, one in zip(shapes, inputs, strict=True)])
    except (Refused, OSError, MemoryError, RecursionError) as error:  # as isolated.py takes them
        return "refused", str(error)
    except Exception as error:
        return "other", f"{type(error).__name__}: {error}"
    return "answered", ""


def main(folder, first, last, memory, seconds):
    bounded(memory)
    for i in range(first, last):
        end_after(seconds)
        begun = time.perf_counter()
        kind, text = become_of(folder / str(i))
        row = [kind, text[:300], time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
