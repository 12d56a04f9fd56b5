"""Files of real Paddle, as tests/data has them: an archive with a folder for each case."""
import zipfile
from pathlib import Path


def cases_of(name: str) -> dict[str, dict[str, bytes]]:
    """The files of each case by name, of an archive in tests/data."""
    found: dict[str, dict[str, bytes]] = {}
    with zipfile.ZipFile(Path(__file__).parent / "data" / name) as archive:
        for path in archive.namelist():
            case, _, file = path.partition("/")
            found.setdefault(case, {})[file] = archive.read(path)
    return found
