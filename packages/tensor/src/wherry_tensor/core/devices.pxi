# Devices: Python access to the device table, streams and events, and memory that moves between them.
#
# A device is an int: its kind in the low 8 bits, which of that kind above (WRY_DEVICE). 0 is the cpu.

cdef dict kinds_by_name = {"cpu": 0}
cdef list kind_names = ["cpu"]
cdef int32_t process_device = 0


cdef str device_name(int32_t device):
    if device == 0:
        return "cpu"
    return f"{kind_names[WRY_DEVICE_KIND(device)]}:{WRY_DEVICE_NUMBER(device)}"


cdef int32_t code_of_device(str name) except -1:
    """The device called "cpu", "mine" (the first one) or "mine:1"."""
    kind, _, number = name.partition(":")
    if kind not in kinds_by_name:
        raise ValueError(f"there is no device of this name. Got '{name}', expected one of {', '.join(kind_names)}.")
    which = int(number or 0)
    count = 1 if kind == "cpu" else wry_device_of(kinds_by_name[kind]).count
    if not 0 <= which < count:
        raise ValueError(f"there is no such device. Got '{name}', expected a number below {count}.")
    return WRY_DEVICE(kinds_by_name[kind], which)


cdef int32_t checked_device(int32_t device) except -1:
    """`device`, which somebody made of a number: it must be one of those there are."""
    if device == 0:
        return 0
    if WRY_DEVICE_KIND(device) < 1 or WRY_DEVICE_KIND(device) >= wry_device_kinds() or \
            not 0 <= WRY_DEVICE_NUMBER(device) < wry_device_of(device).count:
        raise ValueError(f"there is no such device. Got code {device}, expected 0, the cpu, or one that device_code gave.")
    return device


cdef inline int32_t current_device(wry_thread *thread) noexcept nogil:
    return process_device if thread.device < 0 else thread.device


cdef int32_t thread_device() noexcept nogil:
    return current_device(wry_thread_state())


cdef int32_t set_thread_device(int32_t device) noexcept nogil:
    cdef wry_thread *thread = wry_thread_state()
    cdef int32_t before = thread.device
    thread.device = device
    return before


cdef void *stream_of(wry_thread *thread, int32_t device) noexcept nogil:
    cdef int32_t i
    for i in range(thread.n_streams):
        if thread.streams[i].device == device:
            return thread.streams[i].stream
    return NULL


cdef int raise_text(int status, str what, const char *error) except -1:
    """The exception of a status; `what` stands for a text that is missing."""
    text = error.decode("utf-8", "replace")
    if not text:
        text = f"{what}: failed with status {status}"
    from wherry_tensor import errors
    if status == WRY_INVALID:
        raise errors.InvalidArgumentError(text)
    if status == WRY_OUT_OF_RANGE:
        raise errors.OutOfRangeError(text)
    if status == WRY_OUT_OF_MEMORY:
        raise errors.ResourceExhaustedError(text)
    if status == WRY_UNSUPPORTED:
        raise errors.UnimplementedError(text)
    if text.startswith("(External)"):  # code of others says so
        raise errors.ExternalError(text)
    raise RuntimeError(text)


cdef int register_device(const wry_device *device) except -1:
    """What wry_host offers: one more kind of device."""
    if device == NULL or device.size < sizeof(wry_device) // 2 or device.name == NULL:
        raise ValueError("register_device: got no device, expected a wry_device with its size and name set.")
    name = device.name.decode()
    taken = [kind for kind in kind_names if kind.lower() == name.lower()]  # names are found in any case
    if taken:
        raise ValueError(f"register_device: there is a device of this name. Got '{name}' beside '{taken[0]}', expected a new name.")
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"register_device: this is not a name for a device. Got '{name}', expected letters, digits and _.")
    if not 1 <= device.count <= 1 << 20:
        raise ValueError(f"register_device: '{name}' has no devices. Got count {device.count}, expected at least 1.")
    if device.allocate == NULL or device.free == NULL or device.copy == NULL or device.fill == NULL or \
            device.strided_copy == NULL or device.synchronize == NULL:
        raise ValueError(
            f"register_device: '{name}' lacks a function. Got NULL among allocate, free, copy, fill, strided_copy and "
            f"synchronize, expected all of them."
        )
    kind = wry_device_add(device)
    if kind < 0:
        raise MemoryError("register_device: there is no room for another kind of device.")
    kinds_by_name[name] = kind
    kind_names.append(name)
    if not device.flags & WRY_HOST_VISIBLE:
        from wherry_tensor.methods import add_device_method
        add_device_method(name)
    return 0


