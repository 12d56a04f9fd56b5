"""For tests: ONNX's own cases, and files to damage."""
