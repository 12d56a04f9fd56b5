import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for operator_sources

# Compilers by their names, behind ccache, where Debian's package is: most sources here are compiled as they were the last time.
BEHIND_CCACHE = Path("/usr/lib/ccache")
if BEHIND_CCACHE.is_dir():
    os.environ["PATH"] = f"{BEHIND_CCACHE}{os.pathsep}{os.environ['PATH']}"
    os.environ.setdefault("CCACHE_BASEDIR", "/")  # folders of tests have other names each time
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
