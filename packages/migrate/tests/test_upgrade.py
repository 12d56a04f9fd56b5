"""Programs of Paddle 1.x, rewritten."""
import pytest

from wherry_migrate import upgrade
from wherry_migrate.paddle1 import STEPS, table


def rewritten(source, steps=None):
    return upgrade(source, steps).after


HEAD = "import paddle.fluid as fluid\n"


def test_the_table_is_that_of_the_manual():
    # 362 rows, of which two names stand twice with the same successor.
    assert len(table()) == 360
    assert sum(convertible for _, convertible in table().values()) == 285 - 1  # layers.embedding: once convertible, once not; the first counts


def test_names_are_found_however_they_were_imported():
    for head, name in (("import paddle.fluid as fluid", "fluid.layers.relu"), ("from paddle.fluid import layers", "layers.relu"),
                       ("from paddle.fluid.layers import relu", "relu"), ("import paddle.fluid.layers as L", "L.relu"), ("from paddle.fluid.layers.nn import relu", "relu"),
                       ("import paddle.fluid", "paddle.fluid.layers.relu")):
        assert rewritten(f"{head}\ny = {name}(x)\n") == "import paddle\ny = paddle.nn.functional.relu(x)\n"


def test_a_name_that_was_not_imported_from_paddle_stays():
    source = "import fluid\n\n\ndef relu(x):\n    return fluid.layers.relu(x)\n"
    assert rewritten(source) == source


def test_arguments_take_their_new_names():
    assert rewritten(HEAD + "y = fluid.layers.concat([a, b], 1)\n").endswith("paddle.concat([a, b], axis=1)\n")
    assert rewritten(HEAD + "y = fluid.layers.softmax(input=x)\n").endswith("paddle.nn.functional.softmax(x=x)\n")
    assert rewritten(HEAD + "y = fluid.layers.fill_constant([2], 'float32', 3)\n").endswith("paddle.full([2], dtype='float32', fill_value=3)\n")


def test_an_argument_without_a_successor_is_named_unless_it_changed_nothing():
    result = upgrade(HEAD + "y = fluid.layers.elementwise_add(x, y, axis=0)\nz = fluid.layers.elementwise_add(x, y, axis=-1)\n")
    assert "axis" not in result.after
    assert [(one.line, one.text) for one in result.warnings] == [(2, "paddle.fluid.layers.elementwise_add: the argument axis was dropped, its successor has none")]


def test_what_cannot_be_converted_stays_with_a_warning_and_its_import():
    result = upgrade(HEAD + "y = fluid.layers.expand(x, [1, 2])\n")
    assert result.after == result.before
    assert result.warnings[0].line == 2 and "paddle.expand" in result.warnings[0].text


def test_a_name_that_is_not_in_the_table_is_named():
    result = upgrade(HEAD + "y = fluid.contrib.something(x)\n")
    assert "fluid.contrib.something: is not in the table" in result.warnings[0].text


def test_a_guard_goes_and_its_body_moves_left():
    source = HEAD + "place = fluid.CPUPlace()\nwith fluid.dygraph.guard(place):\n    # first\n    x = 1\n    if x:\n        y = 2\nz = 3\n"
    assert rewritten(source) == "import paddle\nplace = paddle.CPUPlace()\n# first\nx = 1\nif x:\n    y = 2\nz = 3\n"


def test_a_guard_beside_another_context_leaves_that():
    source = HEAD + "with fluid.dygraph.guard(), open('x') as f:\n    pass\n"
    assert "with open('x') as f:\n    pass" in rewritten(source)


CLASS = HEAD + """

class Net(fluid.dygraph.Layer):
    def __init__(self):
        super().__init__()
        self.fc = fluid.dygraph.Linear(4, 3, act="softmax")

    def forward(self, x):
        return self.fc(x)
"""


def test_act_of_a_layer_moves_to_where_it_is_called():
    after = rewritten(CLASS)
    assert "self.fc = paddle.nn.Linear(4, out_features=3)" in after
    assert "return paddle.nn.functional.softmax(self.fc(x))" in after


def test_act_of_a_layer_that_nobody_keeps_stands_behind_it():
    result = upgrade(HEAD + "layers = [fluid.dygraph.Linear(4, 3, act='relu')]\n")
    assert "paddle.nn.Sequential(paddle.nn.Linear(4, out_features=3), paddle.nn.ReLU())" in result.after
    assert "0. in their names" in result.warnings[0].text


def test_act_of_a_function_is_called_on_its_result():
    assert "paddle.nn.functional.relu(paddle.add(x, y=y))" in rewritten(HEAD + "z = fluid.layers.elementwise_add(x, y, act='relu')\n")


def test_a_static_program_enables_static_mode():
    after = rewritten(HEAD + "x = fluid.layers.data('x', [4])\ny = fluid.layers.fc(x, 3, act='relu')\nexe = fluid.Executor(fluid.CPUPlace())\n")
    assert after.startswith("import paddle\npaddle.enable_static()\n")
    assert "paddle.static.data('x', shape=[None, 4])" in after
    assert "paddle.static.nn.fc(x, size=3, activation='relu')" in after


def test_saving_writes_the_suffix_that_1_8_wrote_by_itself():
    assert 'paddle.save(net.state_dict(), path="m" + ".pdparams")' in rewritten(HEAD + 'fluid.save_dygraph(net.state_dict(), "m")\n')


def test_comments_and_layout_stay():
    source = HEAD + "net = fluid.dygraph.Linear(\n    input_dim=4,  # in\n    output_dim=3,\n)\n"
    assert rewritten(source) == "import paddle\nnet = paddle.nn.Linear(\n    in_features=4,  # in\n    out_features=3)\n"


@pytest.mark.parametrize("step", STEPS)
def test_each_step_alone_gives_a_program(step):
    compile(rewritten(CLASS + "with fluid.dygraph.guard():\n    y = fluid.layers.concat([x], 0)\n", frozenset({step})), "p.py", "exec")


def test_an_unknown_step_is_refused():
    with pytest.raises(ValueError, match="no step refactor_all"):
        upgrade("", frozenset({"refactor_all"}))


def test_python_2_is_refused():
    with pytest.raises(SyntaxError, match="not Python 3"):
        upgrade("print 1\n")


def test_text_is_asked_for():
    with pytest.raises(TypeError, match="a program is text"):
        upgrade(b"x")


def test_rewriting_again_changes_nothing():
    once = rewritten(CLASS)
    assert rewritten(once) == once
