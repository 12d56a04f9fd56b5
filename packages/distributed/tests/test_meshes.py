import numpy as np
import pytest

from wherry_distributed.placement import Partial, ProcessMesh, Replicate, Shard


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_layers_and_tensors_on_meshes_equal_one_process(launch, count):
    _, logs = launch("meshes.py", count=count)
    assert all(log.endswith("all right\n") for log in logs)


def test_a_mesh_answers_as_paddle_does():
    mesh = ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
    assert (mesh.shape, mesh.ndim, mesh.process_ids, mesh.dim_names, mesh.get_dim_size("x")) == ([2, 2], 2, [0, 1, 2, 3], ["x", "y"], 2)
    assert mesh == ProcessMesh(shape=[2, 2], process_ids=range(4), dim_names=["x", "y"]) and mesh != ProcessMesh([[0, 1], [2, 3]])
    assert mesh.contains(3) and not mesh.contains(4) and np.array_equal(mesh.get_mesh_with_dim("y").mesh, [[0, 2], [1, 3]])
    assert mesh[0].process_ids == [0, 1] and mesh[0].dim_names == ["y"] and mesh[:, 1].process_ids == [1, 3] and mesh[:, 1].dim_names == ["x"]
    assert (repr(Shard(0)), repr(Replicate()), repr(Partial())) == ("Shard(dim=0)", "Replicate()", "Partial(reduce_type=SUM)")
    assert Shard(1).get_dim() == 1 and Shard(0).is_shard(0) and not Shard(0).is_shard(1) and Shard(0).is_shard() and Shard(0) == Shard(0)
    assert Shard(0) != Shard(1) and Replicate().is_replicated() and Partial().is_partial() and not Partial().is_shard()
