"""What a Layer registers, runs, names, prints, gives and takes."""
import copy
import pickle
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn import unique_name
from wherry_nn.initializer import Constant


class Linear(nn.Layer):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = self.create_parameter([inputs, outputs])
        self.bias = self.create_parameter([outputs], is_bias=True)

    def forward(self, x):
        return x @ self.weight + self.bias

    def extra_repr(self):
        return f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}"


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = Linear(2, 3)
        self.b = nn.Sequential(Linear(3, 3), nn.Identity())
        self.register_buffer("kept", wt.ones([2]))
        self.register_buffer("lost", wt.ones([1]), persistable=False)
        self.assigned = wt.zeros([3])
        self.p = self.create_parameter([2])
        self.q = self.create_parameter([2], is_bias=True)

    def forward(self, x):
        return self.b(self.a(x))


@pytest.fixture
def model():
    with unique_name.guard():
        return Model()


# Names and tables: the expected values are those of Paddle 2.6.2 for the same program.


def test_a_layer_at_two_places_is_yielded_at_both_where_that_is_wanted():
    inner = nn.Sequential(nn.Identity())
    net = nn.Sequential(inner, inner)
    assert [name for name, _ in net.named_sublayers(remove_duplicate=False)] == ["0", "0.0", "1", "1.0"]
    assert [name for name, _ in net.named_sublayers()] == ["0", "0.0"]


def test_state_dict_has_the_keys_order_and_parameter_names_of_paddle(model):
    names = {key: value.name for key, value in model.state_dict().items()}
    assert list(names) == ["p", "q", "kept", "a.weight", "a.bias", "b.0.weight", "b.0.bias"]
    del names["kept"]
    assert names == {
        "p": "model_0.w_0", "q": "model_0.b_0", "a.weight": "linear_0.w_0", "a.bias": "linear_0.b_0",
        "b.0.weight": "linear_1.w_0", "b.0.bias": "linear_1.b_0",
    }


def test_to_static_state_dict_has_buffers_that_are_not_persistable_too(model):
    assert list(model.to_static_state_dict())[2:5] == ["kept", "lost", "assigned"]


def test_names_of_members_are_paths(model):
    assert [name for name, _ in model.named_parameters("pre")][:3] == ["pre.p", "pre.q", "pre.a.weight"]
    assert [name for name, _ in model.named_sublayers(include_self=True)] == ["", "a", "b", "b.0", "b.1"]
    assert [name for name, _ in model.named_sublayers("pre", include_self=True)] == ["pre", "pre.a", "pre.b", "pre.b.0", "pre.b.1"]
    assert [name for name, _ in model.named_buffers()] == ["kept", "lost", "assigned"]
    assert [name for name, _ in model.named_children()] == ["a", "b"]
    assert len(model.buffers()) == 3
    assert [name for name, _ in model.named_parameters(include_sublayers=False)] == ["p", "q"]
    assert next(iter(model.state_dict(structured_name_prefix="net."))) == "net.p"
    assert list(model.state_dict(include_sublayers=False)) == ["p", "q", "kept"]


