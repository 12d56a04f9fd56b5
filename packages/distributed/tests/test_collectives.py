import pytest


@pytest.mark.parametrize("count", [2, 3])
def test_every_collective_equals_numpy(launch, count):
    _, logs = launch("collectives.py", count=count)
    assert all(log.endswith("all right\n") for log in logs)
