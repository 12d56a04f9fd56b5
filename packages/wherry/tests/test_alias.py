"""`paddle` as another name of Wherry: from a program, in its children, in pytest."""
import subprocess
import sys

import pytest


def python(*arguments, cwd=None, text=None):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, input=text)


def test_a_program_takes_the_alias_itself():
    done = python("-c", (
        "import wherry; wherry.alias_paddle(); import paddle, paddle.nn.functional as F\n"
        "assert paddle is wherry and F is wherry.nn.functional\n"
        "print(paddle.__version__, paddle.version.full_version, paddle.version.major, paddle.version.wherry_version)\n"
        "paddle.utils.require_version('2.6.0')"
    ))
    version = done.stdout.split()
    assert version[:3] == ["2.6.2", "2.6.2", "2"] and version[3] != "2.6.2", done.stderr


def test_without_the_alias_the_version_is_ours():
    import wherry

    assert wherry.__version__ == wherry.version.full_version == wherry.version.wherry_version


def test_another_paddle_is_not_mixed_in(tmp_path):
    (tmp_path / "paddle.py").write_text("")
    done = python("-c", "import paddle, wherry; wherry.alias_paddle()", cwd=tmp_path)
    assert "alias_paddle: another paddle is imported already" in done.stderr


def test_pytest_takes_the_alias_as_a_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text("import paddle\ndef test_it():\n    assert paddle.ones([2]).sum().item() == 2\n")
    done = python("-m", "pytest", "-q", "-p", "wherry.alias", "-p", "no:cacheprovider", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


CHILDREN = """
import multiprocessing, subprocess, sys
import paddle

def child(queue):
    import paddle
    queue.put(paddle.ones([2]).sum().item())

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(queue.get(timeout=300), flush=True)
    process.join()
    subprocess.run([sys.executable, "-c", "import paddle, paddle.nn; print(paddle.__name__)"], check=True)
"""


def test_children_of_a_script_know_paddle(tmp_path):
    (tmp_path / "script.py").write_text(CHILDREN)
    done = python("-m", "wherry", "run", str(tmp_path / "script.py"))
    assert done.stdout == "2.0\nwherry\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-c", "import paddle, sys; print(__name__, paddle.__version__, sys.argv)", "a", "-b"], None),
        (["-", "a", "-b"], "import paddle, sys; print(__name__, paddle.__version__, sys.argv)"),
        (["-m", "inner", "a", "-b"], None),
        (["-m", "outer.module", "a", "-b"], None),
    ],
)
def test_programs_come_in_every_form_that_python_knows(tmp_path, arguments, text):
    program = "import paddle, sys; print(__name__, paddle.__version__, sys.argv)"
    for name in ("inner/__main__.py", "outer/module.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).with_name("__init__.py").write_text("")
        (tmp_path / name).write_text(program)
    done = python("-m", "wherry", "run", *arguments, cwd=tmp_path, text=text)
    assert done.stdout.startswith("__main__ 2.6.2 [") and done.stdout.endswith("'a', '-b']\n"), done.stderr


def test_pillow_brings_its_images_along_as_after_paddle():
    pytest.importorskip("PIL")
    said = "import wherry.alias, sys; assert 'PIL' not in sys.modules; import PIL; print(PIL.Image.new('L', (2, 3)).size, PIL.__version__)"
    assert python("-c", said).stdout.startswith("(2, 3) ")


@pytest.mark.parametrize(("arguments", "said"), [(["-m"], "-m names no module"), (["-m", "no_such.thing"], "no such module"), (["-c"], "no code")])
def test_what_cannot_be_run_is_explained(arguments, said):
    done = python("-m", "wherry", "run", *arguments)
    assert done.returncode == 2 and said in done.stderr


def test_exit_status_and_tracebacks_are_the_programs(tmp_path):
    assert python("-m", "wherry", "run", "-c", "raise SystemExit(7)").returncode == 7
    (tmp_path / "script.py").write_text(
        "import paddle\n\ndef inner():\n    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Linear(5, 2))\n"
        "    net(paddle.ones([2, 3]))\n\ninner()\n"
    )
    done = python("-m", "wherry", "run", "script.py", cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if set(line.strip()) - set("^~")]
    assert done.returncode == 1
    assert lines[:5] == [
        "Traceback (most recent call last):",
        '  File "script.py", line 7, in <module>', "    inner()",
        '  File "script.py", line 5, in inner', "    net(paddle.ones([2, 3]))",
    ]
    assert lines[5].startswith("wherry_tensor.errors.InvalidArgumentError: (InvalidArgument) linear:")
    assert lines[6:] == ["in layer '1': Linear(in_features=5, out_features=2, dtype=float32)"]


def test_a_plain_script_gets_the_same_traceback(tmp_path):
    (tmp_path / "script.py").write_text("import wherry\nwherry.nn.functional.conv2d(wherry.ones([2, 3]), wherry.ones([2, 3]))\n")
    done = python("script.py", cwd=tmp_path)
    assert done.stderr.count("  File ") == 1 and "(InvalidArgument) conv2d:" in done.stderr
    done = python("-c", "import wherry; wherry.sum(wherry.ones([2]), keepdims=True)")
    assert done.stderr.endswith("Did you mean 'keepdim'?\n")