def test_what_occurs_twice_is_listed_once_but_saved_under_both_names():
    shared = nn.Layer()
    shared.a = Linear(2, 2)
    shared.b = shared.a
    shared.c = Linear(2, 2)
    shared.c.weight = shared.a.weight
    assert [name for name, _ in shared.named_parameters()] == ["a.weight", "a.bias", "c.bias"]
    assert [name for name, _ in shared.named_children()] == ["a", "c"]
    assert list(shared.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias", "c.weight", "c.bias"]


@pytest.mark.parametrize("kind, expected", [
    ("ReLU", "re_lu"), ("LSTMCell", "lstm_cell"), ("ConvNeXt", "conv_ne_xt"), ("PReLU", "p_re_lu"), ("RReLU", "r_re_lu"),
    ("Conv2DTranspose", "conv2d_transpose"), ("BatchNorm1D", "batch_norm1d"), ("GELU6", "gelu6"), ("ABc", "a_bc"),
    ("BCEWithLogitsLoss", "bce_with_logits_loss"), ("BatchNormZ2DFoo", "batch_norm_z2d_foo"), ("_Foo", "__foo"),
    ("Foo_Bar", "foo__bar"), ("KLDivLoss", "kl_div_loss"), ("ResNet18", "res_net18"), ("AdaptiveAvgPool2D", "adaptive_avg_pool2d"),
])
def test_layers_are_named_after_their_class_as_in_paddle(kind, expected):
    with unique_name.guard():
        layer = type(kind, (nn.Layer,), {})
        assert layer().full_name() == f"{expected}_0"
        assert layer().full_name() == f"{expected}_1"


def test_name_scope_replaces_the_name_of_the_class():
    with unique_name.guard():
        assert nn.Layer("My Scope").full_name() == "My Scope_0"
        assert nn.Layer(name_scope="net").create_parameter([1]).name == "net_0.w_0"


# Attributes.


def test_tensor_assigned_to_an_attribute_is_a_buffer_that_is_not_saved():
    layer = nn.Layer()
    mask = wt.ones([2])
    layer.mask = mask
    assert layer.mask is mask
    assert list(layer.buffers()) == [mask]
    assert list(layer.state_dict()) == []


def test_reserved_buffer_stays_persistable_when_it_is_filled():
    layer = nn.Layer()
    layer.register_buffer("mean", None)
    assert list(layer.state_dict()) == []
    layer.mean = wt.ones([2])
    assert list(layer.state_dict()) == ["mean"]


def test_attribute_moves_between_tables_when_its_kind_changes():
    layer = nn.Layer()
    layer.x = 3
    layer.x = Linear(1, 1)
    assert list(dict(layer.named_children())) == ["x"]
    layer.x = layer.create_parameter([1])
    assert not layer.sublayers()
    assert [name for name, _ in layer.named_parameters()] == ["x"]


def test_none_keeps_the_name_and_del_forgets_it():
    layer = Linear(1, 1)
    layer.weight = None
    assert layer.weight is None
    assert list(layer.state_dict()) == ["bias"]
    del layer.bias
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'bias'"):
        _ = layer.bias
    with pytest.raises(AttributeError):
        del layer.never_there
    layer.bias = wt.ones([1])  # the name is free again
    assert [name for name, _ in layer.named_buffers()] == ["bias"]


def test_plain_lists_of_layers_are_not_looked_into():
    layer = nn.Layer()
    layer.layers = [Linear(1, 1)]
    assert layer.sublayers() == []


def test_tables_may_be_changed_directly():
    layer = Linear(1, 1)
    weight, other = layer.weight, layer.create_parameter([1, 1])
    layer._parameters["weight"] = other
    assert layer.weight is other
    assert layer._parameters.pop("weight") is other
    assert not hasattr(layer, "weight")
    layer._parameters.update(weight=weight)
    assert layer.weight is weight
    assert layer._parameters.setdefault("weight", other) is weight
    layer._parameters |= {"weight": other}
    assert layer.weight is other
    assert layer._parameters.popitem() == ("weight", other)
    layer._parameters.clear()
    assert not hasattr(layer, "weight") and not hasattr(layer, "bias")


def test_attributes_and_methods_are_not_hidden_by_names_in_tables():
    layers = nn.LayerDict({"items": nn.Identity(), "training": nn.Identity()})
    assert layers.training is True
    assert [name for name, _ in layers.items()] == ["items", "training"]
    del layers["training"]
    assert layers.training is True


def test_a_layer_goes_without_the_garbage_collector():
    import gc
    import weakref

    layer = nn.Sequential(Linear(1, 1))
    gone = weakref.ref(layer[0].weight) if hasattr(layer[0].weight, "__weakref__") else weakref.ref(layer[0])
    gc.disable()
    try:
        del layer
        assert gone() is None
    finally:
        gc.enable()


def test_shallow_copy_has_tables_of_its_own():
    layer = Linear(1, 1)
    other = copy.copy(layer)
    assert other.weight is layer.weight
    other.weight = other.create_parameter([1, 1])
    assert other.weight is not layer.weight


def test_dir_lists_members(model):
    assert {"a", "b", "p", "q", "kept", "state_dict"} <= set(dir(model))


@pytest.mark.parametrize("name, value, expected", [
    ("p", 5, "a parameter. Got 5 .*expected a Parameter or None"),
    ("p", wt.ones([2]), "a parameter. Got Tensor"),
    ("a", 4, "a sublayer. Got 4 .*expected a Layer or None"),
    ("kept", 7, "a buffer. Got 7 .*expected a Tensor or None"),
])
def test_members_are_only_replaced_by_their_kind(model, name, value, expected):
    with pytest.raises(TypeError, match=f"(?s)Model: attribute '{name}' is {expected}"):
        setattr(model, name, value)


@pytest.mark.parametrize("value", [wt.ones([1]), nn.Identity(), Linear(1, 1).weight])
def test_members_before_super_init_are_refused(value):
    class Hasty(nn.Layer):
        def __init__(self):
            self.x = value

    with pytest.raises(ValueError, match=r"Hasty: super\(\).__init__\(\) should be called first"):
        Hasty()


def test_plain_attribute_before_super_init_is_fine_but_calling_says_what_is_missing():
    class Hasty(nn.Layer):
        def __init__(self):
            self.x = 3

    with pytest.raises(AttributeError, match="super"):
        Hasty()(1)


@pytest.mark.parametrize("name, error, expected", [
    ("x.y", KeyError, "can not contain '.'"), ("", KeyError, "can not be empty"), ("b", KeyError, "'b' already exists"),
    ("forward", KeyError, "'forward' already exists"), (3, TypeError, "Got 3 .*expected a str"),
])
def test_bad_names_of_parameters_and_buffers_are_refused(model, name, error, expected):
    with pytest.raises(error, match=expected):
        model.add_parameter(name, None)
    with pytest.raises(error, match=expected):
        model.register_buffer(name, None)


def test_registering_something_else_is_refused(model):
    with pytest.raises(TypeError, match="expected a Parameter"):
        model.add_parameter("z", 3)
    with pytest.raises(TypeError, match="expected a Tensor"):
        model.register_buffer("z", 3)
    with pytest.raises(AssertionError, match="expected a Layer"):
        model.add_sublayer("z", 3)


def test_add_sublayer_returns_the_layer_and_takes_dots():
    layer, inner = nn.Layer(), nn.Identity()
    assert layer.add_sublayer("x.y", inner) is inner
    assert getattr(layer, "x.y") is inner


# Parameters.


def test_parameters_have_the_default_dtype_whatever_the_layer_says():
    assert nn.Layer(dtype="float16").create_parameter([1]).dtype.name == "float32"
    wt.set_default_dtype("float64")
    try:
        assert nn.Layer().create_parameter([1]).dtype.name == "float64"
    finally:
        wt.set_default_dtype("float32")


def test_bias_starts_with_zeros_and_weight_within_the_bound_of_xavier():
    layer = nn.Layer()
    assert layer.create_parameter([3], is_bias=True).tolist() == [0, 0, 0]
    weight = layer.create_parameter([100, 200])
    assert 0.95 * 0.1414 < float(weight.abs().max()) <= 0.1415
    assert layer.create_parameter([]).shape == []


def test_attr_says_name_initializer_and_options():
    layer = nn.Layer()
    attr = nn.ParamAttr(name="mine", initializer=Constant(3.0), learning_rate=0.5, trainable=False, need_clip=False)
    parameter = layer.create_parameter([2], attr=attr)
    assert (parameter.name, parameter.tolist()) == ("mine", [3, 3])
    assert parameter.optimize_attr == {"learning_rate": 0.5}
    assert parameter.stop_gradient and not parameter.trainable and not parameter.need_clip
    assert layer.create_parameter([2], attr="by name").name == "by name"
    assert layer.create_parameter([2], attr=Constant(2.0)).tolist() == [2, 2]
    assert layer.create_parameter([2], attr=False) is None
    assert layer.create_parameter([2], default_initializer=Constant(4.0)).tolist() == [4, 4]


def test_a_name_is_given_once_unless_under_another_guard():
    with unique_name.guard():
        nn.Layer().create_parameter([1], attr="taken")
        with pytest.raises(ValueError, match="the name is taken. Got name='taken'"):
            nn.Layer().create_parameter([1], attr="taken")
        with unique_name.guard():
            assert nn.Layer().create_parameter([1], attr="taken").name == "taken"


@pytest.mark.parametrize("arguments, error, expected", [
    (dict(shape=[2], attr=3), TypeError, "Got 3 .*expected a ParamAttr"),
    (dict(shape=[2], attr={}), TypeError, "Got {}"),
    (dict(shape=2), TypeError, "Got 2 .*Write .2. for one axis"),
    (dict(shape="ab"), TypeError, "'shape' must be"),
    (dict(shape=[2.0]), TypeError, "expected an int"),
    (dict(shape=[2, 0]), AssertionError, "size to be larger than 0.*axis 1 has size 0"),
    (dict(shape=[-1, 2]), ValueError, "axis 0 has size -1"),
    (dict(shape=[2], dtype="int64"), TypeError, "Got dtype=int64.*Constant"),
    (dict(shape=[2], dtype="foo"), TypeError, "Got 'foo'"),
    (dict(shape=[2], default_initializer=3), TypeError, "not an initializer. Got 3"),
])
def test_create_parameter_refuses(arguments, error, expected):
    with pytest.raises(error, match=f"(?s){expected}"):
        nn.Layer().create_parameter(**arguments)


def test_integer_parameters_need_an_initializer():
    assert nn.Layer().create_parameter([2], dtype="int64", default_initializer=Constant(1)).tolist() == [1, 1]


def test_parameters_outside_of_layers_are_numbered_by_themselves():
    with unique_name.guard():
        assert nn.create_parameter([2, 3], "float32").name == "create_parameter_0.w_0"
        assert nn.create_parameter([3], "float32", is_bias=True).name == "create_parameter_1.b_0"
        assert nn.create_parameter([3], "float32", name="named").name == "named"


def test_created_tensor_is_filled_by_assign():
    with unique_name.guard():
        layer = nn.Layer()
        tensor = layer.create_tensor(dtype="int64", persistable=True)
        assert (tensor.name, tensor.dtype.name, tensor.persistable) == ("layer_0._generated_var_0", "int64", True)
        assert layer.create_variable(name="a.b").name == "layer_0.a.b"
    tensor = nn.Layer().create_tensor()
    wt.assign(wt.ones([2, 2]), tensor)
    assert tensor.tolist() == [[1, 1], [1, 1]]


# Running.


def test_hooks_change_inputs_and_outputs_and_come_off():
    layer = nn.Identity()
    seen = []
    before = layer.register_forward_pre_hook(lambda self, inputs: seen.append(inputs))
    double = layer.register_forward_pre_hook(lambda self, inputs: inputs[0] * 2)
    after = layer.register_forward_post_hook(lambda self, inputs, outputs: outputs + inputs[0])
    assert layer(1) == 4
    assert seen == [(1,)]
    double.remove()
    double.remove()  # harmless
    assert layer(1) == 2
    after.remove()
    before.remove()
    assert layer(5) == 5
    assert len(seen) == 2


def test_pre_hook_sees_positional_inputs_only():
    layer = nn.Identity()
    seen = []
    layer.register_forward_pre_hook(lambda self, inputs: seen.append(inputs))
    layer(input=1)
    assert seen == [()]


def test_a_hook_may_remove_itself():
    layer = nn.Identity()
    handle = layer.register_forward_post_hook(lambda *_: handle.remove())
    assert (layer(1), layer(2)) == (1, 2)


@pytest.mark.parametrize("register", ["register_forward_pre_hook", "register_forward_post_hook", "register_state_dict_hook"])
def test_a_hook_must_be_a_function(register):
    with pytest.raises(TypeError, match=f"{register}: a hook is a function. Got 3"):
        getattr(nn.Layer(), register)(3)


def test_layer_without_forward_and_with_backward_say_what_to_do():
    with pytest.raises(NotImplementedError, match="Layer: forward is not defined"):
        nn.Layer()(1)
    with pytest.raises(ValueError, match=r"Layer shouldn't implement backward.*loss.backward\(\)"):
        nn.Layer().backward(1)


def test_forward_may_be_replaced_on_the_object():
    layer = Linear(1, 1)
    layer.forward = lambda x: x
    assert layer(5) == 5


def test_train_and_eval_reach_all_layers_and_return_nothing(model):
    assert model.eval() is None
    assert not any(layer.training for layer in model.sublayers(include_self=True))
    assert model.train() is None
    assert all(layer.training for layer in model.sublayers(include_self=True))


def test_apply_visits_inner_layers_first_and_itself_last(model):
    seen = []
    assert model.apply(lambda layer: seen.append(type(layer).__name__)) is model
    assert seen == ["Linear", "Linear", "Identity", "Sequential", "Model"]


def test_gradients_reach_parameters_and_clear_to_zeros():
    layer = Linear(2, 1)
    layer(wt.ones([3, 2])).sum().backward()
    assert layer.weight.grad.tolist() == [[3], [3]]
    layer.clear_gradients()
    assert layer.weight.grad.tolist() == [[0], [0]]


# State.


def test_state_moves_from_one_layer_to_another():
    a, b = Linear(2, 3), Linear(2, 3)
    assert b.set_state_dict(a.state_dict()) == ([], [])
    assert b.weight.tolist() == a.weight.tolist()
    assert not b.weight._shares_memory_with(a.weight)
    assert b.set_dict({name: value.numpy() for name, value in a.state_dict().items()}) == ([], [])


def test_missing_unexpected_and_misshapen_keys_are_reported():
    layer = Linear(2, 3)
    before = layer.weight.tolist()
    with pytest.warns(UserWarning) as said:
        assert layer.set_state_dict({}) == (["weight", "bias"], [])
    assert [str(warning.message).splitlines() for warning in said] == [[
        "Linear.set_state_dict: 2 of 2 entries stay as they are.",
        *(f"Skip loading for {name}. {name} is not found in the provided dict." for name in ("weight", "bias")),
    ]], "one warning"
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match=r"weight receives a shape \[3, 2\], but the expected shape is \[2, 3\]"):
        result = layer.set_state_dict({"weight": wt.ones([3, 2]), "bias": wt.ones([3]), "other": wt.ones([1])})
    assert result == (["weight"], ["weight", "other"])
    assert layer.weight.tolist() == before
    assert layer.bias.tolist() == [1, 1, 1]


