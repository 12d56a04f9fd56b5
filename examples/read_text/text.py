"""Pictures of text, and what stands in them: lines for the recogniser, pages for the detector.

Fonts are Debian's (fonts-dejavu, fonts-liberation, fonts-freefont-ttf, fonts-linuxlibertine to learn from; fonts-noto-core,
fonts-open-sans and fonts-crosextra-carlito, which nothing is learned from, to measure with). Words are the names of languages,
countries, months and days in CLDR, as the package babel brings them, in seven languages and three scripts.
"""
import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from babel import Locale
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = Path("/usr/share/fonts")
LEARNED = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSansCondensed", "LiberationSans", "LiberationSerif", "LiberationMono",
           "FreeSans", "FreeSerif", "LinLibertine_R", "LinLibertine_RB", "LinLibertine_RI", "LinBiolinum_R", "LinBiolinum_RB", "LinBiolinum_RI")
HELD_OUT = ("NotoSans", "NotoSerif", "OpenSans", "Carlito")
STYLES = ("", "-Regular", "-Bold", "Bold", "-Italic", "Italic", "-Oblique", "Oblique", "-BoldItalic", "BoldItalic", "-BoldOblique", "BoldOblique")
LANGUAGES = {"latin": ("en", "de", "fr", "es"), "greek": ("el",), "cyrillic": ("ru", "uk")}
DIGITS = "0123456789"
MARKS = "!\"#$%&'()*+,-./:;<=>?@[]_€«»"
HEIGHT = 32  # of a line
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])  # ImageNet's


@functools.cache
def words(script: str) -> list[str]:
    """What there is to be written in a script."""
    found: set[str] = set()
    for name in LANGUAGES[script]:
        locale = Locale(name)
        names = [*locale.languages.values(), *locale.territories.values(), *locale.months["format"]["wide"].values(),
                 *locale.days["format"]["wide"].values(), *locale.currencies.values()]
        found.update(word for name in names for word in name.replace("\xa0", " ").split())
    return sorted(word for word in found if set(word) <= LETTERS[script] | set(DIGITS + MARKS))


def letters(first: str, last: str, more: str = "") -> set[str]:
    small = {chr(code) for code in range(ord(first), ord(last) + 1)} | set(more)
    return small | {c.upper() for c in small if len(c.upper()) == 1}


LETTERS = {
    "latin": letters("a", "z", "äöüßàâçéèêëîïôùûœñáíóú"),
    "greek": letters("\N{GREEK SMALL LETTER ALPHA}", "ω", "άέήίόύώϊϋΐΰ") - {"Ϊ́", "Ϋ́"},
    "cyrillic": letters("\N{CYRILLIC SMALL LETTER A}", "я", "ёієїґ"),
}
ALPHABET = [*DIGITS, *MARKS, *sorted(set().union(*LETTERS.values())), " "]
CLASS = {character: i + 1 for i, character in enumerate(ALPHABET)}  # 0 is CTC's blank


def fonts(families: tuple[str, ...]) -> list[Path]:
    """The files of families that are installed.

    Raises:
        SystemExit: none of them is.
    """
    installed = {path.stem: path for path in FONTS.rglob("*") if path.suffix in (".ttf", ".otf")}
    found = [installed[family + style] for family in families for style in STYLES if family + style in installed]
    if not found:
        raise SystemExit(
            f"read_text: none of these fonts is in {FONTS}: {', '.join(families)}. Install them: apt install fonts-dejavu fonts-liberation "
            "fonts-freefont-ttf fonts-linuxlibertine fonts-noto-core fonts-open-sans fonts-crosextra-carlito"
        )
    return found


