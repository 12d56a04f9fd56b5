import pytest

import wherry_tensor as w

NAN = float("nan")


@pytest.fixture(autouse=True)
def seeded():
    w.seed(1234)


DRAWS = {
    "rand": lambda: w.rand([50]), "randn": lambda: w.randn([50]), "uniform": lambda: w.uniform([50]),
    "normal": lambda: w.normal(1.0, 2.0, [50]), "standard_normal": lambda: w.standard_normal([50]),
    "randint": lambda: w.randint(0, 1000, [50]), "randint_like": lambda: w.randint_like(w.zeros([50]), 1000),
    "randperm": lambda: w.randperm(50), "bernoulli": lambda: w.bernoulli(w.full([50], 0.5)),
    "multinomial": lambda: w.multinomial(w.ones([20]), 20), "poisson": lambda: w.poisson(w.full([50], 9.0)),
    "uniform_": lambda: w.zeros([50]).uniform_(), "normal_": lambda: w.zeros([50]).normal_(),
    "exponential_": lambda: w.zeros([50]).exponential_(), "cauchy_": lambda: w.zeros([50]).cauchy_(),
    "geometric_": lambda: w.zeros([50]).geometric_(0.3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_and_draws_go_on(name):
    w.seed(5)
    first, second = DRAWS[name]().tolist(), DRAWS[name]().tolist()
    w.seed(5)
    assert DRAWS[name]().tolist() == first
    assert first != second


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_do_not_depend_on_threads(name):
    threads = w.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            w.set_num_threads(count)
            w.seed(5)
            results.append(DRAWS[name]().tolist())
    finally:
        w.set_num_threads(threads)
    assert results[0] == results[1]


def test_the_state_of_the_generator_can_be_kept():
    state = w.get_rng_state()
    first = w.rand([3]).tolist()
    w.set_rng_state(state)
    assert w.rand([3]).tolist() == first
    assert w.get_cuda_rng_state() == []
    w.set_cuda_rng_state([])
    with pytest.raises(TypeError, match=r"list"):
        w.set_rng_state(5)
    with pytest.raises(ValueError, match=r"wrong number of states"):
        w.set_rng_state([])
    with pytest.raises(TypeError, match=r"set_rng_state: this is not the state of a generator. Got 'a'"):
        w.set_rng_state(["a"])
    for seeded in w.seed, lambda seed: w.uniform([2], seed=seed), lambda seed: w.zeros([2]).uniform_(seed=seed):
        with pytest.raises(TypeError, match=r"the seed is not a number. Got 'a'"):
            seeded("a")
    with pytest.raises(ValueError, match=r"set_cuda_rng_state: wrong number of states. Got 1 states, expected 0"):
        w.set_cuda_rng_state(state)
    with pytest.raises(ValueError, match=r"gpu"):
        w.get_rng_state("gpu")


def test_generator_of_its_own_has_state():
    generator = w.Generator(3)
    assert generator.initial_seed() == 3
    generator.set_state(generator.get_state())
    assert w.seed(9).initial_seed() == 9


@pytest.mark.parametrize("seed", [-1, 2**64, None])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(TypeError):
        w.seed(seed)
    with pytest.raises(ValueError):
        w.seed("a")


def test_moments():
    n = 200_000
    for x, mean, variance in (
        (w.rand([n]), 0.5, 1 / 12), (w.randn([n]), 0.0, 1.0), (w.uniform([n], min=-2.0, max=4.0), 1.0, 3.0),
        (w.normal(3.0, 2.0, [n]), 3.0, 4.0), (w.poisson(w.full([n], 4.0)), 4.0, 4.0),
        (w.bernoulli(w.full([n], 0.25)), 0.25, 0.1875), (w.zeros([n]).exponential_(2.0), 0.5, 0.25),
        (w.randint(0, 5, [n]).astype("float64"), 2.0, 2.0),
    ):
        # Five standard errors of the mean; the variance's own spread is below a tenth of it.
        assert abs(x.numpy().mean() - mean) < 5 * (variance / n) ** 0.5
        assert abs(x.numpy().var() / variance - 1) < 0.05


def test_dtypes():
    assert w.rand([1], "float64").dtype is w.float64
    assert w.randn([1], "float16").dtype is w.float16
    assert w.randint(5).dtype is w.int64 and w.randint(5).shape == [1]
    assert w.randint(0, 5, [2], "int32").dtype is w.int32
    assert w.randint_like(w.ones([2]), 5).dtype is w.float32
    assert w.randint_like(w.ones([2]), 5, dtype="int16").dtype is w.int16
    assert w.randperm(3, "float32").dtype is w.float32
    assert w.multinomial(w.ones([3])).dtype is w.int64


def test_bounds_are_kept():
    x = w.randint(-3, 4, [1000])
    assert (int(x.min()), int(x.max())) == (-3, 3)
    assert sorted(w.randperm(100).tolist()) == list(range(100))
    assert w.randperm(0).shape == [0]
    assert sorted(w.multinomial(w.ones([10]), 10).tolist()) == list(range(10))
    assert w.multinomial(w.to_tensor([[0.0, 1.0], [1.0, 0.0]]), 3, True).tolist() == [[1, 1, 1], [0, 0, 0]]
    assert w.bernoulli(w.to_tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert w.uniform([2], min=3.0, max=3.0).tolist() == [3.0, 3.0]


def test_uniform_with_a_seed_leaves_the_generator_alone():
    state = w.get_rng_state()
    assert w.uniform([3], seed=5).tolist() == w.uniform([3], seed=5).tolist()
    assert w.get_rng_state() == state


def test_normal_takes_tensors():
    mean = w.to_tensor([0.0, 100.0])
    assert w.normal(mean, 0.1).shape == [2] and abs(w.normal(mean, 0.1).numpy() - mean.numpy()).max() < 2
    assert w.normal(0.0, mean).shape == [2]
    assert w.normal(mean, w.ones([2])).shape == [2]
    with pytest.raises(ValueError, match=r"as many elements"):
        w.normal(mean, w.ones([3]))
    with pytest.raises(ValueError, match=r"must be floating"):
        w.normal(w.to_tensor([0, 1]), 1.0)
    with pytest.raises(ValueError, match=r"shape"):
        w.normal()
    with pytest.raises(ValueError, match=r"one number"):
        w.normal("a", 1.0, [2])


@pytest.mark.parametrize("name", ["rand", "randn", "uniform", "standard_normal"])
@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64"])
def test_only_floats_are_drawn(name, dtype):
    with pytest.raises(ValueError, match=rf"{name}: only floating dtypes can be drawn. Got dtype={dtype}"):
        getattr(w, name)([2], dtype)


@pytest.mark.parametrize("arguments", [(0,), (-5,), (5, 2), (5, 5)])
def test_randint_refuses_empty_ranges(arguments):
    for function in (w.randint, lambda *a: w.randint_like(w.ones([2]), *a)):
        with pytest.raises(ValueError, match=r"Got low="):
            function(*arguments)


@pytest.mark.parametrize("bad", [0.5, "a", None, NAN])
def test_randint_and_randperm_refuse_what_is_no_int(bad):
    with pytest.raises(TypeError, match=r"integer"):
        w.randint(bad)
    with pytest.raises(TypeError, match=r"integer"):
        w.randperm(bad)


def test_randint_and_randperm_refuse_dtypes_and_sizes():
    with pytest.raises(ValueError, match=r"int32 or int64"):
        w.randint(0, 5, [2], "float32")
    with pytest.raises(ValueError, match=r"int32, int64"):
        w.randperm(5, "bool")
    with pytest.raises(ValueError, match=r">= 0"):
        w.randperm(-1)
    with pytest.raises(MemoryError):
        w.randperm(2**60)


@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "poisson", "uniform_", "normal_", "exponential_", "cauchy_"])
def test_what_is_no_floating_tensor_is_refused(name):
    for wrong in (None, [0.5], w.ones([2], "int64")):
        with pytest.raises(TypeError, match=r"Tensor|floating"):
            getattr(w, name)(wrong)


@pytest.mark.parametrize("value", [1.5, -0.5, NAN])
def test_bernoulli_refuses_what_is_no_probability(value):
    with pytest.raises(IndexError):
        w.bernoulli(w.to_tensor([value]))


@pytest.mark.parametrize("weights", [[-0.5, 0.5], [0.0, 0.0], [NAN, 1.0]])
def test_multinomial_refuses_weights_that_are_none(weights):
    with pytest.raises(ValueError):
        w.multinomial(w.to_tensor(weights))


def test_multinomial_refuses_bad_counts_and_ranks():
    x = w.to_tensor([0.5, 0.5, 0.0])
    for count in (0, -1):
        with pytest.raises(ValueError, match=r"num_samples must be positive"):
            w.multinomial(x, count)
    with pytest.raises(ValueError):
        w.multinomial(x, 3)
    for shape in ([], [1, 1, 1]):
        with pytest.raises(ValueError, match=r"rank 1 or 2"):
            w.multinomial(w.ones(shape))
    with pytest.raises(TypeError, match=r"num_samples"):
        w.multinomial(x, 1.5)


def test_uniform_in_place_refuses_empty_ranges():
    with pytest.raises(ValueError, match=r"min < max"):
        w.ones([2]).uniform_(3.0, 1.0)
    with pytest.raises(ValueError, match=r"probability"):
        w.ones([2]).geometric_(1.5)


def test_in_place_draws_keep_dtype_and_memory():
    x = w.zeros([4], "float64")
    address = x.data_ptr()
    assert x.normal_() is x and x.exponential_() is x and x.uniform_() is x
    assert x.data_ptr() == address and x.dtype is w.float64


def test_more_draws_than_64_bits_count_are_refused():
    with pytest.raises(MemoryError, match="multinomial: no machine holds such a tensor"):
        w.multinomial(w.ones([3]), 2**70, replacement=True)
