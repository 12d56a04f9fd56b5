"""Installs libraries of others into an environment of their own, and asks `wherry ecosystem` about each.

    python tools/ecosystem.py [LIBRARY ...] [--only-install]

The environment, .cache/ecosystem, has real Paddle 2.6.2, of which the wheels go up to Python 3.12, and needs NumPy 1. Libraries come without
what they ask for, since their versions contradict each other, and what they import is listed here. Wherry is taken from this checkout: its
compiled parts have to be built in place (tools/dev.sh) by the same version of Python. docs/ecosystem.md is written from what is printed.
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".cache" / "ecosystem"
PYTHON = FOLDER / "bin" / "python"

LIBRARIES = {
    "paddlenlp": "paddlenlp==2.6.1", "paddleclas": "paddleclas==2.6.0", "paddleseg": "paddleseg==2.8.0", "paddledet": "paddledet==2.6.0",
    "paddleocr": "paddleocr==2.10.0", "paddleslim": "paddleslim==2.6.0", "pgl": "pgl==2.2.6", "ppdiffusers": "ppdiffusers==0.19.4",
    "paddlespeech": "paddlespeech==1.5.0", "parl": "parl==2.2.1", "paddlets": "paddlets==1.1.0", "x2paddle": "x2paddle==1.6.0",
    "visualdl": "visualdl==2.5.3", "paddle2onnx": "paddle2onnx==1.2.11", "ppim": "ppim==1.1.0",
}
IMPORTED = """
    tqdm pyyaml requests jieba colorlog colorama seqeval dill multiprocess sentencepiece huggingface_hub==0.20.3 onnx
    opencv-python-headless<4.11 scipy scikit-learn scikit-image shapely pyclipper lmdb rapidfuzz matplotlib prettytable filelock safetensors
    rich typer<0.13 jinja2 easydict imgaug terminaltables pandas psutil six ftfy regex packaging importlib_metadata Pillow omegaconf einops
    motmetrics pycocotools lap editdistance inflect librosa soundfile yacs loguru g2p_en pypinyin nltk paddle-bfloat pyzmq cloudpickle flask
    termcolor click gast premailer openpyxl attrdict imageio lxml bce-python-sdk future sympy datasets<3 pyarrow<17 albumentations<1.4 pynvml
    ffmpeg-python h5py sacrebleu textgrid g2pM typeguard<3 kaldiio timer braceexpand webrtcvad resampy parameterized fastapi uvicorn
    flask-babel gputil aistudio-sdk<0.2.3 paddlefsl tool_helpers decorator flatten_dict pathos ffmpy
    python-docx fire beautifulsoup4 wget
""".split()
WITH = ("numpy<2", "protobuf<=3.20.3")


def pip(*arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", *arguments], check=True, env=environment)


def install() -> None:
    """Make the environment, once."""
    if (FOLDER / "ready").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip("paddlepaddle==2.6.2", "setuptools<70", "wheel", "cython<3", *WITH)
    for name in IMPORTED:
        pip(name, *WITH)  # one by one: all together their versions cannot be resolved
    for name in LIBRARIES.values():
        pip("--no-deps", *(["--no-build-isolation"] if name.startswith("pgl") else []), name)
    pip("--no-deps", "huggingface_hub==0.20.3")  # of what others brought along, too new for PaddleNLP
    (FOLDER / "ready").touch()


def main() -> int:
    install()
    asked = [name for name in sys.argv[1:] if not name.startswith("-")] or list(LIBRARIES)
    if "--only-install" in sys.argv:
        return 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sorted(ROOT.glob("packages/*/src"))))}
    status = 0
    for name in asked:
        print(f"\n{name} {LIBRARIES.get(name, '').partition('==')[2]}", flush=True)
        status |= subprocess.run([PYTHON, "-m", "wherry", "ecosystem", name, "--paddle", PYTHON], env=environment).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
