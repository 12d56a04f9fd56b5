"""`paddle.hub`: models of a folder, or of a repository on GitHub or Gitee, that a file `hubconf.py` lists."""
from __future__ import annotations

import builtins
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from types import ModuleType
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, short
from wherry_train.download import fetched

__all__ = ["help", "list", "load"]

HUB_HOME = os.path.expanduser("~/.cache/paddle/hub")
_CONFIG = "hubconf.py"
_MOST_BYTES = 1 << 32


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:  # noqa: A001  Paddle's name
    r"""The names of the models: the functions of `hubconf.py` that do not begin with an underscore.

    Args:
        repo_dir: a folder, for the source "local"; else owner/name, or owner/name:branch.
        source: "github", "gitee" or "local".
        force_reload: download again what was downloaded before.

    Raises:
        ValueError: `source` is unknown, or `repo_dir` is not owner/name or owner/name:branch.
        RuntimeError: there is no `hubconf.py`, or no network.

    Source:
        `paddle.hub.list`. `hubconf.py` is run: take it from people whom you trust.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "hubconf.py").write_text("def tiny(width=4):\n    'A small network.'\n")
        ...     wherry.hub.list(folder, source="local")
        ['tiny']
    """
    return _models(_configuration(repo_dir, source, force_reload))


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:  # noqa: A001  Paddle's name
    r"""The docstring of a model's function, as `list` for the rest.

    Args:
        repo_dir: as for `list`.
        model: the name of the function.
        source: as for `list`.
        force_reload: as for `list`.

    Returns:
        The docstring; None if the function has none.

    Raises:
        ValueError: `source` is unknown, or `model` is not a str.
        RuntimeError: there is no `hubconf.py`, or no such function in it.

    Source:
        `paddle.hub.help`.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "hubconf.py").write_text("def tiny(width=4):\n    'A small network.'\n")
        ...     wherry.hub.help(folder, "tiny", source="local")
        'A small network.'
    """
    return _entry(_configuration(repo_dir, source, force_reload), model).__doc__  # type: ignore[no-any-return]


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    r"""Call the function of a model and return its result.

    Args:
        repo_dir: as for `list`.
        model: the name of the function.
        source: as for `list`.
        force_reload: as for `list`.
        kwargs: arguments of the function.

    Raises:
        ValueError: `model` is not a str.
        RuntimeError: there is no such function, or a package that `dependencies` names is missing.

    Source:
        `paddle.hub.load`.

    Examples:
        >>> import pathlib, tempfile
        >>> code = "import wherry\ndef tiny(width=4):\n    return wherry.nn.Linear(width, 2)\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "hubconf.py").write_text(code)
        ...     wherry.hub.load(folder, "tiny", source="local", width=8)
        Linear(in_features=8, out_features=2, dtype=float32)
    """
    module = _configuration(repo_dir, source, force_reload)
    missing = [name for name in getattr(module, "dependencies", []) if name not in sys.modules and importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"hub: Missing dependencies: {', '.join(missing)}. {_CONFIG} asks for them. pip install {' '.join(missing)}.")
    return _entry(module, model)(**kwargs)


def _models(module: ModuleType) -> builtins.list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _entry(module: ModuleType, model: Any) -> Any:
    if not isinstance(model, str):
        raise InvalidArgumentError(f"hub: Invalid input: model should be a str of function name. Got {short(model)}, expected a str.")
    found = getattr(module, model, None)
    if not callable(found):
        expected = ", ".join(_models(module)) or "none"
        raise RuntimeError(f"hub: Cannot find callable {model} in hubconf. Got {short(model)}, expected one of {expected}.")
    return found


def _configuration(repo_dir: Any, source: Any, force_reload: bool) -> ModuleType:
    """The module that `hubconf.py` of the repository makes."""
    if source not in ("github", "gitee", "local"):
        got = source if isinstance(source, str) else short(source)
        raise InvalidArgumentError(f'hub: Unknown source: "{got}". Allowed values: "github" | "gitee" | "local".')
    if not isinstance(repo_dir, (str, os.PathLike)):
        raise InvalidArgumentError(f"hub: got repo_dir {short(repo_dir)}, expected a str.")
    folder = os.fspath(repo_dir) if source == "local" else _downloaded(os.fspath(repo_dir), source, force_reload)
    path = os.path.join(folder, _CONFIG)
    if not os.path.isfile(path):
        raise RuntimeError(f"hub: there is no {_CONFIG}. Got the folder {folder}, expected one with that file. Check repo_dir and source.")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)  # it may import modules beside it
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise RuntimeError(f"hub: {path} cannot be imported: {error}. Install what it needs.") from error
    finally:
        sys.path.remove(folder)
    return module


def _downloaded(repository: str, source: str, force_reload: bool) -> str:
    """The folder of a repository's branch, from the network where it is not there yet."""
    match = re.fullmatch(r"([\w.-]+)/([\w.-]+)(?::([\w./-]+))?", repository)
    if match is None or ".." in repository:
        raise InvalidArgumentError(f"hub: got repo_dir {short(repository)}, expected owner/name, owner/name:branch, or source='local'.")
    owner, name, branch = match[1], match[2], match[3] or ("main" if source == "github" else "master")
    folder = os.path.join(HUB_HOME, f"{owner}_{name}_{branch.replace('/', '_')}")
    if os.path.isdir(folder) and not force_reload:
        return folder
    url = {
        "github": f"https://github.com/{owner}/{name}/archive/{branch}.zip",
        "gitee": f"https://gitee.com/{owner}/{name}/repository/archive/{branch}.zip",
    }[source]
    os.makedirs(HUB_HOME, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HUB_HOME) as temporary:
        unpacked = unpack(fetched(url, temporary), os.path.join(temporary, "unpacked"))
        if os.path.isdir(folder):
            shutil.rmtree(folder)
        os.replace(unpacked, folder)
    return folder


def unpack(archive: str, folder: str) -> str:
    """Unpack a zip file; returns the one folder that it holds.

    Raises:
        RuntimeError: it is damaged, too large, or holds something else.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            size = sum(one.file_size for one in file.infolist())
            if size > _MOST_BYTES:
                raise RuntimeError(f"hub: the repository is too large. Got {size} bytes, expected at most {_MOST_BYTES}.")
            file.extractall(folder)  # names with .. or a leading / stay within: zipfile takes that out
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise RuntimeError(f"hub: the archive cannot be unpacked: {error}.") from error
    names = os.listdir(folder)
    if len(names) != 1 or not os.path.isdir(os.path.join(folder, names[0])):
        raise RuntimeError(f"hub: the archive holds {len(names)} entries, expected one folder.")
    return os.path.join(folder, names[0])
