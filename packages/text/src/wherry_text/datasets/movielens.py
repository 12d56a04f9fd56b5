"""Movie ratings: MovieLens 1M, Harper & Konstan (2015)."""
from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, short
from wherry_train.data_files import LARGEST, file_of, mode_of, readable
from wherry_train.io.dataset import Dataset

__all__ = ["Movielens"]

_AGES = [1, 18, 25, 35, 45, 50, 56]  # where each group begins
_YEAR = re.compile(r"(.*)\(\d+\)", re.DOTALL)


class MovieInfo:
    """A movie: its number, categories, and title without the year."""

    def __init__(self, index: str, categories: list[str], title: str) -> None:
        self.index = int(index)
        self.categories = categories
        self.title = title

    def value(self, categories_dict: dict[str, int], movie_title_dict: dict[str, int]) -> list[list[int]]:
        """Its number, those of its categories and those of the words of its title."""
        return [
            [self.index],
            [categories_dict[category] for category in self.categories],
            [movie_title_dict[word] for word in self.title.lower().split()],
        ]

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class UserInfo:
    """A user: number, sex, age group, and job."""

    def __init__(self, index: str, gender: str, age: str, job_id: str) -> None:
        self.index = int(index)
        self.is_male = gender == "M"
        self.age = _AGES.index(int(age))
        self.job_id = int(job_id)

    def value(self) -> list[list[int]]:
        """Its number, 0 for a man and 1 for a woman, the place of the group of age, and the job."""
        return [[self.index], [0 if self.is_male else 1], [self.age], [self.job_id]]

    def __repr__(self) -> str:
        return f"<UserInfo id({self.index}), gender({'M' if self.is_male else 'F'}), age({_AGES[self.age]}), job({self.job_id})>"


class Movielens(Dataset):
    r"""A million ratings of 3,900 movies by 6,000 users.

    Categories and words of titles have numbers in the order in which they first appear.

    Args:
        data_file: the path of ml-1m.zip; None downloads it.
        mode: "train" or "test".
        test_ratio: the share of ratings to test with, which are drawn.
        rand_seed: of the draws: the same seed gives the same parts, as in Paddle.
        download: whether the archive may be downloaded.

    Returns:
        Of an index: the user's number, sex (0 a man's, 1 a woman's), group of age and job, the film's number, its categories and the words
        of its title, as int64, and the rating from -3 to 5 as float64; all are arrays with one axis.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.Movielens`.

    Examples:
        >>> import tempfile, zipfile
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of one rating
        ...     with zipfile.ZipFile(folder + "/ml-1m.zip", "w") as archive:
        ...         archive.writestr("ml-1m/movies.dat", "7::Toy Story (1995)::Comedy|Drama\n")
        ...         archive.writestr("ml-1m/users.dat", "3::F::25::4::48067\n")
        ...         archive.writestr("ml-1m/ratings.dat", "3::7::5::978300000\n")
        ...     data = wherry.text.Movielens(folder + "/ml-1m.zip", test_ratio=0.0)
        >>> [field.tolist() for field in data[0]]
        [[3], [1], [2], [4], [7], [0, 1], [0, 1], [5.0]]
    """

    def __init__(self, data_file: Any = None, mode: str = "train", test_ratio: float = 0.1, rand_seed: int = 0, download: bool = True) -> None:
        self.mode = mode_of("Movielens", mode, ("train", "test"))
        self.data_file = file_of(
            "Movielens", "data_file", data_file, "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip",
            "c4d9eecfca2ab87c1945afe126590906", "movielens", download,
        )  # fmt: skip
        self.test_ratio = test_ratio
        self.rand_seed = rand_seed
        self.movie_info: dict[int, MovieInfo] = {}
        self.movie_title_dict: dict[str, int] = {}
        self.categories_dict: dict[str, int] = {}
        self.user_info: dict[int, UserInfo] = {}
        self._ratings: list[tuple[int, int, float]] = []
        with readable("Movielens", self.data_file), open(self.data_file, "rb") as file:
            try:
                with zipfile.ZipFile(file) as archive:
                    self._load(archive)
            except (NotImplementedError, OSError) as error:  # packed in a way that Python does not know, or places outside the file
                raise InvalidArgumentError(str(error)) from error

    def _load(self, archive: zipfile.ZipFile) -> None:
        for index, title, kinds in _rows(archive, "ml-1m/movies.dat", 3):
            dated = _YEAR.fullmatch(title)
            film = MovieInfo(index, kinds.split("|"), dated[1] if dated else title)
            self.movie_info[film.index] = film
            for names, numbers in ((film.categories, self.categories_dict), (film.title.lower().split(), self.movie_title_dict)):
                for name in names:
                    numbers.setdefault(name, len(numbers))
        for index, gender, age, job, _ in _rows(archive, "ml-1m/users.dat", 5):
            if age not in map(str, _AGES):
                raise InvalidArgumentError(f"the user {index} is of the group of age {short(age)}, expected one of {_AGES}")
            user = UserInfo(index, gender, age, job)
            self.user_info[user.index] = user
        draws = np.random.RandomState(self.rand_seed)
        testing = self.mode == "test"
        for who, what, rating, _ in _rows(archive, "ml-1m/ratings.dat", 4):
            user_number, film_number = int(who), int(what)
            if user_number not in self.user_info or film_number not in self.movie_info:
                raise InvalidArgumentError(f"there is a rating of the film {film_number} by the user {user_number}, expected both to be known")
            if (draws.random_sample() < self.test_ratio) == testing:
                self._ratings.append((user_number, film_number, float(rating) * 2 - 5))

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        user, film, rating = self._ratings[idx]
        values = [*self.user_info[user].value(), *self.movie_info[film].value(self.categories_dict, self.movie_title_dict)]
        return (*(np.array(value, np.int64) for value in values), np.array([rating]))

    def __len__(self) -> int:
        return len(self._ratings)


_NUMBERS = {"ml-1m/movies.dat": (0,), "ml-1m/users.dat": (0, 3), "ml-1m/ratings.dat": (0, 1, 2)}


def _rows(archive: zipfile.ZipFile, name: str, parts: int) -> Iterator[list[str]]:
    """The lines of a member in their parts; those that are numbers are looked at."""
    info = archive.getinfo(name)
    if info.file_size > LARGEST or info.flag_bits & 1:
        raise InvalidArgumentError(f"{name} is encrypted or has {info.file_size} bytes, expected at most {LARGEST} that are not")
    for line in archive.read(info).decode("latin1").splitlines():
        row = line.strip().split("::")
        if len(row) != parts or not all(row[at].isdecimal() and len(row[at]) < 10 for at in _NUMBERS[name]):
            raise InvalidArgumentError(f"{name} has the line {short(line)}, expected {parts} parts with :: between them, numbers where it has some")
        yield row
