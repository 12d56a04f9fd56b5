"""Tables of pandas and polars go wherever arrays go."""
import numpy as np
import pytest

import wherry as paddle

pandas = pytest.importorskip("pandas")


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    x = pandas.DataFrame(random.normal(size=(60, 3)), columns=list("abc"))
    return x, pandas.Series((x.a + x.b > 0).astype(int))


@pytest.fixture
def model():
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
    made = paddle.Model(net)
    made.prepare(paddle.optimizer.Adam(0.05, parameters=net.parameters()), paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    return made


def test_a_model_learns_from_a_frame_and_a_series(data, model):
    x, y = data
    model.fit(x, y, epochs=20, verbose=0)
    assert model.evaluate(x, y, verbose=0)["acc"] > 0.9
    assert model.predict(x, stack_outputs=True, verbose=0)[0].shape == (60, 2)
    model.fit(x, labels=y, eval_data=(x, y), epochs=1, verbose=0)
    model.fit(x.values, y, epochs=1, verbose=0)
    model.fit(x.rename(columns={"a": 0, "b": 1, "c": 2}), y, epochs=1, verbose=0)


def test_lists_of_lists_are_arrays(data, model):
    x, y = data[0].values.tolist(), data[1].tolist()
    model.fit(x, y, epochs=20, verbose=0)
    assert model.evaluate(x, y, verbose=0) == model.evaluate(*data, verbose=0)


def test_frames_of_polars_are_arrays(data, model):
    polars = pytest.importorskip("polars")
    x, y = data
    model.fit(polars.DataFrame(x.to_dict("list")), polars.Series(y.tolist()), epochs=20, verbose=0)
    assert model.evaluate(x, y, verbose=0)["acc"] > 0.9


def test_a_data_set_of_a_frame_has_its_rows_in_the_default_dtype(data):
    x, y = data
    rows = paddle.io.TensorDataset([x.assign(flag=x.a > 0), y])
    sample, label = rows[3]
    assert (len(rows), sample.dtype, label) == (60, np.float32, y[3])
    np.testing.assert_allclose(sample, [*x.values[3], x.a[3] > 0], rtol=1e-6)


def test_columns_of_text_are_named(data, model):
    x, y = data
    for call in (
        lambda: model.fit(x.assign(city="x"), y, verbose=0), lambda: model.predict(x.assign(city="x"), verbose=0),
        lambda: paddle.io.TensorDataset([x.assign(city="x")]),
    ):
        with pytest.raises(TypeError, match=r"Got columns 'city' \(.*\), expected numbers alone. Encode text"):
            call()
