"""Data sets of language: real formats in small files, and files that are damaged or hostile. Values are compared with Paddle in tests/parity."""
import gzip
import io
import pickle
import random
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import archives_of_text as archives  # noqa: E402
from wherry_text import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing  # noqa: E402
from wherry_train import data_files  # noqa: E402

MADE = {
    "UCIHousing": (archives.housing, UCIHousing),
    "Imdb": (archives.imdb, lambda file: Imdb(file, cutoff=2)),
    "Imikolov": (archives.imikolov, lambda file: Imikolov(file, window_size=3, min_word_freq=2)),
    "Movielens": (archives.movielens, Movielens),
    "WMT14": (archives.wmt14, lambda file: WMT14(file, dict_size=8)),
    "WMT16": (archives.wmt16, lambda file: WMT16(file, src_dict_size=8, trg_dict_size=9)),
}


def test_features_of_houses_are_scaled_and_prices_are_not(tmp_path):
    file = archives.housing(tmp_path, 10)
    rows = np.loadtxt(file)
    train, test = UCIHousing(file), UCIHousing(file, "test")
    assert (len(train), len(test)) == (8, 2)
    features, price = test[1]
    expected = (rows[9, :13] - rows[:, :13].mean(0)) / np.ptp(rows[:, :13], axis=0)
    assert features.dtype == price.dtype == np.float32 and np.allclose(features, expected) and price.tolist() == [np.float32(rows[9, 13])]


def test_a_feature_that_is_always_the_same_becomes_zero(tmp_path):
    (tmp_path / "housing.data").write_text("1 " * 28)
    assert UCIHousing(tmp_path / "housing.data")[0][0].tolist() == [0] * 13


def test_reviews_are_numbers_of_words_by_how_often_they_come(tmp_path):
    names = [f"aclImdb/{part}/{kind}/0_1.txt" for part in ("train", "test") for kind in ("neg", "pos")]
    texts = [b"Bad, bad film!\n", b"A good film.", b"a film", b"good <br /> film"]
    data = Imdb(archives.tar_of(tmp_path / "imdb.tgz", dict(zip(names, texts, strict=True))), cutoff=1)
    assert data.word_idx == {b"film": 0, b"a": 1, b"bad": 2, b"good": 3, "<unk>": 4}
    assert [(doc.tolist(), label.tolist()) for doc, label in data] == [([1, 3, 0], [0]), ([2, 2, 0], [1])]
    assert data.docs[0] + [7] == [1, 3, 0, 7] and data[0][0].dtype == "int64"


def test_the_penn_treebank_comes_in_windows_and_in_sentences(tmp_path):
    texts = {f"./simple-examples/data/ptb.{part}.txt": text for part, text in (("train", b" a b a \n a \n"), ("valid", b" c \n"), ("test", b"b x\n"))}
    file = archives.tar_of(tmp_path / "ptb.tgz", texts)
    data = Imikolov(file, "SEQ", min_word_freq=0)
    assert data.word_idx == {"<e>": 0, "<s>": 1, b"a": 2, b"b": 3, b"c": 4, "<unk>": 5}
    assert [[one.tolist() for one in sample] for sample in data] == [[[1, 2, 3, 2], [2, 3, 2, 0]], [[1, 2], [2, 0]]]
    assert len(Imikolov(file, "SEQ", 3, min_word_freq=0)) == 1
    assert [[int(one) for one in sample] for sample in Imikolov(file, window_size=3, mode="test", min_word_freq=0)] == [[1, 3, 5], [3, 5, 0]]
    assert data.word_count([b"a a\n"], {b"a": 1}) == {b"a": 3, "<s>": 1, "<e>": 1}


def test_ratings_are_divided_by_draws_of_their_own(tmp_path):
    file = archives.movielens(tmp_path)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    train, test = (Movielens(file, mode, 0.3, 5) for mode in ("train", "test"))
    assert np.random.get_state()[1].tolist() == state, "the generator of programs stays as it is"  # noqa: NPY002
    assert len(train) + len(test) == 60 and 5 < len(test) < 30
    user, sex, age, job, film, kinds, title, rating = train[0]
    info = train.movie_info[int(film[0])]
    assert [list(train.categories_dict)[kind] for kind in kinds] == info.categories
    assert [list(train.movie_title_dict)[word] for word in title] == info.title.lower().split()
    assert rating[0] in (-3, -1, 1, 3, 5)
    assert [one.tolist() for one in (user, sex, age, job)] == train.user_info[int(user[0])].value()


def test_sentences_of_two_languages_have_marks(tmp_path):
    text = b"a dog\tein Hund\na a\tein\nno tab\n"
    file = archives.tar_of(tmp_path / "wmt16.tar.gz", {"wmt16/train": text, "wmt16/val": "a cat\tHund läuft\n".encode()})
    data = WMT16(file, "val", 9, 9)
    assert data.get_dict("en") == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "dog": 4}
    assert data.get_dict("de", reverse=True) == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "ein", 4: "Hund"}
    assert [[one.tolist() for one in sample] for sample in data] == [[[0, 3, 2, 1], [0, 4, 2], [4, 2, 1]]]
    turned = WMT16(file, "val", 9, 4, "de")
    assert [[one.tolist() for one in sample] for sample in turned] == [[[0, 4, 2, 1], [0, 3, 2], [3, 2, 1]]]
    assert list(turned.get_dict("en")) == ["<s>", "<e>", "<unk>", "a"]
    data = WMT14(archives.wmt14(tmp_path), dict_size=99)
    assert max(len(source) for source, _, _ in data) == 80 and all(target[1:].tolist() == after[:-1].tolist() for _, target, after in data)