def devices():
    """The kinds of devices there are: {name: (code of the first one, how many, DLPack's number)}."""
    cdef dict out = {"cpu": (0, 1, 1)}
    cdef int kind
    for kind in range(1, wry_device_kinds()):
        out[kind_names[kind]] = (kind, wry_device_of(kind).count, wry_device_of(kind).dlpack_type)
    return out


def devices_against_forks():
    """The kinds of devices that are there and do not bear that the process is forked."""
    return [kind_names[kind] for kind in range(1, wry_device_kinds()) if not wry_device_of(kind).flags & WRY_FORKS]


def device_code(str kind, int number=0):
    """The int that stands for a device. KeyError: it is not known."""
    return checked_device(WRY_DEVICE(kinds_by_name[kind], number))


def name_of_device(int32_t device):
    """"cpu", or the kind and the number, as in "mine:0"."""
    return device_name(checked_device(device))


def get_current_device():
    """The device, an int, that ops without inputs run on."""
    return current_device(wry_thread_state())


def set_current_device(int32_t device):
    """Let ops without inputs run on `device`, in all threads."""
    global process_device
    process_device = checked_device(device)


def set_thread_current_device(int32_t device):
    """Let ops without inputs run on `device` in the calling thread, whatever the process has set; -1: as the process has it.

    Returns:
        The number before, to set it again.
    """
    if device >= 0:
        checked_device(device)
    elif device != -1:
        raise ValueError(f"set_thread_current_device: got {device}, expected the code of a device, or -1 for the process's setting.")
    return set_thread_device(device)


def device_of(Tensor x not None):
    """The device of a tensor, an int."""
    return x.t.device


def synchronize(int32_t device):
    """Wait until everything that was put on any stream of the device has run; errors of that work are raised."""
    cdef char error[512]
    cdef int status
    if checked_device(device) == 0:
        return
    error[0] = 0
    with nogil:
        status = wry_device_synchronize(device, error)
    if status != WRY_OK:
        raise_text(status, f"synchronize {device_name(device)}", error)


def device_memory(int32_t device):
    """(bytes in all, bytes free) of a device, None where it does not tell."""
    cdef int64_t total = 0, available = 0
    cdef const wry_device *d = wry_device_of(checked_device(device))
    if d == NULL or d.memory == NULL or d.memory(d.self, WRY_DEVICE_NUMBER(device), &total, &available) != WRY_OK:
        return None
    return total, available


cdef const wry_device *with_streams(int32_t device, str what) except NULL:
    cdef const wry_device *d = wry_device_of(checked_device(device))
    if d == NULL or d.stream_create == NULL or d.event_create == NULL:
        raise NotImplementedError(
            f"{what}: {device_name(device)} has one stream and no events. Got a request for another, expected a device that "
            f"has them. Work without: everything runs in the order of the calls."
        )
    return d


@cython.final
@cython.binding(False)   # methods check their self
cdef class DeviceStream:
    """A queue of work on a device; `handle` 0 is the default one."""

    def __init__(self, int32_t device, bint default=False, int32_t priority=2):
        cdef char error[512]
        if self.stream != NULL:
            raise TypeError("Stream: this stream is there already. Got a second __init__, expected one.")
        self.device = checked_device(device)
        if not default:
            with_streams(device, "Stream")
            error[0] = 0
            status = wry_device_stream_create(device, priority, &self.stream, error)
            if status != WRY_OK:
                self.stream = NULL
                raise_text(status, "Stream", error)

    def __dealloc__(self):
        if self.stream != NULL:
            wry_device_stream_release(self.device, self.stream)

    @property
    def handle(self):
        """The device's own pointer, an int."""
        return <size_t>self.stream

    def synchronize(self):
        """Wait until everything on this stream has run."""
        cdef char error[512]
        cdef int status
        cdef const wry_device *d = wry_device_of(self.device)
        if d == NULL:
            return
        error[0] = 0
        with nogil:
            status = d.synchronize(d.self, WRY_DEVICE_NUMBER(self.device), self.stream, error)
        if status != WRY_OK:
            raise_text(status, "synchronize", error)

    def wait_event(self, DeviceEvent event not None):
        """Let later work of this stream wait until `event` has passed."""
        cdef char error[512]
        cdef const wry_device *d = with_streams(self.device, "wait_event")
        device_of_event(event, self.device)
        error[0] = 0
        status = d.stream_wait(d.self, WRY_DEVICE_NUMBER(self.device), self.stream, event.event, error)
        if status != WRY_OK:
            raise_text(status, "wait_event", error)


