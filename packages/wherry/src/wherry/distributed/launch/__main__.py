"""`python -m wherry.distributed.launch`."""
import sys

from wherry_distributed.launch import main

sys.exit(main(prog="python -m wherry.distributed.launch"))
