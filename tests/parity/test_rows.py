"""Every layer, function, optimizer and scheduler of 2.3 stands in one of the tables that are compared with real Paddle."""
from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import calls  # noqa: E402
import functional_calls  # noqa: E402
import layer_calls  # noqa: E402
import optimizer_calls  # noqa: E402
import training_calls  # noqa: E402

# Names without a row, and why.
NOT_ASKED = {
    "paddle.amp.decorate": "real Paddle does nothing on a CPU",
    "paddle.nn.RNNCellBase": "abstract: its methods are asked through the cells",
    "paddle.nn.functional.margin_cross_entropy": "real Paddle has no kernel for CPUs",
    "paddle.nn.functional.sparse_attention": "real Paddle has no kernel for CPUs",
    "paddle.optimizer.Optimizer": "abstract: its methods are asked through the optimizers",
}


def test_every_name_has_a_row():
    rows = [call.expression for table in (calls, functional_calls, training_calls) for call in table.CALLS]
    rows += [f"{row.layer} {row.call}" for row in layer_calls.LAYERS]
    rows += [f"{row.how} {row.before}" for row in optimizer_calls.OPTIMIZERS] + [row.how for row in optimizer_calls.SCHEDULERS]
    rows += [(HERE / "layer_program.py").read_text()]
    asked = {word for row in rows for word in re.findall(r"\w+", row)}
    table = (HERE.parent / "data" / "api-2.3.tsv").read_text().splitlines()[1:]
    names = [name for name, kind, _ in (line.split("\t") for line in table) if kind in ("class", "function")]
    names = [name for name in names if re.match(r"paddle\.(nn|optimizer|metric|regularizer|io|amp)\.", name)]
    missing = {name for name in names if name.rpartition(".")[2] not in asked}
    assert missing == set(NOT_ASKED)
