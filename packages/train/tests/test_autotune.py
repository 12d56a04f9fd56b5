"""`paddle.incubate.autotune`."""
import json

import pytest

from wherry_train.autotune import set_config


def test_a_configuration_is_taken_as_dict_file_or_none(tmp_path):
    config = {"kernel": {"enable": True, "tuning_range": [1, 3]}, "layout": {"enable": True}, "dataloader": {"enable": True, "tuning_steps": 5}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    for given in (None, {}, config, str(tmp_path / "config.json")):
        assert set_config(given) is None


@pytest.mark.parametrize(
    ("config", "error", "text"),
    [
        (3, TypeError, "not a configuration"), ({"foo": 1}, ValueError, "no such entry"), ({"kernel": 3}, TypeError, "kernel is not a dict"),
        ({"kernel": {"enable": 1}}, TypeError, "`enable` of kernel should be bool"), ({"layout": {"steps": 1}}, ValueError, "no such entry"),
        ({"kernel": {"tuning_range": [1]}}, ValueError, "tuning_range"), ({"dataloader": {"tuning_steps": 1.5}}, TypeError, "should be int"),
        ("no/such/file.json", FileNotFoundError, "file.json"),
    ],
)
def test_a_wrong_entry_is_named(config, error, text):
    with pytest.raises(error, match=text):
        set_config(config)


def test_a_file_that_is_not_json_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        set_config(str(tmp_path / "config.json"))
