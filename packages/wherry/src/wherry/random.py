"""`paddle.random`: the generator by the path that PyTorch has for it."""
from wherry import _absent
from wherry_tensor import get_rng_state, seed, set_rng_state
from wherry_tensor import manual_seed as manual_seed
from wherry_tensor.functions.random import initial_seed

__all__ = ["get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

_absent.explain(__name__)
