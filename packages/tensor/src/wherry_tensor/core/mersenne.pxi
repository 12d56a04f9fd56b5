# Random numbers as Paddle draws them on a CPU, for programs that must print what they print there.

@cython.binding(False)   # methods check their self
cdef class Mersenne:
    """A stream of the 64-bit Mersenne Twister, seeded as `paddle.seed` seeds it.

    Draws are tensors in host memory, in the order of Paddle 2.6.2. Only the low 32 bits of a seed
    count, as there; `directly` is the seeding of an op that has a seed of its own.
    """
    cdef wry_mersenne m

    def __cinit__(self, seed=0, *, bint directly=False):
        self.seed(seed, directly=directly)

    def seed(self, seed, *, bint directly=False):
        """Start over from `seed`, an int >= 0."""
        cdef uint64_t value = <uint64_t>(int(seed) & 0xFFFFFFFFFFFFFFFF)
        if directly:
            wry_mersenne_seed_directly(&self.m, value)
        else:
            wry_mersenne_seed(&self.m, <uint32_t>value)

    def get_state(self):
        """The state as ints (the words, and which of them is next), for `set_state`."""
        return (*[self.m.word[i] for i in range(WRY_MERSENNE_WORDS)], self.m.at)

    def set_state(self, state):
        """Go back to a state that `get_state` gave."""
        cdef wry_mersenne m
        cdef tuple words = tuple(state)
        if len(words) != WRY_MERSENNE_WORDS + 1 or not 0 <= words[WRY_MERSENNE_WORDS] <= WRY_MERSENNE_WORDS:
            raise ValueError(
                f"set_state: this is not a state of a random stream. Got {len(words)} numbers, expected the "
                f"{WRY_MERSENNE_WORDS + 1} that get_state gave. Pass them unchanged."
            )
        for i in range(WRY_MERSENNE_WORDS):
            m.word[i] = <uint64_t>(int(words[i]) & 0xFFFFFFFFFFFFFFFF)
        m.at = words[WRY_MERSENNE_WORDS]
        self.m = m

    def uniform(self, tuple shape not None, double min, double max, DType dtype not None):
        """Values in [min, max), float32 or float64."""
        cdef Tensor out = drawn_tensor(dtype.code, shape)
        if dtype.code == WRY_FLOAT32:
            wry_mersenne_uniform_float(&self.m, <float *>out.t.data, out.t.size, <float>min, <float>max)
        elif dtype.code == WRY_FLOAT64:
            wry_mersenne_uniform_double(&self.m, <double *>out.t.data, out.t.size, min, max)
        else:
            raise TypeError(f"uniform: got dtype {dtype.name}, expected float32 or float64.")
        return out

    def normal(self, tuple shape not None, double mean, double std, DType dtype not None):
        """Normally distributed values, float32 or float64."""
        cdef Tensor out = drawn_tensor(dtype.code, shape)
        if dtype.code == WRY_FLOAT32:
            wry_mersenne_normal_float(&self.m, <float *>out.t.data, out.t.size, <float>mean, <float>std)
        elif dtype.code == WRY_FLOAT64:
            wry_mersenne_normal_double(&self.m, <double *>out.t.data, out.t.size, mean, std)
        else:
            raise TypeError(f"normal: got dtype {dtype.name}, expected float32 or float64.")
        return out

    def integers(self, tuple shape not None, int64_t low, int64_t high):
        """int64 values in [low, high)."""
        if low >= high:
            raise ValueError(f"integers: got low={low} and high={high}, expected low < high.")
        cdef Tensor out = drawn_tensor(WRY_INT64, shape)
        wry_mersenne_integers(&self.m, <int64_t *>out.t.data, out.t.size, low, high)
        return out

    def permutation(self, int64_t n):
        """The integers from 0 to n - 1 in random order, int64."""
        cdef Tensor out = drawn_tensor(WRY_INT64, (n,))
        wry_mersenne_permutation(&self.m, <int64_t *>out.t.data, out.t.size)
        return out


cdef Tensor drawn_tensor(int32_t dtype, tuple shape):
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef Py_ssize_t i
    if len(shape) > WRY_MAX_RANK:
        raise ValueError(f"a tensor has at most {WRY_MAX_RANK} axes. Got {len(shape)}.")
    for i in range(len(shape)):
        sizes[i] = shape[i]
        if sizes[i] < 0:
            raise ValueError(f"a size cannot be negative. Got shape {list(shape)}.")
    return new_tensor(dtype, <int32_t>len(shape), sizes)
