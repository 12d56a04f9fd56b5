"""Weights of torchvision's and timm's models: names, orders and shapes as those libraries have them."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_vision import from_torch, models


def as_torchvision(net, rename=lambda name: name):
    """The state of a model as PyTorch has it: linear weights lie the other way, batch normalization counts."""
    found = {}
    for name, value in net.state_dict().items():
        array = value.numpy()
        name = rename(name).replace("._mean", ".running_mean").replace("._variance", ".running_var")
        found[name] = array.T.copy() if array.ndim == 2 else array
        if name.endswith("running_var"):
            found[name.replace("running_var", "num_batches_tracked")] = np.array(0)
    return found


def answers(net, size=32):
    net.eval()
    return net(wt.to_tensor(np.random.default_rng(0).standard_normal((1, 3, size, size)).astype("float32"))).numpy()


@pytest.mark.parametrize("name", ["resnet18", "resnext50_32x4d", "mobilenet_v2", pytest.param("vgg11", marks=pytest.mark.slow)])
def test_models_whose_names_are_alike(name):
    net = getattr(models, name)(num_classes=7)
    np.testing.assert_allclose(answers(from_torch(name, as_torchvision(net), num_classes=7)), answers(net), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["densenet121", "mobilenet_v3_small", "shufflenet_v2_x0_5"])
def test_models_whose_layers_stand_in_the_same_order(name):
    net = getattr(models, name)(num_classes=7)
    numbered = iter(range(10_000))
    state = as_torchvision(net, lambda each: f"features.{next(numbered)}.{each.rpartition('.')[2]}")
    np.testing.assert_allclose(answers(from_torch(name, state, num_classes=7)), answers(net), rtol=1e-5, atol=1e-6)


def test_what_surrounds_a_state_is_taken_off():
    net = models.resnet18(num_classes=3)
    state = {"epoch": 3, "state_dict": {f"module.{key}": value for key, value in as_torchvision(net).items()}}
    np.testing.assert_allclose(answers(from_torch("resnet18", state, num_classes=3)), answers(net), rtol=1e-5, atol=1e-6)


def test_wrong_weights_and_models_are_named():
    state = as_torchvision(models.resnet18(num_classes=3))
    with pytest.raises(ValueError, match=r"fit resnet18. Got 'fc.weight' of shape \[3, 512\].*num_classes="):
        from_torch("resnet18", state)
    with pytest.raises(ValueError, match="not the weights of resnet50. Got 102 tensors"):
        from_torch("resnet50", state)
    with pytest.raises(ValueError, match=r"Got 'googlenet', expected one of densenet121, "):
        from_torch("googlenet", state)
    with pytest.raises(TypeError, match="no state of a model"):
        from_torch("resnet18", {"epoch": 3})
