# What a profiler records: what ran from when to when, on which thread. Everything here runs with the GIL.

cdef extern from *:
    """
    #include <time.h>
    static inline int64_t wry_now(void) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now); /* the clock of time.perf_counter_ns */
      return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    """
    int64_t wry_now() noexcept nogil
    unsigned long PyThread_get_thread_ident() noexcept nogil

cdef struct Event:
    int64_t begin, end
    int64_t ready           # when the kernel began; 0: the event has no such moment
    int64_t allocated       # bytes that tensors held on the device at the end
    int64_t taken           # by how many that grew
    PyObject *what          # a Plan, an Op, or the name; a reference
    unsigned long thread
    int32_t kind

cdef enum:
    MOST_EVENTS = 1 << 23   # of 64 bytes each: half a gigabyte

cdef bint tracing_devices = False
cdef Event *events = NULL
cdef Py_ssize_t n_events = 0, event_room = 0
cdef int64_t events_lost = 0


cdef int64_t trace_now() noexcept nogil:
    return wry_now()


cdef int64_t allocated_now() noexcept nogil:
    cdef wry_memory_stats stats
    wry_memory_get_stats(0, &stats)
    return stats.allocated


cdef int64_t allocated_on(int32_t device) noexcept nogil:
    cdef wry_memory_stats stats
    wry_memory_get_stats(device, &stats)
    return stats.allocated


# Work of devices, between two events of its stream each. Their times are asked for when the trace ends.

cdef struct Span:
    void *begin
    void *end
    void *stream
    PyObject *what          # as of an Event
    int32_t device

cdef Span *spans = NULL
cdef Py_ssize_t n_spans = 0, span_room = 0
cdef dict span_bases = {}   # device -> (event, what the host's clock said then)


cdef void *span_mark(int32_t device, void *stream) noexcept nogil:
    """An event of the device at this place of the stream; NULL where none is asked for."""
    cdef const wry_device *d
    cdef void *event = NULL
    cdef char error[512]
    if not tracing_devices or device == 0 or wry_device_capturing(device):
        return NULL
    d = wry_device_of(device)
    if d.event_create == NULL or d.event_create(d.self, WRY_DEVICE_NUMBER(device), &event, error) != WRY_OK:
        return NULL
    if d.event_record(d.self, WRY_DEVICE_NUMBER(device), event, stream, error) != WRY_OK:
        d.event_destroy(d.self, WRY_DEVICE_NUMBER(device), event)
        return NULL
    return event


cdef int span_drop(int32_t device, void *event) noexcept:
    if event != NULL:
        wry_device_of(device).event_destroy(wry_device_of(device).self, WRY_DEVICE_NUMBER(device), event)
    return 0


cdef int span_add(object what, int32_t device, void *stream, void *begin, void *end) except -1:
    """What ran between two marks; it takes them over."""
    global spans, n_spans, span_room
    cdef Span *larger
    cdef Py_ssize_t room
    if begin == NULL or end == NULL or not tracing:
        span_drop(device, begin)
        span_drop(device, end)
        return 0
    if n_spans == span_room:
        room = 2 * span_room if span_room else 1024
        larger = NULL if room > MOST_EVENTS else <Span *>realloc(spans, room * sizeof(Span))
        if larger == NULL:
            span_drop(device, begin)
            span_drop(device, end)
            return 0
        spans = larger
        span_room = room
    Py_INCREF(what)
    spans[n_spans].begin, spans[n_spans].end, spans[n_spans].stream, spans[n_spans].device = begin, end, stream, device
    spans[n_spans].what = <PyObject *>what
    n_spans += 1
    return 0


def trace_devices_start(devices):
    """Take the times of work on these devices, ints, from now on: call it before `trace_start`."""
    global tracing_devices
    trace_devices_stop()
    for device in devices:
        synchronize(device)
        base = DeviceEvent(device)
        base.record(get_stream(device))
        base.synchronize()
        span_bases[device] = base, wry_now()
    tracing_devices = len(span_bases) > 0


def trace_devices_stop():
    """Wait for the devices and stop taking times.

    Returns:
        Of each piece of work (name, begin, end, device, stream, inputs): times in nanoseconds of `time.perf_counter_ns`, the stream
        its handle, inputs as those of an event of `trace_stop`.
    """
    global spans, n_spans, span_room, tracing_devices
    cdef Py_ssize_t i, n = n_spans
    cdef Span *those = spans
    cdef const wry_device *d
    cdef char error[512]
    cdef double after, long_
    cdef list out = []
    tracing_devices = False
    spans = NULL
    n_spans = span_room = 0
    for i in range(n):
        d = wry_device_of(those[i].device)
        what = <object>those[i].what
        Py_DECREF(what)
        found = span_bases.get(those[i].device)
        after = long_ = -1
        with nogil:
            d.event_synchronize(d.self, WRY_DEVICE_NUMBER(those[i].device), those[i].end, error)
        if found is not None:
            after = d.event_elapsed(d.self, WRY_DEVICE_NUMBER(those[i].device), (<DeviceEvent>found[0]).event, those[i].begin)
            long_ = d.event_elapsed(d.self, WRY_DEVICE_NUMBER(those[i].device), those[i].begin, those[i].end)
        span_drop(those[i].device, those[i].begin)
        span_drop(those[i].device, those[i].end)
        if after < 0 or long_ < 0:
            continue
        name, inputs = what, ()
        if type(what) is Plan:
            name, inputs = (<Plan>what).op.name, inputs_of_plan(<Plan>what)
        begin = found[1] + <int64_t>(after * 1e6)
        out.append((name, begin, begin + <int64_t>(long_ * 1e6), those[i].device, <size_t>those[i].stream, inputs))
    free(those)
    span_bases.clear()
    return out


