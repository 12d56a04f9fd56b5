"""`paddle.utils.download`."""
from wherry import _absent
from wherry_train.download import get_weights_path_from_url as get_weights_path_from_url

__all__ = ["get_weights_path_from_url"]

_absent.explain(__name__)
