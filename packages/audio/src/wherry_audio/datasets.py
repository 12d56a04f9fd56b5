"""`paddle.audio.datasets`: recordings with a class each."""
from __future__ import annotations

import collections
import csv
import os
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wherry_audio.backends import load
from wherry_audio.features import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram
from wherry_nn import Layer
from wherry_tensor import Tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, PreconditionNotMetError, short
from wherry_tensor.explained import explained
from wherry_train import data_files
from wherry_train.data_files import mode_of, readable
from wherry_train.download import fetched
from wherry_train.io.dataset import Dataset

__all__ = ["ESC50", "TESS", "AudioClassificationDataset"]

_FEATURES: dict[str, Callable[..., Layer] | None] = {
    "raw": None, "melspectrogram": MelSpectrogram, "mfcc": MFCC, "logmelspectrogram": LogMelSpectrogram, "spectrogram": Spectrogram,
}  # fmt: skip


class AudioClassificationDataset(Dataset):
    """Wave files and the number of the class of each.

    Args:
        files: paths.
        labels: as many numbers.
        feat_type: "raw", "spectrogram", "melspectrogram", "logmelspectrogram" or "mfcc".
        sample_rate: of the files, where the features are to be told another one than the files say.
        **kwargs: arguments of the layer of `wherry.audio.features`.

    Returns:
        Of an index: the waveform `[time]` (`[channels, time]` where there are several), or its features `[features, frames]`; and the label.

    Raises:
        RuntimeError: `feat_type` is unknown.
        ValueError: there are more files than labels or the other way round, or, of an index, a file is damaged.

    Source:
        `paddle.audio.datasets.dataset.AudioClassificationDataset`.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "dog.wav")
        ...     wherry.audio.save(path, wherry.zeros([1, 4000]), 8000)
        ...     data = wherry.audio.datasets.AudioClassificationDataset([path], [3], "mfcc", n_mfcc=13)
        ...     features, label = data[0]
        >>> features.shape, label
        ([13, 32], 3)
    """

    def __init__(self, files: Sequence[Any], labels: Sequence[int], feat_type: str = "raw", sample_rate: int | None = None, **kwargs: Any) -> None:
        if feat_type not in _FEATURES:
            raise PreconditionNotMetError(f"Unknown feat_type: {short(feat_type)}, it must be one in {list(_FEATURES)}. Pass one of these.")
        if len(files) != len(labels):
            raise InvalidArgumentError(
                f"{type(self).__name__}: each file has a label. Got {len(files)} files and {len(labels)} labels, expected as many."
            )
        self.files, self.labels = files, labels
        self.feat_type, self.sample_rate, self.feat_config = feat_type, sample_rate, kwargs

    def __getitem__(self, idx: int) -> tuple[Tensor, int]:
        waveform, rate = load(self.files[idx])
        layer = _FEATURES[self.feat_type]
        if layer is not None:
            told = {} if layer is Spectrogram else {"sr": self.sample_rate or rate}
            waveform = layer(**told, **self.feat_config)(waveform)
        return (waveform.squeeze(0) if waveform.shape[0] == 1 else waveform), self.labels[idx]

    def __len__(self) -> int:
        return len(self.files)


def _unpacked(kind: str, archive: Any, place: str) -> str:
    """The folder that has `place` of an archive, which is downloaded and unpacked when it is missing."""
    home = data_files.DATA_HOME
    if not os.path.exists(os.path.join(home, place)):
        if not isinstance(archive, dict) or not {"url", "md5"} <= archive.keys():
            raise InvalidArgumentError(f"{kind}: the archive is not given. Got {short(archive)}, expected a dict with 'url' and 'md5'.")
        path = fetched(archive["url"], home, archive["md5"])
        with readable(kind, path), zipfile.ZipFile(path) as file:
            file.extractall(home)  # noqa: S202  members of zip files are kept inside by extractall itself
    return home


def _split_of(kind: str, split: Any, count: int) -> int:
    if not isinstance(split, int) or isinstance(split, bool) or not 1 <= split <= count:
        raise AssertedArgumentError(f"{kind}: The selected split should be integer, and 1 <= split <= {count}, but got {short(split)}.")
    return split


