"""Programs of Paddle 3: data/paddle3.zip holds what it saved and computed (make_paddle3.py); damaged ones are refused."""
import copy
import io
import json
import random
import re

import numpy as np
import pytest

import wherry_tensor as wt
from archives import cases_of
from wherry_paddle_files import ops, pir  # noqa: F401  the rules
from wherry_paddle_files.models import load_model, params_from_bytes, read_program, save_model
from wherry_program.run.executor import compiled
from wherry_tensor.errors import UnimplementedError
from wherry_tensor.protobuf import ModelFileError

CASES = cases_of("paddle3.zip")


def _arrays(name, kind):
    with np.load(io.BytesIO(CASES[name]["case.npz"]), allow_pickle=False) as found:
        return [found[f"{kind}{i}"] for i in range(sum(key.startswith(kind) for key in found))]


def _run(program, name):
    result = compiled(program)(*map(wt.to_tensor, _arrays(name, "x")))
    return result if isinstance(result, (list, tuple)) else [result]


@pytest.mark.parametrize("name", CASES)
def test_a_program_gives_what_paddle_computed(name):
    files = CASES[name]
    program = params_from_bytes(files["model.json"], files.get("model.pdiparams", b""))
    expected = _arrays(name, "y")
    found = [np.asarray(x.numpy()) for x in _run(program, name)]
    assert [x.shape for x in found] == [y.shape for y in expected] and [x.dtype for x in found] == [y.dtype for y in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_a_program_of_paddle_3_is_written_for_paddle_2(tmp_path):
    files = CASES["layer control flow"]
    (tmp_path / "three.json").write_bytes(files["model.json"])
    (tmp_path / "three.pdiparams").write_bytes(files["model.pdiparams"])
    program = load_model(str(tmp_path / "three"))
    save_model(str(tmp_path / "two"), program)
    again = load_model(str(tmp_path / "two"))
    for x, y in zip(_run(again, "layer control flow"), _arrays("layer control flow", "y"), strict=True):
        np.testing.assert_allclose(x.numpy(), y, rtol=1e-5)


def test_an_attribute_that_paddle_2_has_not_is_named():
    described = json.loads(CASES["round"]["model.json"])
    op = next(op for op in described["program"]["regions"][0]["blocks"][0]["ops"] if op["#"] == "1.round")
    op["A"].append({"N": "decimals", "AT": {"#": "0.a_i32", "D": 2}})
    with pytest.raises(ModelFileError, match=r"'pd_op.round' has an attribute .* Got 'decimals' = 2"):
        read_program(json.dumps(described).encode())


def test_an_operation_that_is_not_known_is_named():
    described = CASES["round"]["model.json"].replace(b'"1.round"', b'"1.rounded"')
    with pytest.raises(UnimplementedError, match="'pd_op.rounded'"):
        read_program(described)


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"base_code": {"magic": "pir"}}', b"[" * 100_000, b'{"base_code": ' + b"[" * 100_000])
def test_what_is_not_a_program_is_refused(data):
    with pytest.raises(ModelFileError):
        read_program(data)


@pytest.mark.parametrize("name", ["", 5, None, ["w"], "first", "feed"])
def test_a_parameter_has_a_name_of_its_own(name):
    described = json.loads(CASES["layer conv2d"]["model.json"])
    parameters = [op for op in described["program"]["regions"][0]["blocks"][0]["ops"] if op["#"] == "p"]
    parameters[0]["A"][3] = "first"
    parameters[1]["A"][3] = name
    with pytest.raises(ModelFileError, match="damaged"):
        read_program(json.dumps(described).encode())


def test_a_constant_is_written_down_where_a_tensor_is_read():
    """Those that become attributes are no operators, and one that a block within reads stands before it."""
    plain = pir.parse(CASES["layer conv2d"]["model.json"])
    assert not any(op.type in ("fill_constant", "assign_value") for op in plain.blocks[0].ops)
    for name, case in CASES.items():
        for block in pir.parse(case["model.json"]).blocks:
            made, own = set(), {var.name for var in block.vars if not var.persistable}
            for op in block.ops:
                read = [each for slot in op.inputs for each in slot.arguments if not each.startswith(("feed", "carried"))]
                assert all(each in made or each not in own for each in read), name
                made.update(each for slot in op.outputs for each in slot.arguments)


def _mutated(value, rng, room):
    """Change, drop, repeat or exchange one thing somewhere in the tree."""
    holders = []

    def walk(node):
        if isinstance(node, (dict, list)) and node:
            holders.append(node)
            for each in node.values() if isinstance(node, dict) else node:
                walk(each)

    walk(value)
    for _ in range(room):
        node = rng.choice(holders)
        if not node:
            continue
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        kind = rng.randrange(5)
        if kind == 0:
            del node[key]
        elif kind == 1:
            node[key] = rng.choice([None, -1, 0, 1 << 70, 1e300, "", "x", [], {}, True, [[]], {"#": "0.t_f32"}])
        elif kind == 2 and isinstance(node[key], (int, float)):
            node[key] = node[key] * rng.choice([-1, 2, 1000]) + rng.choice([0, 1, -1])
        elif kind == 3 and isinstance(node, list):
            node.insert(key, copy.deepcopy(node[rng.randrange(len(node))]))
        else:
            node[key] = copy.deepcopy(rng.choice(holders))
    return value


def test_damaged_programs_are_refused_as_damaged():
    rng = random.Random(3)
    names = list(CASES)
    refused = 0
    for _ in range(400):
        described = _mutated(json.loads(CASES[rng.choice(names)]["model.json"]), rng, rng.choice([1, 1, 2, 5]))
        try:
            read_program(json.dumps(described).encode())
        except (ModelFileError, UnimplementedError):
            refused += 1
    assert 100 < refused < 400


def test_a_whole_number_that_is_infinite_is_refused():
    text = CASES["layer control flow"]["model.json"]
    found = re.search(rb'"D":\[1?\]\},"N":"shape"\},\{"AT":\{"#":"0.a_f64","D":([^}]*)\}[^}]*\},\{"AT":\{"#":"1.a_dtype","D":"int', text)
    with pytest.raises(ModelFileError, match="infinity"):
        read_program(text[: found.start(1)] + b"1e999" + text[found.end(1) :])


# Compiled code reads texts as they mostly are, `json` all others: both say the same.


def _by_json(data, monkeypatch):
    with monkeypatch.context() as within:
        within.setattr(pir, "_mostly", lambda data: None)
        return pir.parse(data)


def _plain(program):
    """The description as text, with numbers for kinds."""
    return re.sub(r"<\w+\.\w+: (\d+)>", r"\1", repr(program))


@pytest.mark.parametrize("name", CASES)
def test_compiled_code_reads_what_paddle_saves(name, monkeypatch):
    data = CASES[name]["model.json"]
    read = pir._mostly(data)
    assert read is not None
    assert _plain(read) == _plain(_by_json(data, monkeypatch))


@pytest.mark.parametrize("change", [
    lambda text: text.replace(b":", b" :\n\t").replace(b",", b" ,"),
    lambda text: b" \r\n" + text + b"\n",
    lambda text: text[:-1] + b',"more":[{"a":[1.5e-3,true,null]}]}',
    lambda text: text.replace(b'"magic"', b'"a":{},"magic"'),
])  # fmt: skip
def test_compiled_code_reads_spaces_and_keys_that_say_nothing(change, monkeypatch):
    data = change(CASES["layer conv2d"]["model.json"])
    assert _plain(pir._mostly(data)) == _plain(_by_json(data, monkeypatch))


@pytest.mark.parametrize(("old", "new"), [
    (b'[],"NCHW"', b'[]"NCHW"'), (b'"NCHW",[],0]', b'"NCHW",[],0,]'), (b'"args":[]', b'"args":[0]'), (b'"magic":"pir"', b'"magic":"pir","magic":"p"'),
    (b'"I":[', b'"I":[,'), (b'"%":2', b'"%":02'), (b'"OA":[', b'"OA":[1 '), (b'"A":[]', b'"A":[],"A":{}'), (b'"O":[', b'"O":[{"%":1},'),
])  # fmt: skip
def test_compiled_code_takes_no_text_that_json_refuses(old, new, monkeypatch):
    given = [case["model.json"] for case in CASES.values() if old in case["model.json"]]
    assert given
    for text in given:
        text = text.replace(old, new)
        read = pir._mostly(text)
        try:
            expected = _plain(_by_json(text, monkeypatch))
        except ModelFileError:
            expected = None
        assert read is None or _plain(read) == expected, text


_TAKEN = [
    b"0", b"-0", b"-1", b"1.5", b"1e3", b"1e999", b"-1E-2", b"99999999999999999999", b"01", b"1.", b".5", b"-", b"+1", b"1e", b"NaN", b"-Infinity",
    b"true",
    b"False", b"null", b"nul", b'"x"', b'""', b'" "', b'"\\u0041"', b'"\\ud800"', b'"\xc3\xa9"', b'"\xff"', b'"\x01"', b'"', b"[]", b"[1,2.5]",
    b"[1,]", b"[true]", b'["a"]',
    b"{}", b'{"#":"NULL"}', b'{"#":"0.t_f32"}', b'{"%":1}', b'"p"', b'"0.t_dtensor"', b'"0.a_i32"', b'"0.a_array"', b'"1.a_dtype"', b'"1.a_intarray"',
    b'"struct_name"', b'"1.full_int_array"', b'"builtin.combine"', b"[" * 80 + b"]" * 80, b"[" * 100_000, b" ", b"\x00", b",", b"}", b"]",
]  # fmt: skip


def test_texts_that_were_changed_are_read_or_refused_alike(monkeypatch):
    rng = random.Random(4)
    texts = [case["model.json"] for case in CASES.values() if len(case["model.json"]) < 6000]
    token = re.compile(rb'"[^"]*"|-?\d+\.?\d*(?:e-?\d+)?|true|false|null|[][{},:]')
    compiled_ones = 0
    for _ in range(1500):
        text = rng.choice(texts)
        for _ in range(rng.choice([1, 1, 2])):
            places = [found.span() for found in token.finditer(text)]
            (a, b), (c, d) = rng.choice(places), rng.choice(places)
            kind = rng.randrange(4)
            text = text[:a] + (text[c:d], b"", text[a:b] + b"," + text[a:b], rng.choice(_TAKEN))[kind] + text[b:]
        read = pir._mostly(text)
        compiled_ones += read is not None
        try:
            found = _plain(pir.parse(text))
        except ModelFileError as error:
            found = str(error)
        try:
            expected = _plain(_by_json(text, monkeypatch))
        except ModelFileError as error:
            expected = str(error)
        assert found == expected and (read is None or _plain(read) == expected), text
    assert compiled_ones > 50


# Writing.


def _as_paddle_3(program, folder):
    """The program after it has gone through a `.json`."""
    save_model(str(folder / "net"), program, model_path=str(folder / "net.json"), for_prediction=True)
    return load_model(str(folder / "net"))


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_written_as_it_was_read(name, tmp_path):
    files = CASES[name]
    program = _as_paddle_3(params_from_bytes(files["model.json"], files.get("model.pdiparams", b"")), tmp_path)
    for x, y in zip(_run(program, name), _arrays(name, "y"), strict=True):
        np.testing.assert_allclose(x.numpy(), y, rtol=1e-4, atol=1e-5)