@cython.final
@cython.binding(False)
cdef class DeviceEvent:
    """A mark in a stream."""

    def __init__(self, int32_t device, uint32_t flags=1):
        cdef char error[512]
        cdef const wry_device *d = with_streams(device, "Event")
        if self.event != NULL:
            raise TypeError("Event: this event is there already. Got a second __init__, expected one.")
        self.device = device
        error[0] = 0
        if d.event_create_with != NULL:
            status = d.event_create_with(d.self, WRY_DEVICE_NUMBER(device), flags, &self.event, error)
        else:
            status = d.event_create(d.self, WRY_DEVICE_NUMBER(device), &self.event, error)
        if status != WRY_OK:
            self.event = NULL
            raise_text(status, "Event", error)

    def __dealloc__(self):
        cdef const wry_device *d = wry_device_of(self.device)
        if self.event != NULL:
            d.event_destroy(d.self, WRY_DEVICE_NUMBER(self.device), self.event)

    def record(self, DeviceStream stream not None):
        """Mark the place that `stream` has come to."""
        cdef char error[512]
        cdef const wry_device *d = device_of_event(self, -1)
        if stream.device != self.device:
            raise ValueError(f"record: the stream is one of {device_name(stream.device)}. Got an event of {device_name(self.device)}.")
        error[0] = 0
        status = d.event_record(d.self, WRY_DEVICE_NUMBER(self.device), self.event, stream.stream, error)
        if status != WRY_OK:
            raise_text(status, "record", error)

    def query(self):
        """Has everything before the mark run?"""
        cdef const wry_device *d = device_of_event(self, -1)
        return d.event_query(d.self, WRY_DEVICE_NUMBER(self.device), self.event) == 1

    def synchronize(self):
        """Wait until everything before the mark has run."""
        cdef char error[512]
        cdef int status
        cdef const wry_device *d = device_of_event(self, -1)
        error[0] = 0
        with nogil:
            status = d.event_synchronize(d.self, WRY_DEVICE_NUMBER(self.device), self.event, error)
        if status != WRY_OK:
            raise_text(status, "synchronize", error)

    def elapsed(self, DeviceEvent later not None):
        """Milliseconds from this mark to another."""
        cdef const wry_device *d = device_of_event(self, -1)
        device_of_event(later, self.device)
        return d.event_elapsed(d.self, WRY_DEVICE_NUMBER(self.device), self.event, later.event)


cdef set against_graphs = set()  # flags that ask for programs to run kernel by kernel


def set_device_graphs(bint on, str flag not None):
    """Whether executors may capture programs and run them as graphs, as far as `flag` is concerned."""
    if on:
        against_graphs.discard(flag)
    else:
        against_graphs.add(flag)


cdef bint device_graphs(int32_t device) noexcept:
    cdef const wry_device *d = wry_device_of(device)
    return not against_graphs and d != NULL and d.capture_begin != NULL and not wry_device_capturing(device)


cdef int refuse_capture(Op op, int32_t device, str why) except -1:
    """An op that cannot be part of what is captured, before anything of it runs."""
    raise RuntimeError(
        f"{op.name}: this cannot be captured into a graph on {device_name(device)}: {why}. Got it between capture_begin and capture_end, expected ops "
        f"that run on the device alone. Run it before or after the capture."
    )


