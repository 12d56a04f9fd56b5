"""Downloads: which addresses are taken, and what is kept. Weights from a server are loaded in packages/vision/tests."""
import hashlib

import pytest

from wherry_train import download


def test_a_file_that_is_there_is_not_asked_for(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"abc")
    digest = hashlib.md5(b"abc").hexdigest()  # noqa: S324
    assert download.fetched("http://127.0.0.1:9/a/x.bin?b=c", tmp_path, digest) == str(tmp_path / "x.bin")
    assert download.fetched("http://127.0.0.1:9/x.bin", tmp_path) == str(tmp_path / "x.bin")


@pytest.mark.parametrize("url", ["file:///etc/x", "/etc/x", "ftp://host/x", "https://host/", "https://host/%2E%2E", ""])
def test_other_addresses_are_refused(url, tmp_path):
    with pytest.raises(ValueError, match=r"expected http:// or https://"):
        download.fetched(url, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_address_is_text(tmp_path):
    with pytest.raises(TypeError, match="the address is not a str. Got 3"):
        download.fetched(3, tmp_path)  # type: ignore[arg-type]
