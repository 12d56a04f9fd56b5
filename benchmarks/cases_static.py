"""The training steps of `cases_train` with captured models: `to_static` here, `torch.compile` there, and eager for comparison.

The first step of torch.compile runs a C++ compiler, for a minute or more of each case.
"""
from __future__ import annotations

import cases_train


def make(framework: str) -> dict[str, cases_train.Case]:
    if framework not in ("wherry", "eager", "torch"):
        return {}
    made = cases_train.make("wherry" if framework == "eager" else framework)  # trains a small model as it is
    if framework == "torch":
        import torch

        cases_train.convert = torch.compile
    elif framework == "wherry":
        import wherry

        cases_train.convert = wherry.jit.to_static
    return {name: case for name, case in made.items() if name.startswith("step: ") and "Embedding" not in name}
