"""Downloads with unpacking. Source: `paddle.utils.download`."""
from __future__ import annotations

import logging
import os
import tarfile
import urllib.parse
import zipfile
from collections.abc import Iterable

from wherry_tensor.errors import InvalidArgumentError, short
from wherry_train.download import WEIGHTS_HOME, fetched, md5_of

__all__ = ["DOWNLOAD_RETRY_LIMIT", "WEIGHTS_HOME", "get_path_from_url", "is_url", "logger"]

DOWNLOAD_RETRY_LIMIT = 3
logger = logging.getLogger("wherry.utils.download")


def is_url(path: str) -> bool:
    """Does a path begin with http:// or https://?"""
    return path.startswith(("http://", "https://"))


def _map_path(url: str, root_dir: str) -> str:
    """Where the file of an address lies in a folder."""
    return os.path.join(root_dir, url.split("/")[-1])


def _md5check(fullname: str, md5sum: str | None = None) -> bool:
    return md5sum is None or md5_of(fullname) == md5sum


def _download(url: str, path: str, md5sum: str | None = None, method: str = "get") -> str:
    return fetched(url, path, md5sum)


def _get_unique_endpoints(trainer_endpoints: Iterable[str]) -> set[str]:
    """The first endpoint of each machine."""
    by_machine: dict[str, str] = {}
    for endpoint in trainer_endpoints:
        by_machine.setdefault(endpoint.split(":")[0], endpoint)
    return set(by_machine.values())


def _top(names: Iterable[str]) -> str | None:
    """The folder that all members of an archive lie in, or its only file; None where there are several."""
    tops = {name.replace("\\", "/").removeprefix("./").split("/")[0] for name in names} - {"", "."}
    return tops.pop() if len(tops) == 1 else None


def _decompress(fname: str) -> str:
    """Unpack a tar or zip file beside itself; the path of what was in it: the only member at its top, or a folder named as the file.

    Raises:
        ValueError: it is neither, or a member would lie outside of the folder.
    """
    folder = os.path.dirname(os.path.abspath(fname))
    if tarfile.is_tarfile(fname):
        with tarfile.open(fname) as archive:
            top = _top(archive.getnames())
            target = folder if top else _folder_of(fname)
            try:
                archive.extractall(target, filter="data")
            except tarfile.FilterError as error:
                raise InvalidArgumentError(
                    f"download: {fname} holds what an archive of data has not. Got {error}, expected files inside of it. Unpack it yourself, if "
                    f"you trust it."
                ) from None
    elif zipfile.is_zipfile(fname):
        with zipfile.ZipFile(fname) as archive:
            top = _top(archive.namelist())
            target = folder if top else _folder_of(fname)
            archive.extractall(target)  # noqa: S202  members of zip files are kept inside by extractall itself
    else:
        raise InvalidArgumentError(
            f"download: there is no way to unpack {short(fname)}. Got neither a tar nor a zip file, expected one. Pass decompress=False."
        )
    return os.path.join(target, top) if top else target


def _folder_of(fname: str) -> str:
    folder, name = os.path.split(os.path.abspath(fname))
    return os.path.join(folder, name.split(".")[0])


def get_path_from_url(
    url: str, root_dir: str, md5sum: str | None = None, check_exist: bool = True, decompress: bool = True, method: str = "get"
) -> str:
    """The path of a file from the network, which is downloaded into a folder when it is not there, and unpacked if it is an archive.

    Args:
        url: its address, http or https.
        root_dir: the folder.
        md5sum: of the file; None takes any.
        check_exist: take a file that is there and has the digest; False downloads it again.
        decompress: unpack tar and zip files, and return the path of what was in them.
        method: no effect: how Paddle downloads.

    Raises:
        RuntimeError: it cannot be downloaded, or is another file than expected.
        ValueError: `url` is not an address.
    """
    if not is_url(url):
        raise InvalidArgumentError(f"download: this is not an address. Got {short(url)}, expected http:// or https://. Pass the address of a file.")
    path = _map_path(urllib.parse.urlsplit(url).path, root_dir)
    if not check_exist and os.path.isfile(path):
        os.remove(path)
    path = fetched(url, root_dir, md5sum)
    return _decompress(path) if decompress and (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)) else path
