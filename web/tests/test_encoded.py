"""Files that are compressed with all effort, once."""
import gzip
import sys

import brotli
import pytest

from wherry_web.encoded import Encoded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CONTENT = b"".join(b"%d bottles of beer on the wall\n" % i for i in range(5000))


def finished(encoded: Encoded) -> bytes:
    encoded.body("br")
    encoded._thread.join(30)
    return encoded.body("br")


def test_every_encoding_is_the_same_content():
    encoded = Encoded(CONTENT)
    assert encoded.body(None) == CONTENT
    assert gzip.decompress(encoded.body("gzip")) == CONTENT
    assert brotli.decompress(encoded.body("br")) == CONTENT


def test_the_first_answer_is_quick_and_later_ones_are_small():
    encoded = Encoded(CONTENT)
    first = encoded.body("br")
    best = finished(encoded)
    assert len(best) < len(first) and brotli.decompress(best) == CONTENT
    assert encoded.compress() == len(best)


def test_the_effort_is_kept_for_the_next_start(tmp_path):
    best = finished(Encoded(CONTENT, tmp_path / "new"))
    again = Encoded(CONTENT, tmp_path / "new")
    assert again.body("br") == best and again._thread is None


@pytest.mark.parametrize("broken", [b"", b"no brotli", brotli.compress(b"other content")])
def test_what_is_broken_on_disk_is_made_again(tmp_path, broken):
    finished(Encoded(CONTENT, tmp_path))
    (file,) = tmp_path.iterdir()
    file.write_bytes(broken)
    assert brotli.decompress(finished(Encoded(CONTENT, tmp_path))) == CONTENT
    assert brotli.decompress(file.read_bytes()) == CONTENT


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert brotli.decompress(finished(Encoded(CONTENT, blocked / "folder"))) == CONTENT


def test_what_is_packed_is_kept(tmp_path):
    packed = Encoded(CONTENT, tmp_path).packed()
    assert zstd.decompress(packed) == CONTENT and len(packed) < len(gzip.compress(CONTENT, 9))
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == packed == Encoded(CONTENT).packed()
    other = zstd.compress(CONTENT, 1)
    file.write_bytes(other)
    assert Encoded(CONTENT, tmp_path).packed() == other  # taken from there


@pytest.mark.parametrize("broken", [b"", b"no zstd", zstd.compress(b"other content"), zstd.compress(CONTENT)[:-1]])
def test_what_was_packed_and_is_broken_is_made_again(tmp_path, broken):
    packed = Encoded(CONTENT, tmp_path).packed()
    (file,) = tmp_path.iterdir()
    file.write_bytes(broken)
    assert Encoded(CONTENT, tmp_path).packed() == packed == file.read_bytes()
