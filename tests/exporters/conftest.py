"""Tests of exporters of others: each of the files takes one, in an environment of its own (tox run -e exporters-NAME)."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
