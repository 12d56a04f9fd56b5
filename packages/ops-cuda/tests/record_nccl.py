"""What NCCL answers to wrong calls, and its texts: asked of an installed library, which needs no GPU for them.

    python tests/record_nccl.py /path/to/nvidia/nccl      a wheel's folder, with lib and include; writes answers/nccl.json

The stand-in of the tests answers the same. Our numbers of types and operations are compared with the header.
"""
from __future__ import annotations

import ctypes
import json
import re
import sys
from pathlib import Path

ANSWERS = Path(__file__).parent / "answers" / "nccl.json"


def answers(library: ctypes.CDLL) -> list[list[object]]:
    """Each question, the status, and the text that the library keeps."""
    library.ncclGetErrorString.restype = library.ncclGetLastError.restype = ctypes.c_char_p
    found: list[list[object]] = [[f"ncclGetErrorString({status})", library.ncclGetErrorString(status).decode()] for status in range(10)]
    number, handle = ctypes.c_int(), ctypes.c_void_p()
    one = ctypes.c_size_t(1)

    def ask(what: str, status: int) -> None:
        found.append([what, status, library.ncclGetLastError(None).decode() if status else ""])

    ask("a group that has not begun", library.ncclGroupEnd())
    ask("all-reduce of no communicator", library.ncclAllReduce(None, None, one, 7, 0, None, None))
    ask("reduce of no communicator", library.ncclReduce(None, None, one, 7, 0, 0, None, None))
    ask("broadcast of no communicator", library.ncclBroadcast(None, None, one, 7, 0, None, None))
    ask("all-gather of no communicator", library.ncclAllGather(None, None, one, 7, None, None))
    ask("reduce-scatter of no communicator", library.ncclReduceScatter(None, None, one, 7, 0, None, None))
    ask("send of no communicator", library.ncclSend(None, one, 7, 0, None, None))
    ask("receive of no communicator", library.ncclRecv(None, one, 7, 0, None, None))
    ask("the size of no communicator", library.ncclCommCount(None, ctypes.byref(number)))
    ask("the rank of no communicator", library.ncclCommUserRank(None, ctypes.byref(number)))
    ask("the device of no communicator", library.ncclCommCuDevice(None, ctypes.byref(number)))
    ask("the error of no communicator", library.ncclCommGetAsyncError(None, ctypes.byref(number)))
    ask("destroy no communicator", library.ncclCommDestroy(handle))
    ask("abort no communicator", library.ncclCommAbort(handle))
    return found


def differing_numbers(header: str) -> list[str]:
    """Names of types and operations whose numbers in the header are not ours."""
    from wherry_distributed.nccl import DTYPES, OPERATIONS

    numbers = {name.lower(): int(number) for name, number in re.findall(r"nccl(\w+)\s*=\s*(\d+)", header)}
    return [name for name, number in (DTYPES | OPERATIONS).items() if numbers[name.lower()] != number]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if wrong := differing_numbers((folder / "include" / "nccl.h").read_text()):
        sys.exit(f"other numbers in {folder}/include/nccl.h: {', '.join(wrong)}")
    ANSWERS.write_text(json.dumps(answers(ctypes.CDLL(str(folder / "lib" / "libnccl.so.2"))), indent=1) + "\n")
