"""Data sets of images in folders."""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnavailableError, short
from wherry_train.io.dataset import Dataset
from wherry_vision.image import get_image_backend, image_load, picture_of

__all__ = ["DatasetFolder", "ImageFolder"]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _loaded(path: str) -> Any:
    if get_image_backend() == "cv2":
        return image_load(path, "cv2")
    with open(path, "rb") as file:
        return picture_of("DatasetFolder", file, path).convert("RGB")


def _accepting(kind: str, extensions: Any, is_valid_file: Any) -> tuple[Any, Callable[[str], bool]]:
    """The file name extensions to read, and a function that decides for a path."""
    if extensions is not None and is_valid_file is not None:
        raise InvalidArgumentError(f"{kind}: Both extensions and is_valid_file cannot be not None at the same time. Got both, expected one of them.")
    if is_valid_file is not None:
        if not callable(is_valid_file):
            raise InvalidTypeError(f"{kind}: is_valid_file is not callable. Got {short(is_valid_file)}, expected one.")
        return extensions, is_valid_file
    endings = IMG_EXTENSIONS if extensions is None else extensions
    if not isinstance(endings, (list, tuple, str)) or not all(isinstance(ending, str) for ending in endings):
        raise InvalidTypeError(f"{kind}: extensions is not a list of file name extensions. Got {short(extensions)}, expected some like ('.png',).")
    small = tuple(ending.lower() for ending in ([endings] if isinstance(endings, str) else endings))
    return endings, lambda path: path.lower().endswith(small)


def _files(folder: str, accepted: Callable[[str], bool]) -> Iterator[str]:
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if accepted(path):
                yield path


class DatasetFolder(Dataset):
    """Files in one folder for each class: `root/cat/a.png`, `root/dog/b/c.png`.

    Args:
        root: the folder of the classes' folders.
        loader: makes a sample from a path; None reads an RGB image.
        extensions: the file name extensions to read; None takes those of images.
        transform: a function that each sample goes through.
        is_valid_file: a function of a path that decides whether to read it, in place of `extensions`.

    Attributes:
        classes: the names of the folders, in order.
        class_to_idx: their numbers.
        samples: path and class of each file.
        targets: the class of each file.

    Returns:
        Of an index: the sample, and the number of its class.

    Raises:
        RuntimeError: no file is found.
        ValueError: both `extensions` and `is_valid_file` are given; while reading, a file is not an image.

    Source:
        `paddle.vision.datasets.DatasetFolder`.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("cat", "dog"):
        ...         pathlib.Path(folder, name).mkdir()
        ...         np.save(f"{folder}/{name}/a.npy", np.zeros([4, 5]))
        ...     data = wherry.vision.datasets.DatasetFolder(folder, loader=np.load, extensions=(".npy",))
        ...     sample, label = data[1]
        >>> data.classes, sample.shape, label
        (['cat', 'dog'], (4, 5), 1)
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        path_of(root, "DatasetFolder", "root")
        self.root = root
        self.transform = transform
        self.extensions, accepted = _accepting("DatasetFolder", extensions, is_valid_file)
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [(path, i) for name, i in self.class_to_idx.items() for path in _files(os.path.join(root, name), accepted)]
        if not self.samples:
            ends = f"\nSupported extensions are: {','.join(self.extensions)}" if self.extensions else ""
            raise UnavailableError(f"DatasetFolder: Found 0 directories in subfolders of: {root}{ends}. Expected root/class/file.")
        seen = {target for _, target in self.samples}
        empty = [name for name, i in self.class_to_idx.items() if i not in seen]
        if empty:
            warnings.warn(
                f"DatasetFolder: {root} has classes without a sample. Got nothing to read in {', '.join(empty)}, expected files. They count as "
                f"classes all the same, as in Paddle: take such folders away, or name their extensions.", UserWarning, stacklevel=2,
            )
        self.loader = _loaded if loader is None else loader
        self.targets = [target for _, target in self.samples]
        self.dtype = "float32"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """All images in a folder and the folders below it.

    Args:
        root: the folder.
        loader: makes a sample from a path; None reads an RGB image.
        extensions: the file name extensions to read; None takes those of images.
        transform: a function that each sample goes through.
        is_valid_file: a function of a path that decides whether to read it, in place of `extensions`.

    Attributes:
        samples: the paths.

    Returns:
        Of an index: a list with the sample.

    Raises:
        RuntimeError: no file is found.
        ValueError: both `extensions` and `is_valid_file` are given; while reading, a file is not an image.

    Source:
        `paddle.vision.datasets.ImageFolder`.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/a.npy", np.zeros([4, 5]))
        ...     data = wherry.vision.datasets.ImageFolder(folder, loader=np.load, extensions=(".npy",))
        ...     [sample] = data[0]
        >>> sample.shape
        (4, 5)
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        path_of(root, "ImageFolder", "root")
        self.root = root
        self.transform = transform
        self.extensions, accepted = _accepting("ImageFolder", extensions, is_valid_file)
        self.samples = list(_files(root, accepted))
        if not self.samples:
            ends = f"\nSupported extensions are: {','.join(self.extensions)}" if self.extensions else ""
            raise UnavailableError(f"ImageFolder: Found 0 files in subfolders of: {root}{ends}. Expected pictures.")
        self.loader = _loaded if loader is None else loader

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        if self.transform is not None:
            sample = self.transform(sample)
        return [sample]

    def __len__(self) -> int:
        return len(self.samples)
