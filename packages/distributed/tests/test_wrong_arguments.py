"""What is not an argument of these functions is refused before anything happens."""
import numpy as np
import pytest

import wherry_distributed as dist
import wherry_tensor as wt
from wherry_distributed import fleet

X = wt.ones([1, 4, 2, 8])

CALLS = {
    "fleet of a data set": (lambda: dist.InMemoryDataset().global_shuffle(3), "global_shuffle asks the job. Got 3"),
    "ids of a table": (lambda: dist.CountFilterEntry(2).admits("a", [1]), "admits: ids and counts are arrays"),
    "get_group": (lambda: dist.get_group(np.ones(3)), "argument 'id' must be one integer"),
    "save_state_dict": (lambda: dist.save_state_dict({}, {}), "'path' must be a file name"),
    "load_state_dict": (lambda: dist.load_state_dict({}, X), "'path' must be a file name"),
    "training_state": (lambda: dist.training_state([X]), "'model' must be of the class Layer"),
    "ring_attention": (lambda: dist.ring_attention(X, X, [1]), "value"),
    "shard_optimizer": (lambda: dist.shard_optimizer("Adam"), "'optimizer' is not an optimizer. Got 'Adam'"),
    "names of a grid": (lambda: fleet.CommunicateTopology("data", [1]), "'hybrid_group_names' must be a list of names. Got 'data'"),
    "sizes of a grid": (lambda: fleet.CommunicateTopology(["data"], ["a"]), r"argument 'dims\[0\]' must be one integer"),
    "grid": (lambda: fleet.HybridCommunicateGroup(0), "'topology' must be of the class CommunicateTopology"),
    "Hadoop": (lambda: fleet.HDFSClient(None), "'hadoop_home' must be a file name"),
    "role": (lambda: fleet.init(lambda: 3), "'role_maker' must be of the class PaddleCloudRoleMaker"),
    "distributed_optimizer": (lambda: fleet.distributed_optimizer(3), "'optimizer' is not an optimizer. Got 3"),
    "seed": (lambda: fleet.model_parallel_random_seed("a"), "argument 'seed' must be one integer"),
    "recompute": (lambda: fleet.recompute(X, X), "'function' cannot be called"),
    "recompute_sequential": (lambda: fleet.recompute_sequential({"segments": 2}, 3, X), "'functions' are not several. Got 3"),
    "recompute_sequential, context": (lambda: fleet.recompute_sequential(2, [], X), "'ctx' must be of the class dict"),
    "recompute_hybrid": (lambda: fleet.recompute_hybrid(None, abs, X), "'ctx' must be of the class dict"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_something_else_is_refused(name):
    call, said = CALLS[name]
    with pytest.raises(TypeError, match=said):
        call()


def test_a_place_that_a_group_has_not():
    assert dist.get_group(0).get_global_rank(0) == 0
    with pytest.raises(IndexError, match="there is no such place in the group. Got 7, expected 0 to 0"):
        dist.get_group(0).get_global_rank(7)
