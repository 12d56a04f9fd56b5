import pytest

from wherry_distributed import rpc


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_functions_run_in_other_workers(launch, count):
    _, logs = launch("calls.py", count=count)
    assert all(log.endswith("all right\n") for log in logs)


def test_a_worker_that_is_gone_is_named(launch):
    done, _ = launch("calls.py", "gone", expect=3)
    assert "rank 1 (pid" in done.stderr and "exit status 3" in done.stderr


def test_without_a_secret_nothing_listens(monkeypatch):
    monkeypatch.delenv("PADDLE_JOB_SECRET", raising=False)
    with pytest.raises(RuntimeError, match="PADDLE_JOB_SECRET"):
        rpc.init_rpc("a", 0, 1, "127.0.0.1:1")
    with pytest.raises(ValueError, match="IP:PORT"):
        rpc.init_rpc("a", 0, 1)
