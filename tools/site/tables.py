"""Tables that are made when the site is built; a document has `<!-- table: NAME -->` where one belongs."""
from __future__ import annotations

from collections.abc import Callable

from docstring import escaped
from reference import Reference


def filled(reference: Reference) -> dict[str, Callable[[str], str]]:
    """Document -> what puts its tables in."""
    return {"docs/guides/from-pytorch.md": lambda text: text.replace("<!-- table: torch -->", torch_names(reference))}


def torch_names(reference: Reference) -> str:
    """Every name of PyTorch that the converter knows, by module, with links to the names here."""
    from wherry_migrate.pytorch import table

    documents = {path: name.document for name in reference.names for path in (name.path, *name.aliases)}
    groups: dict[str, list[str]] = {}
    for old, (new, spec, note) in table().items():
        place = documents.get(new.removeprefix("paddle."))
        link = f"[`{new}`](/{place}.md)" if place else f"`{new}`" if new else ""
        changed = [part.partition(" = ")[0] for part in spec.removeprefix("!").split(", ") if " > " in part and not part.split(" > ")[1].startswith("=")]
        arguments = ", ".join("`{}` is `{}`".format(*part.split(" > ")) for part in changed)
        groups.setdefault(old.rpartition(".")[0], []).append(f"| `{old}` | {link} | {arguments} | {escaped(note)} |")
    parts = [f"### {space}\n\n| PyTorch | here | arguments | differs |\n|---|---|---|---|\n" + "\n".join(rows) for space, rows in groups.items()]
    return f"{sum(map(len, groups.values()))} names.\n\n" + "\n\n".join(parts)
