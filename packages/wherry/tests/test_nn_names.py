"""The names of `paddle.nn` and its neighbours lead to wherry_nn."""
import importlib

import pytest

import wherry
import wherry_nn


@pytest.mark.parametrize("module, theirs", [("wherry.nn", wherry_nn), ("wherry.nn.initializer", wherry_nn.initializer),
                                            ("wherry.utils.unique_name", wherry_nn.unique_name)])
def test_facade_gives_the_objects_of_the_package(module, theirs):
    facade = importlib.import_module(module)
    for name in facade.__all__:
        found = getattr(facade, name)
        if not hasattr(found, "__path__") and type(found).__name__ != "module":
            assert found is getattr(theirs, name), name


def test_top_level_names_of_layers():
    assert wherry.ParamAttr is wherry_nn.ParamAttr
    assert wherry.create_parameter is wherry_nn.create_parameter
    assert {"ParamAttr", "create_parameter", "nn", "utils"} <= set(dir(wherry))


def test_every_name_of_the_package_but_its_own_is_in_the_facade():
    # Names that Paddle has elsewhere, or not at all.
    elsewhere = {
        "ParamAttr", "Parameter", "WeightDecayRegularizer", "WeightNormParamAttr", "create_parameter", "unique_name",
    }
    modules = {"attention", "functional", "initializer", "quant", "utils"}
    assert (set(wherry_nn.__all__) - elsewhere) | modules == set(wherry.nn.__all__)
