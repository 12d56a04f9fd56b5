"""The subject of a commit: at most 72 characters, and an empty line after it. `pre-commit` runs it with the file of the message.

    python tools/commit_subject.py .git/COMMIT_EDITMSG
"""
from __future__ import annotations

import sys
from pathlib import Path

LONGEST = 72


def faults(message: str) -> list[str]:
    """What is wrong with a message, as git keeps it: without comments."""
    lines = [line for line in message.split("# ------------------------ >8")[0].splitlines() if not line.startswith("#")]
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return ["commit: the message is empty. Say in a line of at most 72 characters what changes."]
    found = []
    if len(lines[0]) > LONGEST:
        found.append(
            f"commit: the subject is too long. Got {len(lines[0])} characters, expected at most {LONGEST}. "
            f"Keep what changes, and put the why into the body: {lines[0][:LONGEST]}|{lines[0][LONGEST:]}"
        )
    if len(lines) > 1 and lines[1].strip():
        found.append(f"commit: the second line is not empty. Got {lines[1]!r}. Leave it empty, so that git knows where the subject ends.")
    return found


if __name__ == "__main__":
    found = faults(Path(sys.argv[1]).read_text())
    for fault in found:
        print(fault, file=sys.stderr)
    sys.exit(1 if found else 0)