cdef int trace_event(int32_t kind, object what, int64_t begin, int64_t ready, int64_t end, int64_t allocated_before,
                     int32_t device=0) except -1:
    global events, n_events, event_room, events_lost
    cdef Event *larger
    cdef Event *event
    cdef Py_ssize_t room
    if not tracing:
        return 0
    if n_events == event_room:
        room = 2 * event_room if event_room else 4096
        larger = NULL if room > MOST_EVENTS else <Event *>realloc(events, room * sizeof(Event))
        if larger == NULL:
            events_lost += 1
            return 0
        events = larger
        event_room = room
    event = events + n_events
    n_events += 1
    event.kind = kind
    event.begin = begin
    event.ready = ready
    event.end = end
    event.allocated = allocated_on(device)
    event.taken = event.allocated - allocated_before
    event.thread = PyThread_get_thread_ident()
    Py_INCREF(what)
    event.what = <PyObject *>what
    return 0


cdef int run_traced(wry_thread *thread, Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs,
                    PyObject **into) except -1:
    """`run_on` while a profiler records."""
    cdef int64_t before = allocated_now(), begin = wry_now(), ready, begun = rebinds
    cdef Plan plan = find_plan(op, inputs, n, attrs, into)
    cdef void *mark = NULL
    cdef void *stream = NULL
    if plan.device:
        before = allocated_on(plan.device)
        stream = stream_of(thread, plan.device)
        if plan.kernel != NULL:  # else the ops that it is made of are noted
            mark = span_mark(plan.device, stream)
    ready = wry_now()
    try:
        if not (plan.simple and run_simple(op, plan, inputs, n, outs, into, begun, thread)):
            run_plan(op, plan, inputs, n, attrs, outs, into, begun, thread)
    except BaseException:
        span_drop(plan.device, mark)
        raise
    if mark != NULL:
        span_add(plan, plan.device, stream, mark, span_mark(plan.device, stream))
    trace_event(0, plan, begin, ready, wry_now(), before, plan.device)
    return 0


def trace_start():
    """Record each op and each `trace_note` of every thread from now on. What was recorded before is let go of."""
    global tracing, events_lost
    trace_stop()
    events_lost = 0
    tracing = True


def trace_stop():
    """Stop recording.

    Returns:
        (events, how many were lost because there were more than memory is kept for). An event is (kind, name, begin, ready,
        end, thread, bytes allocated at its end, bytes taken, inputs): times in nanoseconds of `time.perf_counter_ns`,
        `ready` 0 or when the kernel of an op began, inputs a tuple of (dtype, shape) or None, empty for what is not an op.
    """
    global tracing, n_events, event_room, events, events_lost
    cdef Py_ssize_t i, n = n_events
    cdef Event *those = events
    cdef Event *e
    cdef list out = []
    cdef int64_t lost = events_lost
    tracing = False
    # Making objects may run anything, another trace too: it gets an array of its own.
    events = NULL
    n_events = event_room = 0
    events_lost = 0
    for i in range(n):
        e = those + i
        what = <object>e.what
        Py_DECREF(what)
        name, inputs = what, ()
        if type(what) is Plan:
            name, inputs = (<Plan>what).op.name, inputs_of_plan(<Plan>what)
        elif type(what) is Op:
            name = (<Op>what).name
        out.append((e.kind, name, e.begin, e.ready, e.end, e.thread, e.allocated, e.taken, inputs))
    free(those)
    return out, lost


cdef tuple inputs_of_plan(Plan plan):
    cdef const int64_t *key = plan.key
    cdef Py_ssize_t k
    cdef int i, rank
    cdef list out = []
    for k in range(plan.n_inputs):
        if key[0] == -1:
            out.append(None)
            key += 1
            continue
        rank = <int>(key[0] >> 8 & 0xff)
        out.append((dtype_of_code(<int32_t>(key[0] & 0xff)).name, tuple([key[1 + i] for i in range(rank)])))
        key += 1 + rank
    return tuple(out)


def trace_note(int kind, str name not None, int64_t begin, int64_t end):
    """Record an event of this thread, with times of `time.perf_counter_ns`; nothing where nothing is recorded."""
    trace_event(kind, name, begin, 0, end, allocated_now())


def is_tracing():
    """Whether a profiler records."""
    return tracing
