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
    int64_t allocated       # bytes that tensors held on the cpu at the end
    int64_t taken           # by how many that grew
    PyObject *what          # a Plan, an Op, or the name; a reference
    unsigned long thread
    int32_t kind

cdef enum:
    MOST_EVENTS = 1 << 23   # of 64 bytes each: half a gigabyte

cdef Event *events = NULL
cdef Py_ssize_t n_events = 0, event_room = 0
cdef int64_t events_lost = 0


cdef int64_t trace_now() noexcept nogil:
    return wry_now()


cdef int64_t allocated_now() noexcept nogil:
    cdef wry_memory_stats stats
    wry_memory_get_stats(0, &stats)
    return stats.allocated


cdef int trace_event(int32_t kind, object what, int64_t begin, int64_t ready, int64_t end, int64_t allocated_before) except -1:
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
    event.allocated = allocated_now()
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
    ready = wry_now()
    if not (plan.simple and run_simple(op, plan, inputs, n, outs, into, begun, thread)):
        run_plan(op, plan, inputs, n, attrs, outs, into, begun, thread)
    trace_event(0, plan, begin, ready, wry_now(), before)
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
        `ready` 0 or when the kernel of an op began, inputs a tuple of (dtype, shape) or None, empty for what is no op.
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
