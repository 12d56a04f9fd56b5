"""Sequential, LayerList, LayerDict, ParameterList: order, names, indices."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt


class Add(nn.Layer):
    """Adds a number: what ran, and in which order, shows in the result."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x + self.number

    def extra_repr(self):
        return str(self.number)


def numbers(layers):
    return [layer.number for layer in layers]


def keys(layers):
    return [name for name, _ in layers.named_children()]


def parameter(size):
    return nn.create_parameter([size], "float32")


# Sequential.


def test_sequential_runs_layers_in_order():
    assert nn.Sequential(Add("a"), Add("b"))("x") == "xab"
    assert nn.Sequential()(3) == 3


def test_sequential_of_pairs_has_names_and_positions():
    layers = nn.Sequential(("one", Add(1)), ["two", Add(2)])
    assert keys(layers) == ["one", "two"]
    assert layers["two"] is layers[1] is layers[-1]
    assert numbers(layers) == [1, 2]
    assert len(layers) == 2


def test_slice_of_sequential_is_a_sequential():
    part = nn.Sequential(Add(1), Add(2), Add(3))[1:]
    assert isinstance(part, nn.Sequential)
    assert numbers(part) == [2, 3]
    assert keys(part) == ["0", "1"]


def test_sequential_is_changed_by_name():
    layers = nn.Sequential(Add(1), Add(2))
    layers[0] = Add(5)
    layers["new"] = Add(6)
    assert numbers(layers) == [5, 2, 6]
    del layers[0]
    assert keys(layers) == ["1", "new"]


def test_sequential_refuses():
    layers = nn.Sequential(Add(1))
    with pytest.raises(IndexError, match=r"Sequential: index 5 is out of range for 1 layers. .*range \[-1, 1\)"):
        layers[5]
    with pytest.raises(KeyError):
        layers["zz"]
    with pytest.raises(AssertionError, match="no layer of this name. Got 'zork', expected one of 0"):
        del layers["zork"]
    with pytest.raises(TypeError, match="expected an int, a slice or a name"):
        layers[1.5]
    with pytest.raises(AssertionError, match="expected a Layer"):
        nn.Sequential(3)
    with pytest.raises(TypeError, match=r"not a \(name, layer\) pair.*Sequential\(\*layers\)"):
        nn.Sequential([Add(1), Add(2)])
    with pytest.raises(TypeError, match="pair"):
        nn.Sequential(("a", Add(1)), Add(2))


# LayerList.


def test_layer_list_is_a_list():
    layers = nn.LayerList(Add(i) for i in range(2))
    assert layers.append(Add(2)) is layers
    assert layers.extend([Add(3)]) is layers
    assert numbers(layers) == [0, 1, 2, 3]
    assert layers[-1].number == 3 and layers["1"].number == 1
    assert isinstance(layers[1:3], nn.LayerList) and numbers(layers[1:3]) == [1, 2]
    layers.insert(0, Add(9))
    layers.insert(-1, Add(8))
    assert numbers(layers) == [9, 0, 1, 2, 8, 3]
    assert keys(layers) == ["0", "1", "2", "3", "4", "5"]


def test_layer_list_is_numbered_anew_after_deleting():
    layers = nn.LayerList(Add(i) for i in range(5))
    del layers[0]
    assert (numbers(layers), keys(layers)) == ([1, 2, 3, 4], ["0", "1", "2", "3"])
    del layers[0:2]
    assert numbers(layers) == [3, 4]
    layers[-1] = Add(7)
    assert (numbers(layers), keys(layers)) == ([3, 7], ["0", "1"])


def test_layer_list_refuses():
    layers = nn.LayerList([Add(0)])
    for wrong in (1, -2):
        with pytest.raises(IndexError, match="out of range for 1 layers"):
            layers[wrong]
        with pytest.raises(IndexError, match="out of range"):
            layers[wrong] = Add(1)
        with pytest.raises(AssertionError, match="out of range.*Use append"):
            layers.insert(wrong, Add(1))
    for act in (layers.append, lambda x: layers.insert(0, x), lambda x: layers.extend([x]), lambda x: nn.LayerList([x])):
        with pytest.raises(AssertionError, match="expected a Layer"):
            act(3)
    with pytest.raises(TypeError, match=r"Got int, expected an iterable of layers"):
        nn.LayerList(3)
    with pytest.raises(NotImplementedError, match="a LayerList or LayerDict is not called"):
        layers(1)


