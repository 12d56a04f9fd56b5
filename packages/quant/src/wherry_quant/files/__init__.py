"""Formats of files that hold weights of few bits: GGUF, and the layouts of GPTQ, AWQ and compressed-tensors in safetensors."""
