"""ONNX's own cases; all of them are run in tests/ (integration)."""
import pytest

pytest.importorskip("onnx")  # not to be had in the browser
from wherry_onnx_files.testing.node_cases import run_cases  # noqa: E402


@pytest.mark.filterwarnings("ignore")
def test_of_every_fifth_case_of_onnx_nineteen_in_twenty_agree():
    found = run_cases()
    print(found)
    assert found.count >= 300, found
    assert found.agree / found.count >= 0.97, found.wrong
