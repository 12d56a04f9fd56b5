"""The network that tells a column of a table, here without a page."""
import math
import random
import re
import shutil

import pytest

from wherry_export.web import engine_files
from wherry_web.client.table import COLUMNS, Table

SETTINGS = {"hidden": [32], "learning_rate": 0.01, "epochs": 60}


def flats(rows=300, between=","):
    """Prices by a rule that a network can find, with gaps."""
    chance = random.Random(0)
    lines = ["size,rooms,town,id,price"]
    for i in range(rows):
        size, town = chance.uniform(30, 150), chance.choice(["Bonn", "Paris", "Rome"])
        price = 3000 * size + {"Bonn": 0, "Paris": 200_000, "Rome": 50_000}[town] + chance.gauss(0, 5000)
        lines.append(f"{size:.1f},{'' if i % 7 == 0 else i % 5},{'?' if i % 50 == 1 else town},flat {i},{price:.0f}")
    return "\n".join(lines).replace(",", between)


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_columns_are_understood(between):
    facts = Table("\ufeff" + flats(between=between)).facts()
    kinds = {column["name"]: (column["kind"], column["missing"]) for column in facts["columns"]}
    assert facts["rows"] == 300
    assert kinds == {"size": ("number", 0), "rooms": ("number", 43), "town": ("words", 6), "id": ("unused", 0), "price": ("number", 0)}
    assert sorted(facts["columns"][2]["values"]) == ["Bonn", "Paris", "Rome"]


def test_it_learns_and_tells():
    table = Table(flats())
    before = table.begin("price", ["size", "rooms", "town"], SETTINGS)
    while not table.run(50)["done"]:
        pass
    after = table.evaluate()
    assert before["count"] == after["count"] == len(after["points"]) == 60
    assert before["r2"] < 0.5 and after["r2"] > 0.97
    assert after["distance"] == pytest.approx(sum(abs(a - b) for a, b in after["points"]) / 60)
    assert table.tell({"size": "100", "town": "Paris"}) == pytest.approx(500_000, rel=0.08)
    assert table.tell({"size": "100", "town": "Bonn"}) == pytest.approx(300_000, rel=0.08)


def test_it_tells_what_scikit_learn_tells():
    linear = pytest.importorskip("sklearn.linear_model")
    chance = random.Random(1)
    rows = [[chance.gauss(5, 3), chance.gauss(-20, 50)] for _ in range(200)]
    answers = [3 * a - 0.5 * b + 7 + chance.gauss(0, 1) for a, b in rows]
    table = Table("a,b,y\n" + "\n".join(f"{a},{b},{y}" for (a, b), y in zip(rows, answers)))
    table.begin("y", ["a", "b"], {"hidden": [], "learning_rate": 0.03, "epochs": 300})
    while not table.run(200)["done"]:
        pass
    theirs = linear.LinearRegression().fit(table.inputs.numpy(), table.answers.numpy()).predict(table.held_inputs.numpy())
    ours = table.network()(table.held_inputs).numpy()
    assert abs(ours - theirs).mean() < 0.5  # of a spread of 27


@pytest.mark.parametrize(("text", "says"), [
    ("", "first line"), ("a\n1\n", "first line"), ("a,a\n" + "1,2\n" * 30, "each otherwise"), ("a,b\n1,2\n", "has 1 rows"),
    ("a,b\n" + "1,2\n" * 30 + "1,2,3\n", "Row 32 has 3 cells. Expected 2"), ("a,b\n" + '1,"2\n' * 30, "not a table"),
    (",".join(f"c{i}" for i in range(COLUMNS + 1)) + "\n", "2 to 100 columns"),
])
def test_wrong_tables_are_explained(text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        Table(text)


@pytest.mark.parametrize(("target", "used", "change", "says"), [
    ("nothing", ["size"], {}, "no column 'nothing'"), ("town", ["size"], {}, "target of numbers"), ("price", [], {}, "no column"),
    ("price", ["price"], {}, "target of numbers"), ("price", ["id"], {}, "target of numbers"),
    ("price", ["size"], {"learning_rate": math.nan}, "learning rate"), ("price", ["size"], {"hidden": [0]}, "layers"),
])
def test_wrong_choices_are_explained(target, used, change, says):
    with pytest.raises(ValueError, match=says):
        Table(flats()).begin(target, used, {**SETTINGS, **change})


def test_asking_before_training_and_for_words_is_explained():
    table = Table(flats())
    with pytest.raises(ValueError, match="Nothing is trained yet"):
        table.tell({})
    table.begin("price", ["size"], SETTINGS)
    with pytest.raises(ValueError, match="size: got 'large', expected a number"):
        table.tell({"size": "large"})


@pytest.mark.skipif(engine_files.missing() is not None or shutil.which("node") is None, reason="the engine for browsers is not built, or no Node")
def test_the_page_is_one_file():
    table = Table(flats())
    table.begin("price", ["size", "rooms", "town"], SETTINGS)
    content = table.page("Prices").decode()  # the export compares it with the network, in Node
    assert content.startswith("<!DOCTYPE html>") and "Prices" in content