class ESC50(AudioClassificationDataset):
    """2000 recordings of five seconds, of fifty classes of sounds: Piczak, "ESC: Dataset for Environmental Sound Classification" (2015).

    Args:
        mode: "train" or "dev".
        split: which of the five parts of the recordings "dev" has, 1 to 5; "train" has the others.
        feat_type: "raw", or the features, as of `AudioClassificationDataset`, with their arguments as `kwargs`.
        archive: a dict of the `url` and `md5` of the archive, where it is to come from elsewhere.

    Returns:
        Of an index: the waveform `[220500]`, or its features; and the number of the class, whose name is in `label_list`.

    Raises:
        AssertionError: the split or mode is unknown (also a ValueError).
        RuntimeError: the archive cannot be downloaded, or `feat_type` is unknown.
        ValueError: the archive is damaged.

    Source:
        `paddle.audio.datasets.ESC50`; the folder is that of Paddle, `~/.cache/paddle/dataset/ESC-50-master`.

    Examples:
        >>> wherry.audio.datasets.ESC50(split=6)
        Traceback (most recent call last):
        wherry_tensor.errors.AssertedArgumentError: (InvalidArgument) ESC50: The selected split should be integer, and 1 <= split <= 5, but got 6.
    """

    archive: dict[str, str] = {  # noqa: RUF012  an argument gives an instance another one
        "url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip", "md5": "7771e4b9d86d0945acce719c7a59305a",
    }  # fmt: skip
    label_list: ClassVar[list[str]] = [
        "Dog", "Rooster", "Pig", "Cow", "Frog", "Cat", "Hen", "Insects (flying)", "Sheep", "Crow",
        "Rain", "Sea waves", "Crackling fire", "Crickets", "Chirping birds", "Water drops", "Wind", "Pouring water", "Toilet flush", "Thunderstorm",
        "Crying baby", "Sneezing", "Clapping", "Breathing", "Coughing", "Footsteps", "Laughing", "Brushing teeth", "Snoring", "Drinking, sipping",
        "Door knock", "Mouse click", "Keyboard typing", "Door, wood creaks", "Can opening", "Washing machine", "Vacuum cleaner", "Clock alarm",
        "Clock tick", "Glass breaking",
        "Helicopter", "Chainsaw", "Siren", "Car horn", "Engine", "Train", "Church bells", "Airplane", "Fireworks", "Hand saw",
    ]  # fmt: skip
    meta = os.path.join("ESC-50-master", "meta", "esc50.csv")
    audio_path = os.path.join("ESC-50-master", "audio")
    meta_info = collections.namedtuple("meta_info", ("filename", "fold", "target", "category", "esc10", "src_file", "take"))  # noqa: PYI024  annotated fields would be no shorter

    def __init__(self, mode: str = "train", split: int = 1, feat_type: str = "raw", archive: dict[str, str] | None = None, **kwargs: Any) -> None:
        chosen, mode = _split_of("ESC50", split, 5), mode_of("ESC50", mode, ("train", "dev", "test"))
        self.archive = self.archive if archive is None else archive
        home = _unpacked("ESC50", self.archive, self.meta)
        files, labels = [], []
        path = os.path.join(home, self.meta)
        with readable("ESC50", path), open(path, encoding="utf-8", newline="") as file:
            for row in list(csv.reader(file))[1:]:
                if len(row) != len(self.meta_info._fields) or not row[1].isdigit() or not row[2].isdigit():
                    raise InvalidArgumentError(f"a line is {short(row)}, expected {', '.join(self.meta_info._fields)}")
                about = self.meta_info(*row)
                if (int(about.fold) == chosen) != (mode == "train"):
                    files.append(os.path.join(home, self.audio_path, about.filename))
                    labels.append(int(about.target))
        super().__init__(files, labels, feat_type, **kwargs)


class TESS(AudioClassificationDataset):
    """2800 recordings of two speakers, who say 200 words in seven emotions: the Toronto emotional speech set, Pichora-Fuller & Dupuis (2020).

    Args:
        mode: "train" or "dev".
        n_folds: into how many parts the recordings are dealt, 1 or more.
        split: which of them "dev" has, 1 to `n_folds`; "train" has the others.
        feat_type: "raw", or the features, as of `AudioClassificationDataset`, with their arguments as `kwargs`.
        archive: a dict of the `url` and `md5` of the archive, where it is to come from elsewhere.

    Returns:
        Of an index: the waveform `[time]`, or its features; and the number of the emotion, whose name is in `label_list`.

    Raises:
        AssertionError: the split, the number of parts or the mode is unknown (also a ValueError).
        RuntimeError: the archive cannot be downloaded, or `feat_type` is unknown.
        ValueError: the archive is damaged.

    Source:
        `paddle.audio.datasets.TESS`; the folder is that of Paddle, `~/.cache/paddle/dataset/TESS_Toronto_emotional_speech_set`. Recordings are
        dealt in the order of their names; Paddle takes them as the file system has them.

    Examples:
        >>> wherry.audio.datasets.TESS(n_folds=3, split=4)
        Traceback (most recent call last):
        wherry_tensor.errors.AssertedArgumentError: (InvalidArgument) TESS: The selected split should be integer, and 1 <= split <= 3, but got 4.
    """

    archive: dict[str, str] = {  # noqa: RUF012  an argument gives an instance another one
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip", "md5": "1465311b24d1de704c4c63e4ccc470c7",
    }  # fmt: skip
    label_list: ClassVar[list[str]] = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]  # ps: pleasant surprise
    meta_info = collections.namedtuple("meta_info", ("speaker", "word", "emotion"))  # noqa: PYI024  annotated fields would be no shorter
    audio_path = "TESS_Toronto_emotional_speech_set"

    def __init__(
        self, mode: str = "train", n_folds: int = 5, split: int = 1, feat_type: str = "raw", archive: dict[str, str] | None = None, **kwargs: Any
    ) -> None:
        if not isinstance(n_folds, int) or isinstance(n_folds, bool) or n_folds < 1:
            raise AssertedArgumentError(f"TESS: the n_folds should be integer and n_folds >= 1, but got {short(n_folds)}.")
        chosen, mode = _split_of("TESS", split, n_folds), mode_of("TESS", mode, ("train", "dev", "test"))
        self.archive = self.archive if archive is None else archive
        folder = os.path.join(_unpacked("TESS", self.archive, self.audio_path), self.audio_path)
        found = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".wav"))
        files, labels = [], []
        for i, path in enumerate(found):
            parts = os.path.basename(path)[: -len(".wav")].split("_")
            with readable("TESS", path):
                if len(parts) != len(self.meta_info._fields) or parts[2] not in self.label_list:
                    raise InvalidArgumentError(f"the name has not the parts {', '.join(self.meta_info._fields)} between underlines")
            if (i % n_folds + 1 == chosen) != (mode == "train"):
                files.append(path)
                labels.append(self.label_list.index(parts[2]))
        super().__init__(files, labels, feat_type, **kwargs)


explained(globals())