def test_roles_come_once_for_each_verb(tmp_path):
    data = Conll05st(**archives.conll05(tmp_path))
    assert data.predicates == ["sit", "purr", "leave", "keep"]
    words, before, *_, verb, near, labels = data[2]
    assert words.tolist() == [0, 0, 7] and before.tolist() == [1] * 3 and verb.tolist() == [2] * 3 and near.tolist() == [1] * 3
    assert [list(data.label_dict)[label] for label in labels] == ["B-A0", "B-V", "O"]
    assert data.get_embedding().endswith("emb") and data.get_dict()[1]["keep"] == 3


@pytest.mark.parametrize("name", MADE)
def test_files_that_are_cut_or_changed_give_samples_or_an_error_that_names_them(tmp_path, name):
    make, read = MADE[name]
    path = Path(make(tmp_path))
    assert len(read(path)) > 0
    whole, draw = path.read_bytes(), random.Random(name)
    for number in range(60):
        data = bytearray(whole[: draw.randrange(len(whole))] if number % 3 == 0 else whole)
        for _ in range(number % 3):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        try:
            samples = read(path)
        except ValueError as error:
            assert name in str(error) and path.name in str(error), error  # noqa: PT017
        else:
            assert all(len(sample) for sample in samples)


@pytest.mark.parametrize("name", MADE)
def test_other_files_are_refused(tmp_path, name):
    path = tmp_path / "another"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x", "y")
    tar = Path(archives.tar_of(tmp_path / "t", {"x": b"y"})).read_bytes()
    for data in (b"", b"x", pickle.dumps({"a": 1}), gzip.compress(b"text"), packed.getvalue(), tar):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}: .*another"):
            MADE[name][1](path)


def test_a_member_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "wmt16.tar.gz"
    member = tarfile.TarInfo("wmt16/train")
    member.size = 1 << 40
    path.write_bytes(gzip.compress(member.tobuf() + bytes(1024)))
    with pytest.raises(ValueError, match=r"WMT16: .*wmt16.tar.gz is damaged"):
        WMT16(path, "train", 9, 9)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("words", "sat\n", "", "not of the same sentences"),
        ("props", "(V*)", "V*)", r"label 'V\*\)'|label V\*\)"),
        ("props", "leave (V*)", "leave", "has 1 verbs and other columns"),
    ],
)
def test_roles_that_do_not_fit_are_refused(tmp_path, name, old, new, said):
    paths = archives.conll05(tmp_path)
    with tarfile.open(paths["data_file"]) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    wanted = next(member for member in members if f"wsj.{name}" in member)
    members[wanted] = gzip.compress(gzip.decompress(members[wanted]).replace(old.encode(), new.encode(), 1))
    archives.tar_of(Path(paths["data_file"]), members)
    with pytest.raises(ValueError, match=said):
        Conll05st(**paths)


def test_files_that_are_not_given_are_downloaded(tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(data_files, "DATA_HOME", str(tmp_path))
    monkeypatch.setattr(data_files, "fetched", lambda url, folder, md5: asked.update({url: (folder, md5)}) or "nothing")
    sized = (lambda: Imikolov(window_size=2), lambda: WMT14(dict_size=9), lambda: WMT16(None, "val", 9, 9))
    for make in (UCIHousing, Imdb, Movielens, Conll05st, *sized):
        with pytest.raises(FileNotFoundError):
            make()
    assert asked["http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"] == (str(tmp_path / "wmt14"), "0791583d57d5beb693b9414c5b36798c")
    assert len(asked) == 11 and all(len(md5) == 32 for _, md5 in asked.values())


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: UCIHousing(mode="valid"), AssertionError, "should be 'train' or 'test', but got valid"),
        (lambda: Imdb(3), TypeError, "data_file is not a path. Got 3"),
        (lambda: Imdb(download=False), AssertionError, "data_file is not set and downloading automatically is disabled"),
        (lambda: Imikolov("x", "PAIR"), AssertionError, "should be 'NGRAM', 'SEQ', but got PAIR"),
        (lambda: Imikolov("x"), AssertionError, "Invalid gram length. Got -1"),
        (lambda: WMT14("x"), AssertionError, "dict_size should be set as positive number. Got -1"),
        (lambda: WMT16("x", "train", 9, 2), AssertionError, "trg_dict_size should be set as positive number. Got 2"),
        (lambda: WMT16("x", "train", 9, 9, "fr"), AssertionError, "Got 'fr', expected 'en' or 'de'"),
        (lambda: Conll05st("x", download=False), AssertionError, "word_dict_file is not set"),
    ],
)
def test_arguments_that_make_no_sense_are_named(make, error, said):
    with pytest.raises(error, match=said):
        make()