def test_a_prefix_between_the_keys_is_named():
    layer = nn.Sequential(*(Linear(2, 2) for _ in range(10)))
    state = {f"model.{key}": value for key, value in layer.state_dict().items()}
    with pytest.warns(UserWarning, match=r"All keys begin with 'model.'. Load \{key.removeprefix\('model.'\)") as said:
        layer.set_state_dict(state)
    assert len(said) == 1 and "20 of 20 entries" in str(said[0].message) and "... and 10 more." in str(said[0].message)
    with pytest.warns(UserWarning, match=r"The keys lack '0.', with which the layer's begin. Load \{'0.' \+ key: value"):
        nn.Sequential(layer).set_state_dict(layer.state_dict())


def test_walks_find_the_same_layers_in_the_order_of_old():
    shared = Linear(1, 1)
    net = nn.Sequential(nn.Sequential(shared, nn.Sequential(Linear(1, 1))), shared, nn.Sequential(Linear(1, 1)))
    assert [name for name, _ in net.named_sublayers()] == ["0", "0.0", "0.1", "0.1.0", "2", "2.0"]
    assert [name for name, _ in net.named_sublayers("net", True)][:3] == ["net", "net.0", "net.0.0"]
    net.eval()
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.train()
    assert all(layer.training for layer in net.sublayers(include_self=True))


