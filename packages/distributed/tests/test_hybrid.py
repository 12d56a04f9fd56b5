"""Models divided among processes: layers, stages, state."""
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_distributed.pipeline import LayerDesc, PipelineLayer
from wherry_distributed.pipeline.layers import segments
from wherry_distributed.pipeline.schedule import Step, interleaved, one_forward_one_backward


@pytest.mark.parametrize("count", [4, pytest.param(2, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)])
def test_every_layout_trains_as_one_process(launch, count):
    _, logs = launch("hybrid.py", count=count)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_training_with_divided_state_equals_one_process(launch, count):
    _, logs = launch("sharded.py", count=count)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))


def test_a_stage_keeps_no_more_small_batches_than_stages_are_behind():
    for stage in range(4):
        held = most = 0
        for step in one_forward_one_backward(stage, 4, 8):
            held += 1 if step.forward else -1
            most = max(most, held)
        assert held == 0 and most == 4 - stage


@pytest.mark.parametrize(("stages", "micros", "chunks"), [(2, 2, 2), (2, 4, 3), (4, 8, 2)])
def test_interleaved_stages_never_wait_in_a_circle(stages, micros, chunks):
    orders = [interleaved(stage, stages, micros, chunks) for stage in range(stages)]
    done, at = set(), [0] * stages
    while any(at[stage] < len(orders[stage]) for stage in range(stages)):
        before = sum(at)
        for stage in range(stages):
            while at[stage] < len(orders[stage]):
                step = orders[stage][at[stage]]
                part, last = step.chunk * stages + stage, stages * chunks - 1
                needs = (True, step.micro, part - 1) if step.forward else (False, step.micro, part + 1) if part < last else (True, step.micro, part)
                if needs[2] >= 0 and needs not in done:
                    break
                done.add((step.forward, step.micro, part))
                at[stage] += 1
        assert sum(at) > before
    assert len(done) == 2 * micros * stages * chunks and Step(True, 0, 0) in orders[0]
    with pytest.raises(ValueError, match=f"accumulate_steps={micros + 1}"):
        interleaved(0, stages, micros + 1, chunks)


def test_layers_are_divided_evenly_or_by_their_class():
    layers = [LayerDesc(nn.Linear, 2, 2), nn.ReLU(), nn.ReLU(), LayerDesc(nn.Linear, 2, 2), len]
    assert segments(layers, 2, "uniform") == [0, 2, 5] and segments(layers, 2, "layer:Linear") == [0, 3, 5]
    assert segments(layers, 2, [0, 4]) == [0, 4, 5]
    for parts, method, text in ((6, "uniform", "too few"), (2, "layer:ReLU6", "do not divide"), (2, "odd", "not known"), (2, [1, 2], "does not fit")):
        with pytest.raises(ValueError, match=text):
            segments(layers, parts, method)


def test_a_pipeline_of_one_stage_is_its_layers():
    model = PipelineLayer([LayerDesc(nn.Linear, 3, 2), nn.ReLU(), lambda x: x * 2])
    x = wt.ones([4, 3])
    assert (model(x) == nn.functional.relu(model.state_dict()["0.weight"].sum(axis=0) + model.state_dict()["0.bias"]) * 2).all()
    with pytest.raises(ValueError, match="num_stages=2"):
        PipelineLayer([nn.ReLU()] * 4, num_stages=2)
    with pytest.raises(TypeError, match="cannot be called"):
        LayerDesc(3)
