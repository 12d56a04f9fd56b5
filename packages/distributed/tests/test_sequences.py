"""Sequences and experts that are divided among processes."""
import pytest


@pytest.mark.parametrize("count", [4, pytest.param(2, marks=pytest.mark.slow)])
def test_divided_sequences_and_experts_equal_one_process(launch, count):
    _, logs = launch("sequences.py", count=count)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))