def test_state_by_names_of_parameters():
    layer = Linear(2, 3)
    state = {layer.weight.name: wt.full([2, 3], 7.0), layer.bias.name: wt.ones([3])}
    assert layer.set_state_dict(state, use_structured_name=False) == ([], [])
    assert layer.weight.tolist() == [[7] * 3] * 2
    del state[layer.bias.name]
    with pytest.warns(UserWarning, match=f"Skip loading for bias. {layer.bias.name} is not found"):
        assert layer.set_state_dict(state, use_structured_name=False) == ([layer.bias.name], [])


def test_value_of_another_dtype_is_refused_and_nothing_is_written():
    layer = Linear(2, 3)
    before = layer.weight.tolist()
    with pytest.raises(AssertionError, match="dtype not match for bias. Got float64, expected float32"):
        layer.set_state_dict({"weight": wt.ones([2, 3]), "bias": wt.ones([3], "float64")})
    assert layer.weight.tolist() == before


def test_state_that_is_none_is_refused():
    with pytest.raises(TypeError, match="state_dict is not a dict. Got int"):
        Linear(1, 1).set_state_dict(3)
    with pytest.raises(TypeError, match="value of 'weight' is not a tensor. Got (builtins.)?list"):
        Linear(1, 1).set_state_dict({"weight": [[1.0]], "bias": wt.ones([1])})


