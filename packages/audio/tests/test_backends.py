"""Wave files: what is written is read, and what others write."""
import io
import wave

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_audio import info, load, save
from wherry_audio.backends import get_current_backend, list_available_backends, set_backend


def stored(width, numbers, channels=1):
    """A wave file of samples of `width` bytes, in memory."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(width)
        writer.setframerate(8000)
        writer.writeframes(b"".join(int(n).to_bytes(width, "little", signed=width > 1) for n in numbers))
    file.seek(0)
    return file


def test_a_recording_is_read_as_it_was_written(tmp_path):
    sound = np.stack([np.linspace(-1, 1, 9), np.linspace(0.3, -0.3, 9)]).astype("float32")
    save(tmp_path / "a.wav", wt.to_tensor(sound), 16000)
    found, rate = load(str(tmp_path / "a.wav"))
    assert rate == 16000 and found.dtype == wt.float32 and found.shape == [2, 9]
    np.testing.assert_allclose(found.numpy(), sound, atol=1 / 32768)
    about = info(tmp_path / "a.wav")
    assert (about.sample_rate, about.num_samples, about.num_channels, about.bits_per_sample, about.encoding) == (16000, 9, 2, 16, "PCM_S")
    save(tmp_path / "b.wav", wt.to_tensor(sound.T.astype("float64")), 16000, channels_first=False)
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_loud_sound_is_cut_off_and_integers_are_kept():
    file = io.BytesIO()
    save(file, wt.to_tensor([[1.5, -1.5, 0.0]]), 8000)
    file.seek(0)
    assert load(file, normalize=False)[0].tolist() == [[32767.0, -32768.0, 0.0]]
    file = io.BytesIO()
    save(file, wt.to_tensor([[-3, 700]], dtype="int16"), 8000)
    file.seek(0)
    assert load(file, normalize=False)[0].tolist() == [[-3.0, 700.0]]


@pytest.mark.parametrize(("width", "numbers", "expected"), [
    (1, [0, 128, 255], [-128, 0, 127]), (2, [-32768, 0, 32767], None), (3, [-(2**23), -1, 2**23 - 1], None), (4, [-(2**31), -1, 2**31 - 1], None),
])  # fmt: skip
def test_files_of_each_width_are_read(width, numbers, expected):
    expected = numbers if expected is None else expected
    assert load(stored(width, numbers), normalize=False)[0].tolist() == [[float(np.float32(n)) for n in expected]]
    np.testing.assert_allclose(load(stored(width, numbers))[0].numpy()[0], np.array(expected) / 2.0 ** (8 * width - 1), rtol=1e-6)
    assert info(stored(width, numbers)).bits_per_sample == 8 * width


def test_pieces():
    file = stored(2, range(10), channels=2)
    assert load(file, 1, 2, normalize=False)[0].tolist() == [[2.0, 4.0], [3.0, 5.0]]
    file.seek(0)
    assert load(file, frame_offset=4, normalize=False, channels_first=False)[0].tolist() == [[8.0, 9.0]]
    file.seek(0)
    assert load(file, frame_offset=40)[0].shape == [2, 0]
    assert not file.closed


def test_a_file_that_ends_early_gives_the_whole_samples_it_has():
    data = stored(3, range(12), channels=2).getvalue()
    assert load(io.BytesIO(data[:-4]), normalize=False)[0].tolist() == [[0.0, 2.0, 4.0, 6.0, 8.0], [1.0, 3.0, 5.0, 7.0, 9.0]]


def test_what_is_no_wave_file_is_refused(tmp_path):
    (tmp_path / "bad.wav").write_bytes(b"hello")
    for read in (load, info):
        with pytest.raises(ValueError, match=r"bad\.wav' is not a wave file"):
            read(tmp_path / "bad.wav")
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none.wav")
        with pytest.raises(TypeError, match="neither a path nor a file"):
            read(3)
    with pytest.raises(ValueError, match="no such piece"):
        load(tmp_path / "bad.wav", frame_offset=-1)


@pytest.mark.parametrize(("source", "given", "error", "match"), [
    (wt.ones([4]), {}, AssertionError, "Expected 2D tensor"), (wt.ones([1, 4]), {"bits_per_sample": 8}, ValueError, "only support 16 bit"),
    (wt.ones([1, 4], "int32"), {}, TypeError, "not sound"), (np.ones([1, 4]), {}, TypeError, "must be a Tensor"),
    (wt.ones([1, 4]), {"sample_rate": 0}, ValueError, "samples in a second"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_before_a_file_appears(tmp_path, source, given, error, match):
    with pytest.raises(error, match=match):
        save(tmp_path / "a.wav", source, **{"sample_rate": 8000, **given})
    assert not (tmp_path / "a.wav").exists()


def test_there_is_one_backend():
    assert list_available_backends() == [get_current_backend()]
    set_backend(get_current_backend())
    with pytest.raises(NotImplementedError, match="no such backend"):
        set_backend("soundfile")
