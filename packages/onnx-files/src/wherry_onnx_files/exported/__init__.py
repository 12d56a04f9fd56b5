"""Programs of PyTorch's `torch.export`, `.pt2`: an archive of weights with a graph of ATen's operators."""
from wherry_onnx_files.exported.reading import read_exported, summary

__all__ = ["read_exported", "summary"]