@pytest.mark.parametrize("made", [nn.LayerList, nn.LayerDict, nn.ParameterList, nn.ParameterDict])
@pytest.mark.parametrize("value", [np.array(3), wt.to_tensor(3.0)], ids=["array", "tensor"])
def test_an_array_without_an_axis_is_no_list(made, value):
    with pytest.raises(TypeError, match=f"{made.__name__}: .*Got {type(value).__name__} without an axis, expected"):
        made(value)


# LayerDict.


def test_layer_dict_keeps_names_in_order():
    layers = nn.LayerDict({"b": Add(1), "a": Add(2)})
    assert list(layers) == list(layers.keys()) == ["b", "a"]
    assert numbers(layers.values()) == [1, 2]
    assert [name for name, _ in layers.items()] == ["b", "a"]
    assert "a" in layers and "q" not in layers and len(layers) == 2
    layers.update([("z", Add(3))])
    layers.update(nn.LayerDict({"b": Add(4)}))
    layers["y"] = Add(5)
    assert list(layers) == ["b", "a", "z", "y"]
    assert layers["b"].number == 4
    assert layers.pop("a").number == 2
    del layers["z"]
    assert list(layers) == ["b", "y"]
    layers.clear()
    assert len(layers) == 0
    assert list(nn.LayerDict([["m", Add(1)]])) == ["m"]


def test_layer_dict_refuses():
    layers = nn.LayerDict()
    for act in (layers.pop, layers.__getitem__, layers.__delitem__):
        with pytest.raises(KeyError, match="q"):
            act("q")
    with pytest.raises(AssertionError, match="sublayers is not a dict or a list of pairs. Got int"):
        layers.update(3)
    with pytest.raises(TypeError, match="element 0 is not a pair. Got 3"):
        layers.update([3])
    with pytest.raises(ValueError, match="element 0 is not a pair"):
        layers.update([("k",)])
    with pytest.raises(AssertionError, match="expected a Layer"):
        layers.update({"h": 3})


# ParameterList.


def test_parameter_list_registers_its_parameters():
    parameters = nn.ParameterList([parameter(2), parameter(3)])
    assert parameters.append(parameter(4)) is parameters
    parameters[0] = parameter(7)
    assert [p.shape for p in parameters] == [[7], [3], [4]]
    assert list(parameters.state_dict()) == ["0", "1", "2"]
    assert len(parameters) == 3 and parameters[1].shape == [3]
    assert repr(parameters) == "ParameterList()"


def test_parameter_list_refuses():
    parameters = nn.ParameterList()
    with pytest.raises(KeyError):
        parameters[0]
    for wrong in (3, wt.ones([1])):
        with pytest.raises(TypeError, match="expected a Parameter"):
            parameters.append(wrong)
        with pytest.raises(AssertionError, match="expected a Parameter"):
            parameters[0] = wrong
    with pytest.raises(TypeError, match="Got int, expected an iterable"):
        nn.ParameterList(3)


def test_containers_are_named_as_in_paddle():
    with nn.unique_name.guard():
        made = [nn.Sequential(), nn.LayerList(), nn.LayerDict(), nn.ParameterList(), nn.Identity()]
        assert [layer.full_name() for layer in made] == [
            "sequential_0", "layer_list_0", "layer_dict_0", "parameter_list_0", "identity_0",
        ]


def test_containers_print_what_they_hold():
    assert repr(nn.Sequential(nn.LayerList([Add(1)]), nn.Identity(3, a=4))) == (
        "Sequential(\n  (0): LayerList(\n    (0): Add(1)\n  )\n  (1): Identity()\n)"
    )
