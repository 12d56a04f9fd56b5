# Process state: the random generator, threads, memory counters, gradient mode.

@cython.binding(False)   # methods check their self
cdef class Generator:
    """The state of random numbers: a Philox key (the seed) and how many counters are spent."""
    cdef public uint64_t seed_value
    cdef public uint64_t offset
    cdef public object stream  # with FLAGS_paddle_random: the Mersenne stream, made when it is first drawn from

    def __init__(self, seed=0):
        self.seed_value = <uint64_t>(int(seed) & 0xFFFFFFFFFFFFFFFF)

    def manual_seed(self, seed):
        """Start over from `seed`, an int; returns the generator."""
        self.seed_value = <uint64_t>(int(seed) & 0xFFFFFFFFFFFFFFFF)
        self.offset = 0
        self.stream = None
        return self

    def initial_seed(self):
        """The seed in use."""
        return self.seed_value

    def get_state(self):
        """(seed, offset), two ints, that `set_state` takes back; with FLAGS_paddle_random the stream's words after them."""
        if self.stream is None:
            return self.seed_value, self.offset
        return self.seed_value, self.offset, *self.stream.get_state()

    def set_state(self, state):
        """Go back to a state that `get_state` gave."""
        seed, offset, *stream = state
        made = None
        if stream:
            made = Mersenne()
            made.set_state(stream)
        self.seed_value, self.offset, self.stream = seed, offset, made


cdef Generator default_generator = Generator()


cdef dict generators = {0: default_generator}  # of each device that random numbers were drawn on


cdef void put_generator(wry_thread *thread, Generator generator) noexcept:
    cdef PyObject *before = thread.generator
    if generator is not None:
        Py_INCREF(generator)
        thread.generator = <PyObject *>generator
    else:
        thread.generator = NULL
    Py_XDECREF(before)


cdef Generator generator_of(wry_thread *thread, int32_t device):
    cdef Generator found
    if thread.generator != NULL:
        return <Generator>thread.generator
    if device == 0:
        return default_generator
    found = generators.get(device)
    if found is None:
        # The numbers of one seed are the same on every device.
        found = generators[device] = Generator(default_generator.seed_value)
    return found


def get_default_generator(int32_t device=0):
    """The generator that random ops of this thread draw from on a device."""
    return generator_of(wry_thread_state(), checked_device(device))


def set_default_generator(Generator generator not None):
    """Make random ops of this thread draw from `generator`, on any device; returns the one before.

    The default generator of the cpu stands for "each device its own", which is how a thread starts.
    """
    cdef wry_thread *thread = wry_thread_state()
    before = default_generator if thread.generator == NULL else <Generator>thread.generator
    note_end_of_thread(thread)
    put_generator(thread, None if generator is default_generator else generator)
    return before


def set_random_rules(dict rules):
    """Let `rules`, functions by op, draw in place of the kernels of random ops; None gives these back their work."""
    global random_rules
    random_rules = rules


def seed_generators(seed):
    """Start the generators of all devices over from `seed`; returns the cpu's."""
    cdef Generator one
    for one in generators.values():
        one.manual_seed(seed)
    return default_generator


def get_num_threads():
    """How many threads a kernel may use: all cores that the process may use, until somebody says otherwise.

    The number of cores follows from the process's affinity and control groups. Stronger are, in this order, the
    environment variables `OMP_NUM_THREADS` and `FLAGS_paddle_num_threads`, and `set_num_threads`. It is 1 in the workers
    of a DataLoader and in other forked children.
    """
    return process_threads


def set_num_threads(int count):
    """Set how many threads a kernel may use, at least 1. Results do not depend on it."""
    global process_threads
    if count < 1:
        raise ValueError(f"set_num_threads: got {count}, expected a number of threads >= 1.")
    process_threads = count


def set_thread_budget(int count):
    """Set how many threads the kernels may use that the calling thread runs; 0: as many as `get_num_threads` says.

    Returns:
        The number before, to set it again.
    """
    cdef wry_thread *thread = wry_thread_state()
    cdef int before = thread.budget
    if count < 0:
        raise ValueError(f"set_thread_budget: got {count}, expected a number of threads >= 1, or 0 for the process's setting.")
    thread.budget = count
    return before


def memory_stats(int32_t device=0):
    """Bytes on a device: allocated, peak_allocated (held by tensors), reserved, peak_reserved (with the cache)."""
    cdef wry_memory_stats stats
    wry_memory_get_stats(checked_device(device), &stats)
    return stats


def memory_holders(int32_t device):
    """The memory of tensors on a device that the garbage collector knows: (bytes, the tensor that shows most of it), the largest first."""
    import gc
    cdef dict found = {}
    cdef Tensor x, other
    for one in gc.get_objects():
        if isinstance(one, Tensor) and (<Tensor>one).storage != NULL and (<Tensor>one).t.device == device:
            x = one
            key = <size_t>x.storage
            other = found.get(key)
            if other is None or other.t.size < x.t.size:
                found[key] = x
    return sorted([((<Tensor>one).storage.nbytes, one) for one in found.values()], key=lambda pair: -pair[0])


def reset_peak_memory_stats(int32_t device=0):
    """Let the peaks start again from what is in use now."""
    wry_memory_reset_peak(checked_device(device))


def fill_fresh_memory(bint on):
    """Whether memory of the cpu that nobody has written to yet holds bytes of 0x7f: to find what counts on zeros."""
    wry_memory_set_fill(on)


def release_memory_cache(int32_t device=0):
    """Give the memory that the allocator keeps for reuse back to the system, or to the device."""
    wry_memory_release_cache(checked_device(device))


def set_memory_cache_limit(size_t nbytes, int32_t device=0):
    """How many bytes of freed memory the allocator keeps at most."""
    wry_memory_set_cache_limit(checked_device(device), nbytes)


def is_grad_enabled():
    """Are ops of this thread recorded for gradients?"""
    return grad_enabled()


def set_grad_mode(bint enabled):
    """Switch recording for this thread; returns what it was."""
    return set_grad_enabled_flag(enabled)


def show_frames(bint wanted):
    """Whether tracebacks have entries for the compiled functions of this module. They name lines of files that no
    user has, so by default they do not."""
    global wry_show_frames
    wry_show_frames = wanted