@cython.final
@cython.binding(False)
cdef class DeviceGraph:
    """Work of a stream that is written down once, and then run as one as often as it is launched.

    Memory that was made meanwhile belongs to it: results lie there, and each launch writes them anew.

    Args:
        device: an int.

    Raises:
        NotImplementedError: the device has no graphs.
    """
    def __init__(self, int32_t device):
        cdef const wry_device *d = with_streams(device, "CUDAGraph")
        if d.capture_begin == NULL:
            raise NotImplementedError(f"CUDAGraph: {device_name(device)} has no graphs. Got a request for one, expected a GPU. Run the work as it is.")
        self.device = device

    def __dealloc__(self):
        if self.stream is None:
            self.let_go()

    cdef int let_go(self) noexcept:
        cdef const wry_device *d = wry_device_of(self.device)
        if self.graph != NULL:
            d.graph_destroy(d.self, WRY_DEVICE_NUMBER(self.device), self.graph)
            self.graph = NULL
        if self.pool != NULL:
            wry_device_pool_release(self.device, self.pool)
            self.pool = NULL
        return 0

    def begin(self, DeviceStream stream not None, int mode=1):
        """Write down from now on what is put on `stream`, which is not the default one."""
        cdef char error[512]
        cdef const wry_device *d = wry_device_of(self.device)
        if self.graph != NULL or self.stream is not None:
            raise RuntimeError("capture_begin: this graph was captured already. Got a second capture, expected one. Call reset() first.")
        if stream.stream == NULL or stream.device != self.device:
            raise ValueError(f"capture_begin: got the default stream, or one of another device, expected another stream of {device_name(self.device)}.")
        self.pool = wry_device_pool_begin(self.device, stream.stream)
        if self.pool == NULL:
            raise RuntimeError(f"capture_begin: something is being captured on {device_name(self.device)}. Got a second capture, expected one at a time.")
        error[0] = 0
        status = d.capture_begin(d.self, WRY_DEVICE_NUMBER(self.device), stream.stream, mode, error)
        if status != WRY_OK:
            wry_device_pool_end(self.device)
            self.let_go()
            raise_text(status, "capture_begin", error)
        self.stream = stream

    def end(self):
        """End the capture."""
        cdef char error[512]
        cdef const wry_device *d = wry_device_of(self.device)
        if self.stream is None:
            raise RuntimeError("capture_end: nothing is being captured. Got no capture_begin before it, expected one.")
        error[0] = 0
        status = d.capture_end(d.self, WRY_DEVICE_NUMBER(self.device), self.stream.stream, &self.graph, error)
        self.stream = None
        wry_device_pool_end(self.device)
        if status != WRY_OK:
            self.let_go()
            raise_text(status, "capture_end", error)

    def launch(self, DeviceStream stream not None):
        """Run what was captured, on `stream`."""
        self.launch_on(stream.stream)

    cdef int launch_on(self, void *stream) except -1:
        cdef char error[512]
        cdef const wry_device *d = wry_device_of(self.device)
        if self.graph == NULL:
            raise RuntimeError("replay: this graph holds nothing. Got no capture, expected capture_begin, work and capture_end before it.")
        error[0] = 0
        status = d.graph_launch(d.self, WRY_DEVICE_NUMBER(self.device), self.graph, stream, error)
        if status != WRY_OK:
            raise_text(status, "replay", error)
        return 0

    def reset(self):
        """Let go of what was captured and of its memory, but for what tensors still hold."""
        if self.stream is not None:
            raise RuntimeError("reset: the graph is being captured. Got it before capture_end, expected it afterwards.")
        self.let_go()

    def print_to(self, str path not None):
        """Write a description of the graph to a file, as DOT."""
        cdef char error[512]
        cdef const wry_device *d = wry_device_of(self.device)
        if self.graph == NULL:
            raise RuntimeError("print_to_dot_files: this graph holds nothing. Got no capture, expected one before it.")
        error[0] = 0
        name = path.encode()
        status = d.graph_print(d.self, WRY_DEVICE_NUMBER(self.device), self.graph, name, error)
        if status != WRY_OK:
            raise_text(status, "print_to_dot_files", error)


def is_capturing(int32_t device):
    """Is work of the device being written down?"""
    return wry_device_capturing(checked_device(device)) != 0


cdef const wry_device *device_of_event(DeviceEvent event, int32_t device) except NULL:
    """The functions of the event's device, which must be `device` unless that is -1."""
    if event.event == NULL:
        raise ValueError("Event: the event was never made. Got one without __init__, expected Event(device).")
    if device != -1 and event.device != device:
        raise ValueError(f"Event: the event is one of {device_name(event.device)}. Got it beside one of {device_name(device)}.")
    return wry_device_of(event.device)


def set_copies_later(bint on):
    """Whether copies of this thread out of page-locked memory may return before they have read it; returns what was set before."""
    cdef wry_thread *thread = wry_thread_state()
    before = thread.copies_later != 0
    thread.copies_later = on
    return before


def get_stream(int32_t device):
    """The DeviceStream that the calling thread works on."""
    cdef PyObject *mine = PyThreadState_GetDict()
    checked_device(device)
    found = (<dict>mine).get(("wherry_tensor stream", device)) if mine != NULL else None
    return found if found is not None else DeviceStream(device, default=True)


