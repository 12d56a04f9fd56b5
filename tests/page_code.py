"""The code that stands in a page of docs/, and how its C is compiled: for the tests that build what a page says."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import wherry_tensor

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of `language` in `page`, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def compile_c(source: str, target: str, folder: Path) -> None:
    """Make a library of `source`, in plain C11 and without a warning, as `target`; both are below `folder`."""
    subprocess.run(
        ["cc", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared",
         f"-I{wherry_tensor.get_include()}", source, "-o", target],
        cwd=folder, check=True,
    )