def test_state_dict_fills_the_given_dict_and_asks_hooks():
    layer = nn.Sequential(Linear(1, 1))
    destination = {"first": 1}
    assert layer.state_dict(destination) is destination
    assert list(destination) == ["first", "0.weight", "0.bias"]
    seen = []
    handle = layer.register_state_dict_hook(lambda state: seen.append(list(state)))
    layer.state_dict()
    layer.state_dict(use_hook=False)
    handle.remove()
    layer.state_dict()
    assert seen == [["0.weight", "0.bias"]]
    layer.register_state_dict_hook(lambda state: {"only": 1})
    assert layer.state_dict() == {"only": 1}


def test_state_dict_holds_the_parameters_themselves():
    layer = Linear(1, 1)
    assert layer.state_dict()["weight"] is layer.weight


# Dtypes and devices.


def test_to_casts_everything_in_place():
    layer = nn.Sequential(Linear(2, 3))
    layer.register_buffer("count", wt.ones([2], "int64"))
    weight, name = layer[0].weight, layer[0].weight.name
    layer(wt.ones([1, 2])).sum().backward()
    assert layer.to(dtype="float64") is layer
    assert layer[0].weight is weight and weight.name == name and not weight.stop_gradient
    assert {value.dtype.name for value in layer.state_dict().values()} == {"float64"}
    assert weight.grad.dtype.name == "float64"