def set_stream(DeviceStream stream not None):
    """Let the calling thread work on `stream`; returns the one before."""
    cdef wry_thread *thread = wry_thread_state()
    cdef PyObject *mine = PyThreadState_GetDict()
    cdef int32_t i = 0
    before = get_stream(stream.device)
    while i < thread.n_streams and thread.streams[i].device != stream.device:
        i += 1
    if i == 8:
        raise NotImplementedError("set_stream: got a ninth device with a stream of its own in one thread, expected at most 8.")
    note_end_of_thread(thread)
    (<dict>mine)[("wherry_tensor stream", stream.device)] = stream  # keeps it alive
    thread.streams[i].device = stream.device
    thread.streams[i].stream = stream.stream
    if i == thread.n_streams:
        thread.n_streams += 1
    return before


# Memory that moves.

cdef int fill_zeros(Tensor x) except -1:
    """Zeros into a contiguous tensor."""
    cdef char error[512]
    cdef uint8_t zero = 0
    cdef const wry_device *d
    cdef int status
    if x.t.size == 0:
        return 0
    if x.t.device == 0:
        memset(x.t.data, 0, x.t.size * itemsizes[x.t.dtype])
        return 0
    d = wry_device_of(x.t.device)
    error[0] = 0
    status = d.fill(d.self, WRY_DEVICE_NUMBER(x.t.device), x.t.data, <size_t>(x.t.size * itemsizes[x.t.dtype]), &zero, 1,
                    stream_of(wry_thread_state(), x.t.device), error)
    if status != WRY_OK:
        raise_text(status, "fill", error)
    return 0


cdef int copy_strided(Tensor to, Tensor x) except -1:
    """The values of `x` into `to`: same shape, dtype and device, any strides; they do not overlap."""
    cdef char error[512]
    cdef const wry_device *d
    cdef int status
    cdef void *stream
    if x.t.size == 0:
        return 0
    if x.t.device == 0:
        wry_strided_copy(<char *>to.t.data, to.steps, <char *>x.t.data, x.steps, to.dims, to.t.rank, itemsizes[to.t.dtype])
        return 0
    d = wry_device_of(x.t.device)
    stream = stream_of(wry_thread_state(), x.t.device)
    wry_device_used_on(to.storage, stream)
    if x.storage != NULL:
        wry_device_used_on(x.storage, stream)
    error[0] = 0
    status = d.strided_copy(d.self, WRY_DEVICE_NUMBER(x.t.device), &to.t, &x.t, stream, error)
    if status != WRY_OK:
        raise_text(status, "strided_copy", error)
    return 0


cdef int move_bytes(int32_t device, int32_t kind, wry_storage *there, void *to, const void *at, size_t bytes) except -1:
    """Between the host and `there`, a storage of the device, in the order of the thread's stream."""
    cdef char error[512]
    cdef const wry_device *d = wry_device_of(device)
    cdef void *stream = stream_of(wry_thread_state(), device)
    cdef int status
    if there != NULL:
        wry_device_used_on(there, stream)
        there.refs += 1  # without the GIL somebody may give its tensor other memory
    error[0] = 0
    with nogil:
        status = d.copy(d.self, WRY_DEVICE_NUMBER(device), kind, to, at, bytes, stream, error)
    if there != NULL:
        unref(there)
    if status != WRY_OK:
        raise_text(status, "copy to the host" if kind == WRY_DEVICE_TO_HOST else f"copy to {device_name(device)}", error)
    return 0


cdef Tensor host_copy(Tensor x):
    """A contiguous copy of a device's tensor in host memory, complete."""
    cdef Tensor out
    cdef bint foreign = x.storage != NULL and x.storage.foreign
    x = to_contiguous(x)
    out = new_tensor(x.t.dtype, x.t.rank, x.dims)
    if out.storage != NULL:
        out.storage.foreign = foreign  # bytes of bools are copied as they are
    # Empty tensors too: this is where errors of earlier work come to light.
    move_bytes(x.t.device, WRY_DEVICE_TO_HOST, x.storage, out.t.data, x.t.data, <size_t>(x.t.size * itemsizes[x.t.dtype]))
    return out


cdef inline Tensor host_view(Tensor x):
    """`x` as memory that the host may read, now: itself on the cpu, else a copy (or its own memory, where that is visible).

    Whatever reads a value goes through here; it is what waits for a device.
    """
    if x.t.device == 0:
        return x
    return host_view_of_device(x)


