"""How ops are written in ONNX, one module per op family. Importing one registers its rules."""
