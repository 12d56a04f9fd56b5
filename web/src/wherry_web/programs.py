"""Saved programs (`.pdmodel` with `.pdiparams`) as something that is asked: names and shapes of what goes in and out, arrays to arrays."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wherry_infer import Config, create_predictor
from wherry_paddle_files.models import read_program
from wherry_program import Program

MODEL, PARAMS = ".pdmodel", ".pdiparams"
LARGEST_ANSWER = 1 << 20  # numbers; as text they are some 20 MB
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


class Refused(ValueError):
    """The program cannot be used, or not with these inputs; the text is for those who asked."""


def files_of(prefix: Path) -> list[Path]:
    """The files of a program that there are: without parameters it is one."""
    paths = [prefix.with_name(prefix.name + suffix) for suffix in (MODEL, PARAMS)]
    return [paths[0], *(path for path in paths[1:] if path.exists())]


def described(path: Path) -> dict[str, Any]:
    """What a `.pdmodel` takes and gives, from the program alone.

    Raises:
        Refused: it cannot be read, or takes or gives what cannot be sent.
        OSError: it is not there.
    """
    try:
        return facts(read_program(path.read_bytes()))
    except (ValueError, NotImplementedError) as error:
        raise Refused(str(error)) from error


def facts(program: Program) -> dict[str, Any]:
    for x in (*program.feeds, *program.fetches):
        if x.dtype.name not in DTYPES:
            raise Refused(f"'{x.name}' cannot be sent. Got {x.dtype.name}, expected {', '.join(DTYPES)}. Convert it within the model.")
    if not program.feeds or not program.fetches:
        raise Refused(
            f"the program is not one that predicts. Got {len(program.feeds)} inputs and {len(program.fetches)} outputs, expected one of each at "
            f"least. Save it with paddle.jit.save or paddle.static.save_inference_model."
        )
    return {
        "inputs": [{"name": x.name, "dtype": x.dtype.name, "shape": list(x.sizes)} for x in program.feeds],
        "outputs": [{"name": x.name, "dtype": x.dtype.name, "shape": list(x.sizes)} for x in program.fetches],
    }


class Loaded:
    """A program with its parameters, ready to answer; one prediction at a time."""

    def __init__(self, prefix: Path) -> None:
        try:
            self._predictor = create_predictor(Config(*(str(prefix.with_name(prefix.name + suffix)) for suffix in (MODEL, PARAMS))))
        except (ValueError, NotImplementedError) as error:
            raise Refused(str(error)) from error
        self._lock = threading.Lock()

    def answer(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs in their order.

        Raises:
            Refused: the program does not compute with these inputs, or answers with more than can be sent.
        """
        predictor = self._predictor
        with self._lock:
            try:
                for name, array in zip(predictor.get_input_names(), arrays, strict=True):
                    predictor.get_input_handle(name).copy_from_cpu(array)
                predictor.run()
                handles = [predictor.get_output_handle(name) for name in predictor.get_output_names()]
                require_small([handle.shape() for handle in handles])
                return [handle.copy_to_cpu() for handle in handles]
            except (ValueError, NotImplementedError, RuntimeError, ArithmeticError, LookupError, TypeError, RecursionError) as error:
                raise error if isinstance(error, Refused) else Refused(str(error)) from error
            except MemoryError as error:
                raise Refused("there is not enough memory for these inputs. Send smaller ones.") from error


def require_small(shapes: Sequence[Sequence[int]]) -> None:
    numbers = sum(int(np.prod(shape, dtype=object)) for shape in shapes)
    if numbers > LARGEST_ANSWER:
        raise Refused(f"the answer is too large. Got {numbers} numbers, expected at most {LARGEST_ANSWER}. Send smaller inputs.")
