import re

import pytest

from wherry_tensor import columns, coverage, ops
from wherry_tensor._core import VOCABULARY_VERSION
from wherry_tensor.columns import Column


@pytest.fixture
def colour():
    yield Column("colour", "wherry-paint", "the op is grey", serves=VOCABULARY_VERSION)
    del columns.registry["colour"]


def test_column_answers_for_the_ops_it_has_rules_for(colour):
    @colour.rule(ops.add)
    def colour_add():
        return "red"

    assert colour.get(ops.add) is colour_add
    assert ops.add in colour
    assert colour.get(ops.subtract) is None
    assert columns.registry["colour"] is colour


def test_where_names_file_and_line_of_a_rule(colour):
    @colour.rule(ops.add)
    def colour_add():
        return "red"

    assert re.fullmatch(r".*test_columns\.py:\d+", colour.where(ops.add))
    assert colour.where(ops.subtract) is None


def test_second_rule_for_an_op_is_refused_and_both_are_named(colour):
    colour.rule(ops.add)(lambda: "red")
    with pytest.raises(ValueError, match=r"already has a rule for 'add'.*test_columns\.py:\d+.*test_columns\.py:\d+"):
        colour.rule(ops.add)(lambda: "blue")


def test_exempted_op_has_a_reason_and_no_rule(colour):
    colour.exempt(ops.add, "sums have no colour")
    assert colour.exemptions[ops.add] == "sums have no colour"
    assert ops.add not in colour
    with pytest.raises(ValueError, match="sums have no colour"):
        colour.rule(ops.add)(lambda: "red")


def test_no_rule_is_a_gap_unless_the_column_is_optional(colour):
    assert ("add", "colour") in coverage.gaps()
    colour.optional = True
    assert ("add", "colour") not in coverage.gaps()
    assert re.search(r"colour +the op is grey", coverage.card("add"))


def test_name_of_a_column_is_taken_once(colour):
    with pytest.raises(ValueError, match="column 'colour' of wherry-ink.*wherry-paint owns it"):
        Column("colour", "wherry-ink", "the op is grey", serves=VOCABULARY_VERSION)


@pytest.mark.parametrize(
    ("serves", "package"), [(VOCABULARY_VERSION - 1, "wherry-paint"), (VOCABULARY_VERSION + 1, "wherry-tensor")]
)
def test_column_for_another_vocabulary_says_which_package_to_install(serves, package):
    with pytest.raises(ImportError, match=rf"column 'odour' of wherry-paint.*op vocabulary {serves}.*pip install --upgrade {package}"):
        Column("odour", "wherry-paint", "the op smells of nothing", serves=serves)
    assert "odour" not in columns.registry


def test_a_column_states_the_vocabulary_it_was_written_for():
    with pytest.raises(TypeError, match="serves"):
        Column("odour", "wherry-paint", "the op smells of nothing")
    assert "odour" not in columns.registry
