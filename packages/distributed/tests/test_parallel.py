import warnings

import pytest

import wherry_distributed as dist
import wherry_nn as nn
import wherry_tensor as wt


@pytest.mark.parametrize("count", [2, 3])
def test_data_parallel_training_equals_one_process(launch, count):
    _, logs = launch("parallel.py", count=count)
    assert all(log.endswith("all right\n") for log in logs)


@pytest.mark.parametrize("count", [2, 3])
def test_numbers_are_averaged_in_common_memory_and_by_messages(launch, count):
    _, logs = launch("sums.py", count=count)
    assert all(log.endswith("all right\n") for log in logs)


def test_data_parallel_training_by_messages_equals_one_process(launch):
    _, logs = launch("parallel.py", count=2, env={"WHERRY_DISTRIBUTED_COMMON_MEMORY": "0"})
    assert all(log.endswith("all right\n") for log in logs)


def test_a_process_alone_runs_the_layer_as_it_is():
    with pytest.warns(UserWarning, match="alone"):
        model = dist.DataParallel(nn.Linear(3, 2))
    with model.no_sync():
        model(wt.ones([1, 3])).sum().backward()
    assert model._layers.weight.grad.tolist() == [[1.0, 1.0]] * 3
    with pytest.raises(TypeError, match="layers"):
        dist.DataParallel(3)


def test_a_process_alone_needs_no_mpi_for_collectives():
    with pytest.warns(UserWarning, match="alone"):
        dist.init_parallel_env()
    x, found = wt.to_tensor([1.0, 2.0]), []
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    dist.reduce(x)
    dist.all_gather(found, x)
    dist.alltoall([x], out := [])
    dist.scatter(y := wt.zeros([2]), [x])
    dist.reduce_scatter(y, [x])
    dist.alltoall_single(x, z := wt.zeros([2]))
    dist.gather(x, gathered := [])
    assert [each.tolist() for each in (x, found[0], out[0], y, z, gathered[0])] == [[1.0, 2.0]] * 6
    dist.barrier()
    assert dist.get_backend() == "alone" and not dist.is_initialized() and dist.new_group().ranks == [0]
    with pytest.raises(ValueError, match="expected one of \\[0\\]"):
        dist.send(x, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dist.ParallelEnv().world_size == 1


def test_gradients_pass_through_the_collectives_of_divided_layers(launch):
    _, logs = launch("divided.py", count=2)
    assert all(log.endswith("all right\n") for log in logs)