def test_float_types_leave_integers_and_excluded_layers_alone():
    layer = nn.Sequential(Linear(2, 3), nn.Sequential(Linear(3, 3)))
    layer.register_buffer("count", wt.ones([2], "int64"))
    layer.register_buffer("mean", wt.ones([2]))
    assert layer.bfloat16(excluded_layers=Linear) is layer
    assert [value.dtype.name for value in layer.state_dict().values()] == ["int64", "bfloat16"] + ["float32"] * 4
    layer.float16()
    assert layer[1][0].weight.dtype.name == "float16"
    layer.float()
    assert [value.dtype.name for value in layer.state_dict().values()] == ["int64"] + ["float32"] * 5
    with pytest.raises(TypeError, match="excluded_layers holds something other than a class of layers. Got 3"):
        layer.float(excluded_layers=3)


def test_astype_and_to_refuse():
    layer = Linear(1, 1)
    for dtype in (None, "foo", 3):
        with pytest.raises(ValueError, match="unknown dtype"):
            layer.astype(dtype)
    with pytest.raises(TypeError, match="unknown dtype"):
        layer.to(dtype="foo")
    with pytest.raises(ValueError, match="'npu'"):
        layer.to("npu")
    with pytest.raises(ValueError, match="not a place. Got 3"):
        layer.to(3)
    with pytest.raises(AssertionError, match="blocking is not a bool. Got 3"):
        layer.to(blocking=3)
    assert layer.to("cpu").to(wt.CPUPlace()).to(None) is layer