def phrase(random: np.random.Generator, longest: int) -> str:
    """Some words of one script, or letters by chance, at most `longest` characters."""
    script = str(random.choice(["latin", "latin", "greek", "cyrillic"]))
    kind = random.random()
    if kind < 0.2:  # letters as they come: no network can guess them from their neighbours
        pool = [*sorted(LETTERS[script]), *DIGITS, *DIGITS, *MARKS]
        return "".join(pool[i] for i in random.integers(len(pool), size=random.integers(2, max(3, longest // 2))))
    if kind < 0.3:
        return number(random)[:longest]
    text = ""
    while len(text) < longest:
        word = words(script)[random.integers(len(words(script)))]
        case = random.random()
        word = word.upper() if case < 0.2 else word.capitalize() if case < 0.4 else word.lower() if case < 0.7 else word
        if random.random() < 0.15:
            word += str(random.choice(list(".,:;!?")))
        if text and (len(text) + 1 + len(word) > longest or random.random() < 0.25):
            break
        text = f"{text} {word}" if text else word
    return "".join(c for c in text[:longest] if c in CLASS).strip() or "A"


def number(random: np.random.Generator) -> str:
    """A price, a date, a time, a share or a telephone's number."""
    a, b, c = (int(i) for i in random.integers(0, 100, 3))
    forms = [f"{a * b},{c:02} €", f"${a}.{b:02}", f"{a % 28 + 1:02}.{b % 12 + 1:02}.{1950 + c}", f"{a % 24:02}:{b % 60:02}", f"{a}.{b % 10} %",
             f"+{a} {b:02}{c:02} {a * b}", f"#{a * b * c}", f"({a}) {b}/{c}"]
    return str(random.choice(forms))


@functools.lru_cache(1024)
def opened(font: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(font), size)


def ink(text: str, font: Path, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Text as the share of each pixel that is covered, cut to what is; the second result is the column of each character's middle."""
    face = opened(font, size)
    left, top, right, bottom = face.getbbox(text)
    picture = Image.new("L", (int(right - left) + 4, int(bottom - top) + 4))
    ImageDraw.Draw(picture).text((2 - left, 2 - top), text, font=face, fill=255)
    covered = np.asarray(picture, np.float32) / 255
    ends = np.array([face.getlength(text[:i]) for i in range(len(text) + 1)]) + 2 - left
    middles = (ends[1:] + ends[:-1]) / 2
    ys, xs = np.nonzero(covered > 0.1)
    if not len(ys):
        return covered, middles
    return covered[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1], middles - xs.min()


def curved(covered: np.ndarray, bend: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The ink with each column moved down by `bend` of its place from 0 to 1; the second result is by how many pixels."""
    height, width = covered.shape
    shifts = bend(np.linspace(0, 1, width))
    shifts = shifts - shifts.min()
    room = int(np.ceil(shifts.max())) + 1
    rows = np.arange(height + room)[:, None] - shifts[None]
    low = np.floor(rows).astype(int)
    part = (rows - low).astype(np.float32)
    padded = np.pad(covered, ((1, 2), (0, 0)))
    columns = np.arange(width)[None]
    above, below = (padded[np.clip(low + i, 0, height + 2), columns] for i in (1, 2))
    return above * (1 - part) + below * part, shifts


def bend(random: np.random.Generator, height: float) -> Callable[[np.ndarray], np.ndarray]:
    """How a line is bent: hardly at all most times, else as an arc or a wave of up to `height`."""
    size = height * (random.uniform(0.3, 1) if random.random() < 0.3 else random.uniform(0, 0.1))
    size *= random.choice([-1, 1])
    if random.random() < 0.6:
        return lambda x: size * (2 * x - 1) ** 2
    phase = random.uniform(0, 6)
    return lambda x: size / 2 * np.sin(phase + 5 * x)


def colours(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of ground and ink, from 0 to 1 and far enough apart."""
    while True:
        ground, written = random.uniform(0, 1, (2, 3))
        if random.random() < 0.5:  # as in print
            ground, written = ground * 0.15 + 0.85, written * 0.3
        if abs(ground.mean() - written.mean()) > 0.25:
            return ground, written


def spoilt(picture: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """As a camera gives it: unsharp, in uneven light, with noise, from 0 to 1."""
    if random.random() < 0.5:
        image = Image.fromarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))
        picture = np.asarray(image.filter(ImageFilter.GaussianBlur(random.uniform(0.2, 1.1))), np.float32) / 255
    if random.random() < 0.4:
        light = np.linspace(*random.uniform(0.7, 1.15, 2), picture.shape[1], dtype=np.float32)
        picture = picture * light[None, :, None]
    return np.clip(picture + random.normal(0, random.uniform(0, 0.06), picture.shape), 0, 1).astype(np.float32)


class Line:
    """A line of text.

    Attributes:
        picture: `[3, HEIGHT, W]` from -1 to 1.
        text: what stands in it.
        middles: the column of each character's middle.
    """

    def __init__(self, picture: np.ndarray, text: str, middles: np.ndarray) -> None:
        self.picture, self.text, self.middles = picture, text, middles


def line(random: np.random.Generator, files: list[Path], longest: int = 18) -> Line:
    """A line as it comes: its font, size, bend, lean, margins, colours and faults by chance."""
    text = phrase(random, longest)
    covered, middles = ink(text, files[random.integers(len(files))], int(random.integers(20, 37)))
    covered, _ = curved(covered, bend(random, 0.12 * len(covered)))
    tilt = random.uniform(-0.15, 0.15)  # as handwriting leans
    image = Image.fromarray((covered * 255).astype(np.uint8))
    lean = int(abs(tilt) * image.height)
    image = image.transform((image.width + lean, image.height), Image.Transform.AFFINE, (1, tilt, -lean if tilt < 0 else 0, 0, 1, 0),
                            Image.Resampling.BILINEAR)
    margins = random.uniform(0.02, 0.3, 2) * image.height
    sides = random.uniform(2, 10, 2)
    room = Image.new("L", (int(image.width + sides.sum()), int(max(image.height + margins.sum(), 0.55 * 30))))
    room.paste(image, (int(sides[0]), int(min(margins[0], room.height - image.height))))
    width = int(np.clip(room.width * HEIGHT / room.height * random.uniform(0.85, 1.15), 8, 20 * len(text) + 24))
    alpha = np.asarray(room.resize((width, HEIGHT), Image.Resampling.BILINEAR), np.float32)[..., None] / 255
    ground, written = colours(random)
    picture = spoilt(ground + alpha * (written - ground), random)
    return Line((picture * 2 - 1).transpose(2, 0, 1), text, (middles + lean / 2 + int(sides[0])) * width / room.width)


def lines(random: np.random.Generator, files: list[Path], count: int, longest: int = 18, batches: int = 1) -> list[tuple[np.ndarray, list[Line]]]:
    """Batches of lines, each with its pictures `[count, 3, HEIGHT, W]`, filled up with 0 to the widest; those of like widths come together."""
    made = sorted((line(random, files, longest) for _ in range(count * batches)), key=lambda one: one.picture.shape[2])
    found = []
    for i in random.permutation(batches):
        some = made[i * count : (i + 1) * count]
        width = -(-some[-1].picture.shape[2] // 4) * 4
        found.append((np.stack([np.pad(one.picture, ((0, 0), (0, 0), (0, width - one.picture.shape[2]))) for one in some]), some))
    return found


def page(random: np.random.Generator, files: list[Path], side: int = 256) -> tuple[np.ndarray, np.ndarray]:
    """A picture `[3, side, side]` as the detector takes it, and its maps `[3, side, side]`: the middles of lines, the
    thresholds, and where those count.

    The middle of a line is its inner half: a quarter of its height is cut off on each side, and its ends.
    """
    ground, _ = colours(random)
    picture = np.broadcast_to(ground.astype(np.float32), (side, side, 3)).copy()
    for _ in range(random.integers(0, 5)):  # what is not text
        y, x, h, w = (int(i) for i in random.integers(0, side, 4))
        colour = random.uniform(0, 1, 3)
        if random.random() < 0.5:
            picture[y : y + h // 3, x : x + w // 3] = colour
        else:
            picture[y : y + int(random.integers(1, 3)), x : x + w] = colour
    middles, thresholds, counts = (np.zeros((side, side), np.float32) for _ in range(3))
    y = int(random.integers(4, 40))
    while y < side - 24:
        size = int(random.choice([10, 12, 14, 16, 20, 24, 32, 44]))
        covered, _ = ink(phrase(random, int(random.integers(2, 26))), files[random.integers(len(files))], size)
        height = len(covered)
        covered, shifts = curved(covered, bend(random, 1.2 * height))
        if covered.shape[1] > side - 8 or y + len(covered) > side - 4:
            y += 12
            continue
        x = int(random.integers(4, side - covered.shape[1] - 3))
        area = slice(y, y + len(covered)), slice(x, x + covered.shape[1])
        around = picture[area].mean(axis=(0, 1))
        written = colours(random)[1]
        if abs(written.mean() - around.mean()) < 0.25:
            written = 1 - np.round(around)
        picture[area] += covered[..., None] * (written - picture[area])
        mark(middles, thresholds, counts, x, y + shifts + height / 2, height)
        y += len(covered) + int(random.integers(5, 40))
    turned = random.uniform(-12, 12) if random.random() < 0.5 else 0
    picture = spoilt(picture, random)
    if turned:
        picture = turn(picture, turned, tuple(ground))
        middles, thresholds, counts = (turn(each, turned, 0.0) for each in (middles, thresholds, counts))
    return (((picture - MEAN) / DEVIATION).transpose(2, 0, 1).astype(np.float32),
            np.stack([(middles > 0.5).astype(np.float32), thresholds, (counts > 0.5).astype(np.float32)]))


def pages(random: np.random.Generator, files: list[Path], count: int, batches: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Batches of pages, each with its pictures and its maps, both `[count, 3, side, side]`."""
    found = []
    for _ in range(batches):
        pictures, maps = zip(*(page(random, files) for _ in range(count)))
        found.append((np.stack(pictures), np.stack(maps)))
    return found


def mark(middles: np.ndarray, thresholds: np.ndarray, counts: np.ndarray, x: int, centre: np.ndarray, height: int) -> None:
    """Draw one line of text into the maps: `centre` is the row of its middle for each of its columns, from column `x`."""
    side, cut = len(middles), max(1.0, height / 4)
    columns = np.arange(x - int(cut), x + len(centre) + int(cut))
    columns = columns[(columns >= 0) & (columns < side)]
    rows = np.arange(side)[:, None]
    away = np.abs(rows - centre[np.clip(columns - x, 0, len(centre) - 1)][None]) - height / 2  # below 0 inside
    away = np.maximum(away, np.maximum(x - columns, columns - (x + len(centre) - 1))[None])
    middles[:, columns] = np.maximum(middles[:, columns], away <= -cut + 0.5)
    near = np.abs(away) < cut
    thresholds[:, columns] = np.maximum(thresholds[:, columns], np.where(near, 0.3 + 0.4 * (1 - np.abs(away) / cut), 0))
    counts[:, columns] = np.maximum(counts[:, columns], near)


def turn(picture: np.ndarray, degrees: float, ground: float | tuple[float, ...]) -> np.ndarray:
    """A picture turned about its middle; what comes in from outside is `ground`."""
    if picture.ndim == 3:
        return np.stack([turn(picture[..., c], degrees, ground[c]) for c in range(3)], axis=-1)  # type: ignore[index]
    return np.asarray(Image.fromarray(picture, "F").rotate(degrees, Image.Resampling.BILINEAR, fillcolor=float(ground)))  # type: ignore[arg-type]
