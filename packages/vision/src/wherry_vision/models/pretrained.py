"""Pretrained weights: their addresses, and loading them into a model."""
from __future__ import annotations

from typing import TypeVar

from wherry_nn import Layer
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["HAPI", "IMAGENET", "Weights", "with_weights"]

Weights = dict[str, tuple[str, str]]  # address and MD5 of the file, by the name of the model

HAPI = "https://paddle-hapi.bj.bcebos.com/models/"
IMAGENET = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"

AnyLayer = TypeVar("AnyLayer", bound=Layer)


def with_weights(model: AnyLayer, name: str, pretrained: bool, weights: Weights) -> AnyLayer:
    """The model, with its downloaded weights if `pretrained`.

    Raises:
        ValueError: there are no weights of this name.
        RuntimeError: they cannot be downloaded, or have another MD5.
    """
    if not pretrained:
        return model
    if name not in weights:
        raise InvalidArgumentError(
            f"{name}: {name} model do not have a pretrained model now, you should set pretrained=False. Got pretrained=True, expected False: "
            f"there are weights for {', '.join(weights) or 'none of these models'}. Train it, or load a file with set_state_dict."
        )
    # Imported here: making a model needs neither the network nor NumPy.
    from wherry_train.download import get_weights_path_from_url
    from wherry_train.serialization import load

    address, md5 = weights[name]
    model.set_state_dict(load(get_weights_path_from_url(address, md5)))
    return model


explained(globals())
