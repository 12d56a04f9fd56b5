"""`paddle` in the processes that `python -m wherry run` and its script start: it is wherry there too."""
import sys

from wherry._alias import alias_paddle

del sys.modules[__name__]  # this file only stands in for it
alias_paddle()
import paddle  # noqa: E402, F401  now Wherry, which the import that led here gives
