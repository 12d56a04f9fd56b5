"""The image backend of data sets, and the dtype of what it gives."""
from __future__ import annotations

from typing import Any

from wherry_tensor.errors import InvalidArgumentError
from wherry_vision.image import get_image_backend

__all__ = ["as_floats", "backend_of"]


def backend_of(kind: str, backend: Any) -> str:
    """The backend for images: "pil" gives images of Pillow, "cv2" arrays."""
    chosen = get_image_backend() if backend is None else backend
    if chosen not in ("pil", "cv2"):
        raise InvalidArgumentError(f"{kind}: Expected backend are one of ['pil', 'cv2'], but got {chosen}. set_image_backend chooses one.")
    return str(chosen)


def as_floats(image: Any, dtype: str) -> Any:
    """What a data set of the backend "cv2" gives, after its transform: an array or tensor in `dtype`; anything else as it is."""
    return image.astype(dtype) if hasattr(image, "astype") and str(image.dtype).rpartition(".")[2] != dtype else image
