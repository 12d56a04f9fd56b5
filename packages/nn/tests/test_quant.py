"""The names of quantization say what is missing."""
import pytest

import wherry_nn.quant as quant


@pytest.mark.parametrize("name", quant.__all__)
def test_each_name_says_what_is_missing_and_what_to_use(name):
    arguments = {"Stub": 0, "llm_int8_linear": 2, "weight_dequantize": 2, "weight_only_linear": 2, "weight_quantize": 1}
    with pytest.raises(NotImplementedError, match=f"{name}: quantization is not implemented.*Instead, "):
        getattr(quant, name)(*[None] * arguments[name])
