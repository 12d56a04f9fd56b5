"""A save that is killed at any call of the system leaves a model that loads: the old one or the new one."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

# The runner forks for each call of the system, so that nothing is imported anew. In the child every call counts, and the one that
# is due ends it at once.
RUNNER = textwrap.dedent("""
    import os, sys
    import wherry_nn as nn
    import wherry_tensor as wt
    from wherry_graph import jit, static
    from wherry_graph.static import InputSpec
    from wherry_train import Model
    {setup}

    folder, at = sys.argv[1], 0
    while True:
        at += 1
        os.mkdir(f"{{folder}}/{{at}}")
        save(f"{{folder}}/{{at}}/net", 1.0)
        child = os.fork()
        if child == 0:
            count = 0
            def dying(real):
                def wrapped(*args, **kwargs):
                    global count
                    count += 1
                    if count == at:
                        os._exit(9)
                    return real(*args, **kwargs)
                return wrapped
            for name in ("open", "link", "replace", "rename", "unlink", "fsync", "fchmod", "listdir"):
                setattr(os, name, dying(getattr(os, name)))
            save(f"{{folder}}/{{at}}/net", 2.0)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            break
    print(at)
""")

LAYER = """
class Net(nn.Layer):
    def __init__(self, value):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        for parameter in self.parameters():
            parameter.set_value(wt.full(parameter.shape, value))

    def forward(self, x):
        return self.linear(x)

    {more}

def save(path, value):
    net = Net(value)
    net.eval()
    {save}
"""
ONE = LAYER.format(more="", save='jit.save(net, path, input_spec=[InputSpec([None, 2], "float32", "x")])')
METHODS = LAYER.format(
    more="def twice(self, x):\n        return self.linear(x) * 2",
    save='spec = [InputSpec([None, 2], "float32", "x")]\n    net.forward = jit.to_static(net.forward, input_spec=spec)\n    '
    "net.twice = jit.to_static(net.twice, input_spec=spec)\n    jit.save(net, path)",
)


@pytest.mark.parametrize("setup", [ONE, METHODS], ids=["one", "methods"])
def test_a_killed_save_leaves_the_old_model_or_the_new_one(tmp_path, setup):
    from wherry_graph import jit

    done = subprocess.run([sys.executable, "-c", RUNNER.format(setup=setup), str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 15
    import wherry_tensor as wt

    seen = set()
    for at in range(1, steps + 1):
        net = jit.load(str(tmp_path / str(at) / "net"))
        value = float(net(wt.ones([1, 2])).numpy()[0, 0])
        assert value in (3.0, 6.0), at
        if setup is METHODS:
            assert float(net.twice(wt.ones([1, 2])).numpy()[0, 0]) == 2 * value, at
        for parameter in net.parameters():
            np.testing.assert_array_equal(parameter.numpy(), np.full(parameter.shape, value / 3, "float32"))
        seen.add(value)
    assert seen == {3.0, 6.0}
    assert sorted(name for name in os.listdir(tmp_path / str(steps)) if name.startswith(".")) == []
