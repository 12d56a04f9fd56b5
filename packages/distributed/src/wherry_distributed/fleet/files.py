"""Files of jobs: on this machine (`LocalFS`), and in a Hadoop cluster by its command line (`HDFSClient`)."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import ExternalError, InvalidArgumentError, UnavailableError, short


class FSFileExistsError(FileExistsError):
    """The new path of a move or a download is there already."""


class FSFileNotExistsError(FileNotFoundError):
    """There is no such path."""


class ExecuteError(ExternalError):
    """A command of Hadoop has failed."""


class FSTimeOut(TimeoutError):  # noqa: N818  Paddle's name
    """A command of Hadoop took too long."""


class LocalFS:
    """Files of this machine.

    Source:
        `paddle.distributed.fleet.utils.LocalFS`.

    Examples:
        >>> import tempfile
        >>> files, folder = wherry.distributed.fleet.utils.LocalFS(), tempfile.mkdtemp()
        >>> files.touch(folder + "/a")
        >>> files.ls_dir(folder), files.is_file(folder + "/a")
        (([], ['a']), True)
    """

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Folders and files in a folder."""
        if not self.is_exist(fs_path):
            return [], []
        names = sorted(os.listdir(fs_path))
        return [n for n in names if os.path.isdir(os.path.join(fs_path, n))], [n for n in names if not os.path.isdir(os.path.join(fs_path, n))]

    def list_dirs(self, fs_path: str) -> list[str]:
        """Folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def is_exist(self, fs_path: str) -> bool:
        """Is there such a path?"""
        return os.path.exists(fs_path)

    def is_dir(self, fs_path: str) -> bool:
        """Is it a folder?"""
        return os.path.isdir(fs_path)

    def is_file(self, fs_path: str) -> bool:
        """Is it a file?"""
        return os.path.isfile(fs_path)

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder and those above."""
        os.makedirs(fs_path, exist_ok=True)

    def delete(self, fs_path: str) -> None:
        """Remove a file or a folder."""
        if os.path.isdir(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.exists(fs_path):
            os.remove(fs_path)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a path another name."""
        os.rename(fs_src_path, fs_dst_path)

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Move a path.

        Raises:
            FileNotFoundError: there is no such path.
            FileExistsError: the new one exists, and `overwrite` is False.
        """
        if not os.path.exists(src_path):
            raise FSFileNotExistsError(f"LocalFS.mv: {src_path} is not there. Got it, expected a path that exists. Ask is_exist(path).")
        if os.path.exists(dst_path):
            if not overwrite:
                raise FSFileExistsError(f"LocalFS.mv: {dst_path} exists. Got it, expected a new path. Pass overwrite=True.")
            self.delete(dst_path)
        os.rename(src_path, dst_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file."""
        with open(fs_path, "a" if exist_ok else "x"):
            pass

    def upload(self, local_path: str, fs_path: str) -> None:
        """Copy a file or folder: both lie on this machine."""
        if os.path.isdir(local_path):
            shutil.copytree(local_path, fs_path, dirs_exist_ok=True)
        else:
            shutil.copy(local_path, fs_path)

    download = upload

    def need_upload_download(self) -> bool:
        """Are files elsewhere?"""
        return False

    def cat(self, fs_path: str) -> str:
        """What a file holds."""
        with open(fs_path, encoding="utf-8") as file:
            return file.read()


class HDFSClient:
    """Files of a Hadoop cluster, by the command `hadoop fs` of an installation.

    Paths are given to the command as arguments of their own, so nothing in them is taken for a command.

    Args:
        hadoop_home: the installation; `bin/hadoop` in it is called.
        configs: options of Hadoop: `{"fs.default.name": "hdfs://...", "hadoop.job.ugi": "user,password"}`.
        time_out: milliseconds that a command, with its repetitions, may take.
        sleep_inter: milliseconds between two repetitions of a command that has failed.

    Raises:
        RuntimeError: there is no such command.
        OSError: a command fails; the message has what it says.

    Source:
        `paddle.distributed.fleet.utils.HDFSClient`.
    """

    def __init__(self, hadoop_home: str, configs: dict[str, str] | None = None, time_out: int = 5 * 60 * 1000, sleep_inter: int = 1000) -> None:
        self._command = os.path.join(path_of(hadoop_home, "HDFSClient", "hadoop_home"), "bin", "hadoop")
        if not os.access(self._command, os.X_OK):
            raise UnavailableError(
                f"HDFSClient: Hadoop is not there. Got hadoop_home={short(hadoop_home)} without an executable bin/hadoop, expected an installation. "
                f"Pass its folder."
            )
        self._options = [f"-D{name}={value}" for name, value in (configs or {}).items()]
        self._time_out, self._sleep = time_out / 1000, sleep_inter / 1000

    def _run(self, *arguments: str, fails: bool = True, tries: int = 3) -> tuple[int, str]:
        """A command of `hadoop fs`: status and what it says. Where `fails`, one that ends with an error is repeated, then raised."""
        end = time.monotonic() + self._time_out
        for attempt in range(tries):
            try:
                done = subprocess.run(
                    [self._command, "fs", *self._options, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                    timeout=max(0.01, end - time.monotonic()),
                )
            except subprocess.TimeoutExpired:
                raise FSTimeOut(f"HDFSClient: hadoop fs {' '.join(arguments)} has not ended after {self._time_out:g} s.") from None
            if not done.returncode or not fails:
                return done.returncode, done.stdout
            if attempt + 1 < tries:
                time.sleep(self._sleep)
        raise ExecuteError(f"HDFSClient: hadoop fs {' '.join(arguments)} failed with status {done.returncode}: {done.stderr.strip()[-1000:]}")

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Folders and files in a folder, by name."""
        if not self.is_exist(fs_path):
            return [], []
        folders: list[str] = []
        names: list[str] = []
        for line in self._run("-ls", fs_path)[1].splitlines():
            parts = line.split(None, 7)
            if len(parts) == 8:
                (folders if parts[0].startswith("d") else names).append(os.path.basename(parts[7]))
        return folders, names

    def list_dirs(self, fs_path: str) -> list[str]:
        """Folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def list_files_info(self, path_list: Sequence[str]) -> list[dict[str, Any]]:
        """Path and size in bytes of files."""
        found = []
        for path in path_list:
            for line in self._run("-ls", path)[1].splitlines():
                parts = line.split(None, 7)
                if len(parts) == 8 and not parts[0].startswith("d"):
                    found.append({"path": parts[7], "size": int(parts[4])})
        return found

    def is_exist(self, fs_path: str) -> bool:
        """Is there such a path?"""
        return self._run("-test", "-e", fs_path, fails=False)[0] == 0

    def is_dir(self, fs_path: str) -> bool:
        """Is it a folder?"""
        return self._run("-test", "-d", fs_path, fails=False)[0] == 0

    def is_file(self, fs_path: str) -> bool:
        """Is it a file?"""
        return self.is_exist(fs_path) and not self.is_dir(fs_path)

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder and those above."""
        if not self.is_exist(fs_path):
            self._run("-mkdir", "-p", fs_path)

    def delete(self, fs_path: str) -> None:
        """Remove a file or a folder."""
        if self.is_exist(fs_path):
            self._run("-rm", "-r", "-f", fs_path)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a path another name."""
        self.mv(fs_src_path, fs_dst_path)

    def mv(self, fs_src_path: str, fs_dst_path: str, overwrite: bool = False, test_exists: bool = True) -> None:
        """Move a path.

        Raises:
            FileNotFoundError, FileExistsError: with `test_exists`, the old one is not there; the new one is, and `overwrite` is False.
        """
        if overwrite:
            self.delete(fs_dst_path)
        if test_exists:
            if not self.is_exist(fs_src_path):
                raise FSFileNotExistsError(f"HDFSClient.mv: {fs_src_path} is not there. Got it, expected a path that exists. Ask is_exist(path).")
            if self.is_exist(fs_dst_path):
                raise FSFileExistsError(f"HDFSClient.mv: {fs_dst_path} exists. Got it, expected a new path. Pass overwrite=True.")
        self._run("-mv", fs_src_path, fs_dst_path, tries=1)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file."""
        if self.is_exist(fs_path):
            if not exist_ok:
                raise FSFileExistsError(f"HDFSClient.touch: {fs_path} exists. Got it, expected a new path. Pass exist_ok=True.")
            return
        self._run("-touchz", fs_path)

    def cat(self, fs_path: str | None = None) -> str:
        """What a file holds; "" where there is none."""
        return self._run("-cat", fs_path)[1].rstrip("\n") if fs_path and self.is_file(fs_path) else ""

    def upload(self, local_path: str, fs_path: str, multi_processes: int = 5, overwrite: bool = False) -> None:
        """Copy a file, or a folder file by file, `multi_processes` at a time, into the cluster.

        Raises:
            FileNotFoundError: there is no such local path.
            FileExistsError: the target is there, and `overwrite` is False.
        """
        if not os.path.exists(local_path):
            raise FSFileNotExistsError(f"HDFSClient.upload: {local_path} is not there. Got it, expected a local path that exists.")
        if self.is_exist(fs_path) and not self.is_dir(fs_path):
            if not overwrite:
                raise FSFileExistsError(f"HDFSClient.upload: {fs_path} exists. Got it, expected a new path. Pass overwrite=True.")
            self.delete(fs_path)
        self._run("-put", *(["-f"] if overwrite else []), local_path, fs_path)

    def upload_dir(self, local_dir: str, dest_dir: str, overwrite: bool = False) -> None:
        """Copy a folder into the cluster."""
        target = f"{dest_dir.rstrip('/')}/{os.path.basename(local_dir.rstrip('/'))}"
        if self.is_exist(target):
            if not overwrite:
                raise FSFileExistsError(f"HDFSClient.upload_dir: {target} exists. Got it, expected a new path. Pass overwrite=True.")
            self.delete(target)
        self._run("-put", local_dir, dest_dir)

    def download(self, fs_path: str, local_path: str, multi_processes: int = 5, overwrite: bool = False) -> None:
        """Copy a file, or the files of a folder, `multi_processes` at a time, from the cluster.

        Raises:
            FileNotFoundError: there is no such path in the cluster.
            FileExistsError: the local path is there, and `overwrite` is False.
        """
        if multi_processes < 1:
            raise InvalidArgumentError(
                f"HDFSClient.download: multi_processes is not a number of processes. Got {multi_processes}, expected >= 1. "
                f"Pass 1."
            )
        if not self.is_exist(fs_path):
            raise FSFileNotExistsError(f"HDFSClient.download: {fs_path} is not there. Got it, expected a path that exists. Ask is_exist(path).")
        if os.path.exists(local_path) and not overwrite and not os.path.isdir(local_path):
            raise FSFileExistsError(f"HDFSClient.download: {local_path} exists. Got it, expected a new path. Pass overwrite=True.")
        if self.is_file(fs_path):
            self._run("-get", *(["-f"] if overwrite else []), fs_path, local_path)
            return
        folders, names = self.ls_dir(fs_path)
        os.makedirs(local_path, exist_ok=True)
        with ThreadPoolExecutor(multi_processes) as pool:
            list(pool.map(lambda name: self._run("-get", *(["-f"] if overwrite else []), f"{fs_path}/{name}", local_path), [*folders, *names]))

    def need_upload_download(self) -> bool:
        """Are files elsewhere?"""
        return True