# Copies and text.


def test_deep_copy_has_its_own_values_and_names():
    layer = nn.Sequential(Linear(1, 1))
    other = copy.deepcopy(layer)
    assert other[0].weight.tolist() == layer[0].weight.tolist()
    assert not other[0].weight._shares_memory_with(layer[0].weight)
    assert other.full_name() == layer.full_name()
    assert other[0].weight.name.startswith(layer[0].weight.name + "_deepcopy_")
    assert isinstance(other[0].weight, nn.Parameter)


def test_deep_copy_keeps_shared_parameters_shared():
    layer = nn.Sequential(Linear(2, 2), Linear(2, 2))
    layer[1].weight = layer[0].weight
    other = copy.deepcopy(layer)
    assert other[0].weight is other[1].weight


def test_pickled_layer_is_whole():
    layer = nn.Sequential(Linear(2, 3))
    layer.eval()
    other = pickle.loads(pickle.dumps(layer))
    assert not other[0].training
    assert [(v.name, v.tolist()) for v in other.state_dict().values()] == [
        (v.name, v.tolist()) for v in layer.state_dict().values()
    ]
    assert other[0].weight.trainable


def test_repr_indents_inner_layers(model):
    assert repr(model) == (
        "Model(\n"
        "  (a): Linear(in_features=2, out_features=3)\n"
        "  (b): Sequential(\n"
        "    (0): Linear(in_features=3, out_features=3)\n"
        "    (1): Identity()\n"
        "  )\n"
        ")"
    )


def test_repr_puts_extra_lines_before_inner_layers():
    class One(nn.Layer):
        def extra_repr(self):
            return "x=1"

    class Two(nn.Layer):
        def extra_repr(self):
            return "x=1,\ny=2"

    one, two = One(), Two()
    assert (repr(one), repr(two)) == ("One(x=1)", "Two(\n  x=1,\n  y=2\n)")
    one.l = two.l = nn.Identity()
    assert repr(one) == "One(x=1\n  (l): Identity()\n)"
    assert repr(two) == "Two(\n  x=1,\n  y=2\n\n  (l): Identity()\n)"
    one.l = None
    assert repr(one) == "One(x=1\n  (l): None\n)"


def test_layers_without_trouble_warn_of_nothing(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_state_dict(model.state_dict())


def test_tensors_of_pytorch_are_named():
    class Tensor:  # as torch.Tensor says of itself
        __module__ = "torch"

    with pytest.raises(TypeError, match=r"a tensor of PyTorch, .*Got torch.Tensor.*from_torch\(state, layer\)"):
        nn.Linear(1, 1).set_state_dict({"weight": Tensor(), "bias": Tensor()})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda layer, both: layer.state_dict(include_sublayers=both), "state_dict: argument 'include_sublayers' must be a bool"),
        (lambda layer, both: layer.state_dict(use_hook=both), "state_dict: argument 'use_hook' must be a bool"),
        (lambda layer, both: layer.parameters(include_sublayers=both), "parameters: argument 'include_sublayers' must be a bool"),
        (lambda layer, both: layer.sublayers(include_self=both), "sublayers: argument 'include_self' must be a bool"),
        (lambda layer, both: layer.create_parameter([2], is_bias=both), "create_parameter: argument 'is_bias' must be a bool"),
        (lambda layer, both: nn.LayerNorm(both), "LayerNorm: argument 'normalized_shape' must be one integer"),
        (lambda layer, both: nn.SpectralNorm(both), r"SpectralNorm: argument 'weight_shape.0.' must be one integer"),
        (lambda layer, both: nn.initializer.Uniform(low=1j), "Uniform: argument 'low' must be a real number"),
        (lambda layer, both: nn.RNN(nn.SimpleRNNCell(2, 2))(wt.to_tensor(2.0)), "get_initial_states: "),
        (lambda layer, both: nn.utils.from_torch({}, layer, skip=both), "from_torch: skip must be a collection of names"),
    ],
)
def test_an_argument_of_another_kind_is_named(call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call(Linear(2, 2), np.ones((2, 2), "float32"))
