"""ESC50 and TESS, of archives that are as small as they can be."""
import os
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import recordings  # noqa: E402
from wherry_audio.datasets import ESC50, TESS, AudioClassificationDataset  # noqa: E402
from wherry_train import data_files  # noqa: E402
from wherry_train.download import md5_of  # noqa: E402


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(data_files, "DATA_HOME", str(tmp_path))
    return tmp_path


def test_parts_of_esc50(home):
    recordings.esc50(home)
    train, dev = ESC50(), ESC50("dev", split=2)
    assert train.labels == [3, 6, 9, 12, 18, 21, 24, 27] and dev.labels == [3, 18]
    waveform, label = dev[1]
    assert waveform.shape == [3000] and label == 18 and dev.label_list[label] == "Toilet flush"
    assert os.path.basename(dev.files[1]) == "2-1006-A-18.wav"
    with pytest.raises(IndexError):
        dev[2]


@pytest.mark.parametrize(("kind", "shape"), [
    ("spectrogram", [33, 94]), ("melspectrogram", [64, 6]), ("logmelspectrogram", [64, 188]), ("mfcc", [5, 188]),
])  # fmt: skip
def test_features(home, kind, shape):
    recordings.esc50(home)
    config = {"mfcc": {"n_mfcc": 5}, "spectrogram": {"hop_length": 32}}.get(kind, {})
    features, label = ESC50("dev", feat_type=kind, **config, n_fft=2048 if kind == "melspectrogram" else 64)[0]
    assert features.shape == shape and label == 0


def test_parts_of_tess(home):
    recordings.tess(home)
    parts = [TESS("dev", n_folds=3, split=split) for split in (1, 2, 3)]
    assert sorted(len(part) for part in parts) == [9, 9, 10]
    assert len({file for part in parts for file in part.files}) == 28
    assert set(TESS(n_folds=3, split=2).files).isdisjoint(parts[1].files)
    for file, label in zip(parts[0].files, parts[0].labels, strict=True):
        assert file.endswith(f"_{TESS.label_list[label]}.wav")


def test_an_archive_that_is_there_is_unpacked(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("archive")
    recordings.esc50(elsewhere)
    with zipfile.ZipFile(home / "ESC.zip", "w") as archive:
        for place, _, names in os.walk(elsewhere):
            for name in names:
                archive.write(os.path.join(place, name), os.path.relpath(os.path.join(place, name), elsewhere))
    data = ESC50(archive={"url": "https://example.org/ESC.zip", "md5": md5_of(str(home / "ESC.zip"))})
    assert len(data) == 8 and data[0][0].shape == [3000]


def test_damaged_files_are_named(home):
    recordings.esc50(home)
    recordings.tess(home)
    (home / "ESC-50-master" / "meta" / "esc50.csv").write_text("filename,fold\na.wav,x\n")
    with pytest.raises(ValueError, match=r"ESC50: .*esc50\.csv is damaged"):
        ESC50()
    (home / "TESS_Toronto_emotional_speech_set" / "other.wav").write_bytes(b"")
    with pytest.raises(ValueError, match=r"TESS: .*other\.wav is damaged"):
        TESS()


def test_files_of_several_channels_keep_them(tmp_path):
    path = recordings.tone(tmp_path / "a.wav", channels=2)
    assert AudioClassificationDataset([path], [1])[0][0].shape == [2, 3000]
    assert AudioClassificationDataset([path], [1], "mfcc", n_mfcc=4)[0][0].shape == [2, 4, 24]


@pytest.mark.parametrize(("make", "error", "match"), [
    (lambda: ESC50(split=9), AssertionError, "1 <= split <= 5"), (lambda: TESS(n_folds=0), AssertionError, "n_folds"),
    (lambda: TESS(n_folds=3, split=4), AssertionError, "1 <= split <= 3"), (lambda: ESC50("valid"), AssertionError, "should be 'train'"),
    (lambda: ESC50(archive="x"), ValueError, "expected a dict"), (lambda: AudioClassificationDataset([], [], "other"), RuntimeError, "feat_type"),
    (lambda: AudioClassificationDataset([], [1]), ValueError, "0 files and 1 labels"),
])  # fmt: skip
def test_wrong_arguments_are_refused(home, make, error, match):
    with pytest.raises(error, match=match):
        make()
