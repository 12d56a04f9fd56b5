"""Small archives in the formats of the data sets of text, for the tests here and for the comparison with Paddle."""
from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from pathlib import Path

WORDS = "the a movie film plot was is good, bad! fine; isn't dull? The great <br /> über naïve it's of Plot".split()


def tar_of(path: Path, members: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return str(path)


def sentence(draw: random.Random, words: list[str] = WORDS, least: int = 0, most: int = 12) -> str:
    return " ".join(draw.choice(words) for _ in range(draw.randint(least, most)))


def housing(folder: Path, rows: int = 23) -> str:
    draw = random.Random(1)
    path = folder / "housing.data"
    path.write_text("".join(" ".join(f"{draw.uniform(0, 9):8.3f}" for _ in range(14)) + "\n" for _ in range(rows)))
    return str(path)


def imdb(folder: Path) -> str:
    draw = random.Random(2)
    members = {"aclImdb/README": b"the the the", "aclImdb/train/urls_pos.txt": b"movie " * 90}
    for part in ("train", "test"):
        for kind in ("neg", "pos", "unsup"):
            for number in range(4):
                members[f"aclImdb/{part}/{kind}/{number}_7.txt"] = (sentence(draw, least=3, most=40) + draw.choice(["", "\n", "\r\n"])).encode()
    return tar_of(folder / "aclImdb_v1.tar.gz", members)


def imikolov(folder: Path) -> str:
    draw = random.Random(3)
    words = ["a", "b", "c", "dog", "<unk>", "N", "rare", "éa"]
    text = {part: "".join(f" {sentence(draw, words)} \n" for _ in range(30)).encode() for part in ("train", "valid", "test")}
    return tar_of(folder / "simple-examples.tgz", {f"./simple-examples/data/ptb.{part}.txt": data for part, data in text.items()})


def movielens(folder: Path) -> str:
    draw = random.Random(4)
    kinds, jobs = ["Animation", "Children's", "Comedy", "Drama", "War"], range(21)
    words = ["Toy", "Story", "the", "Café", "III"]
    movies = [(number, f"{sentence(draw, words, 1, 4)} ({1990 + number})", draw.sample(kinds, draw.randint(1, 3))) for number in (1, 2, 4, 7, 9)]
    users = [(number, draw.choice("FM"), draw.choice([1, 18, 25, 35, 45, 50, 56]), draw.choice(jobs), "48067") for number in (1, 2, 3, 5)]
    ratings = [(draw.choice(users)[0], draw.choice(movies)[0], draw.randint(1, 5), 978300000 + number) for number in range(60)]
    path = folder / "ml-1m.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ml-1m/README", "what it is")
        archive.writestr("ml-1m/movies.dat", "".join(f"{a}::{b}::{'|'.join(c)}\n" for a, b, c in movies).encode("latin1"))
        archive.writestr("ml-1m/users.dat", "".join("::".join(map(str, user)) + "\n" for user in users))
        archive.writestr("ml-1m/ratings.dat", "".join("::".join(map(str, rating)) + "\n" for rating in ratings))
    return str(path)


def wmt14(folder: Path) -> str:
    draw = random.Random(5)
    source, target = [[f"{letter}{number}" for number in range(9)] for letter in "st"]
    dictionaries = {"src": ["<s>", "<e>", "<unk>", *source], "trg": ["<s>", "<e>", "<unk>", *target]}
    members = {f"wmt14/{name}.dict": "".join(f"{word}\n" for word in words).encode() for name, words in dictionaries.items()}
    for part in ("train", "test", "gen"):
        lines = [f"{sentence(draw, source, 0, 6)}\t{sentence(draw, target, 0, 6)}" for _ in range(12)]
        for length, other in ((78, 79), (79, 5), (3, 81), (80, 80), (5, 80)):
            lines.append(f"{sentence(draw, source, length, length)}\t{sentence(draw, target, other, other)}")
        lines += ["s1 s2", "s1\tt1\tt2", ""]
        members[f"wmt14/{part}/{part}"] = "\n".join(lines).encode() + b"\n"
    return tar_of(folder / "wmt14.tgz", members)


def wmt16(folder: Path) -> str:
    draw = random.Random(6)
    english, german = ["a", "dog", "runs", "fast", ".", "Two", "rare"], ["ein", "Hund", "läuft", "schnell", ".", "Zwei", "selten"]
    members = {}
    for part in ("train", "test", "val"):
        lines = [f"{sentence(draw, english[: 3 + number // 4], 1, 9)}\t{sentence(draw, german[: 3 + number // 4], 1, 9)}" for number in range(16)]
        members[f"wmt16/{part}"] = ("\n".join([*lines, "a dog", "a\tein\tHund"]) + "\n").encode()
    return tar_of(folder / "wmt16.tar.gz", members)


def conll05(folder: Path) -> dict[str, str]:
    words = [["The", "cat", "sat", "and", "purred", "."], ["Nobody", "left", "."], ["Hm", "."], ["We", "keep", "on", "seeing", "it", "now", "."]]
    props = [
        ["- (A0* (A0*", "- *) *)", "sit (V*) *", "- * *", "purr * (V*)", "- * *"],
        ["- (A0*)", "leave (V*)", "- *"],
        ["-", "-"],
        ["- (A0*)", "keep (V*", "- *)", "- (C-V*)", "- (A1*)", "- (AM-TMP*)", "- *"],
    ]
    members = {}
    for name, parts in {"words": words, "props": props}.items():
        text = "".join("".join(f"{line}\n" for line in part) + "\n" for part in parts)
        members[f"conll05st-release/test.wsj/{name}/test.wsj.{name}.gz"] = gzip.compress(text.encode())
    paths = {"data_file": tar_of(folder / "conll05st-tests.tar.gz", members)}
    texts = {
        "word_dict_file": ["<unk>", "bos", "eos", "The", "cat", "sat", "and", ".", "We", "keep", "it"],
        "verb_dict_file": ["sit", "purr", "leave", "keep"],
        "target_dict_file": ["B-A0", "I-A0", "B-V", "I-V", "B-A1", "I-A1", "B-C-V", "I-C-V", "B-AM-TMP", "I-AM-TMP", "O"],
    }
    for name, lines in texts.items():
        path = folder / f"{name}.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        paths[name] = str(path)
    (folder / "emb").write_bytes(b"\0" * 16)
    paths["emb_file"] = str(folder / "emb")
    return paths
