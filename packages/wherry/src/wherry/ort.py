"""The interface of ONNX Runtime: `import wherry.ort as ort`, and `ort.InferenceSession(path)` runs here."""
from wherry_infer.session import *  # noqa: F403
from wherry_infer.session import __all__ as __all__