cdef Tensor host_view_of_device(Tensor x):
    if not wry_device_of(x.t.device).flags & WRY_HOST_VISIBLE:
        return host_copy(x)
    move_bytes(x.t.device, WRY_DEVICE_TO_HOST, NULL, NULL, NULL, 0)  # waits
    out = new_alias(x)
    out.t.device = 0
    return out


cdef Tensor copied_between(Tensor x, int32_t device):
    """A contiguous copy of `x` on another device of its kind, which has `copy_between`."""
    cdef char error[512]
    cdef const wry_device *d = wry_device_of(device)
    cdef void *to_stream = stream_of(wry_thread_state(), device)
    cdef void *from_stream
    cdef Tensor out
    cdef size_t bytes
    cdef int status
    x = to_contiguous(x)
    out = new_tensor_on(device, x.t.dtype, x.t.rank, x.dims)
    if x.t.size == 0:
        return out
    bytes = <size_t>(x.t.size * itemsizes[x.t.dtype])
    from_stream = stream_of(wry_thread_state(), x.t.device)
    wry_device_used_on(x.storage, from_stream)
    wry_device_used_on(out.storage, to_stream)
    x.storage.refs += 1  # without the GIL somebody may give it other memory
    error[0] = 0
    with nogil:
        status = d.copy_between(
            d.self, WRY_DEVICE_NUMBER(device), out.t.data, to_stream, WRY_DEVICE_NUMBER(x.t.device), x.t.data, from_stream, bytes, error
        )
    unref(x.storage)
    if status != WRY_OK:
        raise_text(status, f"copy from {device_name(x.t.device)} to {device_name(device)}", error)
    return out


cdef Tensor copied_to(Tensor x, int32_t device):
    """A contiguous copy of `x` on another device, without gradient history."""
    cdef Tensor out
    cdef int32_t kind = WRY_HOST_TO_DEVICE
    if device == 0:
        return host_copy(x)
    if x.t.dtype == WRY_BOOL and x.storage != NULL and x.storage.foreign:
        x = truths(x)
    if x.t.device and WRY_DEVICE_KIND(x.t.device) == WRY_DEVICE_KIND(device) and wry_device_of(device).copy_between != NULL:
        return copied_between(x, device)
    if x.t.device and x.t.size and wry_device_of(device).flags & WRY_HOST_VISIBLE:
        x = to_contiguous(x)
        out = new_tensor_on(device, x.t.dtype, x.t.rank, x.dims)
        move_bytes(device, WRY_DEVICE_TO_HOST, NULL, NULL, NULL, 0)  # what used this memory before
        move_bytes(x.t.device, WRY_DEVICE_TO_HOST, x.storage, out.t.data, x.t.data, <size_t>(x.t.size * itemsizes[x.t.dtype]))
        return out
    if x.t.device and x.flags & CONTIGUOUS and wry_thread_state().copies_later and wry_device_of(device).flags & WRY_COPIES_LATER:
        if wry_device_of(x.t.device).flags & WRY_HOST_VISIBLE:
            kind = WRY_HOST_TO_DEVICE_LATER
    x = host_view(x)  # memory that the host can see, as pinned memory, needs no copy in between
    if not x.flags & CONTIGUOUS:
        out = new_tensor(x.t.dtype, x.t.rank, x.dims)
        copy_strided(out, x)  # not the op: a constant would go to the device for it
        x = out
    out = new_tensor_on(device, x.t.dtype, x.t.rank, x.dims)
    if x.t.size:
        move_bytes(device, kind, out.storage, out.t.data, x.t.data, <size_t>(x.t.size * itemsizes[x.t.dtype]))
    return out


def to_device(Tensor x not None, int32_t device):
    """`x` on a device, without gradient history: itself when it is there."""
    if x.t.device == device:
        x.flags &= ~<uint32_t>CONSTANT
        return x
    need_data(x, "to_device")
    return copied_to(x, checked_device(device))


def used_by_others(Tensor x not None):
    """Somebody else's work on this thread's stream uses the memory of `x`: whoever frees it waits for that."""
    need_data(x, "used_by_others")
    if x.t.device and x.storage != NULL:
        wry_device_used_on(x.storage, stream_of(wry_thread_state(), x.t.device))


def on_host(Tensor x not None):
    """`x` in memory that the host can read, complete: itself on the cpu, else a copy. Without gradient history elsewhere."""
    need_data(x, "on_host")
    return host_view(x)
