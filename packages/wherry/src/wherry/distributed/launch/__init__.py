"""`python -m wherry.distributed.launch train.py`, and `python -m paddle.distributed.launch` where `paddle` stands for `wherry`."""
from wherry_distributed.launch import main

__all__ = ["main"]
