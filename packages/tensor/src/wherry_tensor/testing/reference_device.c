/* The reference device: a device that forgives nothing.
 *
 * It computes with the kernels of the cpu, so its results are theirs to the bit, and it behaves like the
 * strictest accelerator that one can think of:
 *
 * - Its memory cannot be touched by the host. Every block lies in pages without permission, which are
 *   opened for the time of a copy or of a kernel that was given them, to be read or to be written, and has
 *   a page without permission after it. Whoever forgets to copy gets a segmentation fault, at the line.
 * - Its streams are lazy. Work runs when somebody waits for it, or when a great deal has piled up. Whoever
 *   forgets to wait, or hands over something that has changed by then, sees it.
 * - Freed memory is poisoned, when the stream comes to it, and work that still uses it ends the process.
 *
 * Makers of devices may read it from the end: `reference_start` fills a wry_device, `reference_serve`
 * registers kernels. Only C11, POSIX threads and mmap; testing/reference.py builds it with the system's
 * compiler and loads it.
 *
 * Locks. `state` guards queues and blocks and is held briefly. Whoever runs tasks is the runner: at most
 * one thread at a time, and never while it waits for Python, except inside a kernel that asks for its
 * output, for which the runner may call back. So nothing that can be called with the GIL waits for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wherry/device.h"

#define ARENA ((size_t)16 << 30) /* addresses, not memory */
#define QUARANTINE 8             /* freed blocks of one size that wait before the first of them is used again */
#define MANY_TASKS 4000
#define MUCH_MEMORY ((size_t)256 << 20)
#define POISON 0xff /* NaN, -1, true */

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what, const void *data) {
  fprintf(stderr, "reference device: %s at %p\n", what, data);
  abort();
}

/* ---- Blocks ---------------------------------------------------------------------------------------- */

typedef struct block {
  char *pages;
  size_t count; /* of pages, without the one after that is never opened */
  size_t bytes;
  int live, readers, writers;
  struct block *next;
} block;

static char *arena;
static size_t page, pages_used;
static block **block_at; /* of each page of the arena */
/* Freed blocks by their pages, oldest first; the last list has those of all larger sizes. */
#define LISTS 257
static struct {
  block *first, *last;
  size_t count;
} freed[LISTS];
static size_t live_bytes, bytes_to_free;

static void permit(block *b) {
  int how = b->writers ? PROT_READ | PROT_WRITE : b->readers ? PROT_READ
                                                             : PROT_NONE;
  if (mprotect(b->pages, b->count * page, how)) die("cannot change the permissions of a block", b->pages);
}

static void open_block(block *b, int write) {
  pthread_mutex_lock(&state);
  int before = b->writers ? 2 : b->readers ? 1
                                           : 0;
  if (write) ++b->writers;
  else ++b->readers;
  int after = b->writers ? 2 : 1;
  if (before != after) permit(b);
  pthread_mutex_unlock(&state);
}

static void close_block(block *b, int write) {
  pthread_mutex_lock(&state);
  int before = b->writers ? 2 : 1;
  if (write) --b->writers;
  else --b->readers;
  int after = b->writers ? 2 : b->readers ? 1
                                          : 0;
  if (before != after) permit(b);
  pthread_mutex_unlock(&state);
}

static block *block_of(const void *data) {
  const char *at = data;
  block *b = at < arena || at >= arena + ARENA ? NULL : block_at[(size_t)(at - arena) / page];
  if (!b) die("memory that is not the device's was used as if it were", data);
  if (!b->live) die("memory was used after it was freed", data);
  return b;
}

static int ref_allocate(void *self, int32_t number, size_t bytes, void *stream, void **out, char *error) {
  (void)self, (void)number, (void)stream;
  size_t count = (bytes + page - 1) / page;
  if (!count) count = 1;
  if (count >= LISTS) { /* powers of two, so that one that comes back fits the next */
    size_t wide = LISTS - 1;
    while (wide < count) wide *= 2;
    count = wide;
  }
  size_t list = count < LISTS ? count : LISTS - 1;
  pthread_mutex_lock(&state);
  block *b = NULL;
  if (freed[list].count > QUARANTINE && freed[list].first->count == count) {
    b = freed[list].first;
    freed[list].first = b->next;
    if (!b->next) freed[list].last = NULL;
    --freed[list].count;
  } else if ((pages_used + count + 1) * page <= ARENA && (b = calloc(1, sizeof *b))) {
    b->pages = arena + pages_used * page;
    b->count = count;
    for (size_t i = 0; i < count; ++i) block_at[pages_used + i] = b;
    pages_used += count + 1;
  }
  if (b) {
    b->live = 1;
    b->bytes = bytes;
    b->next = NULL;
    live_bytes += bytes;
    /* The data ends where the block ends, as near as 64-byte alignment lets it, so that the next byte is a fault. */
    *out = b->pages + (count * page - (bytes + 63) / 64 * 64);
    if (!bytes) *out = b->pages;
  } else {
    snprintf(error, WRY_ERROR_SIZE, "the arena of %zu bytes is used up", ARENA);
  }
  pthread_mutex_unlock(&state);
  return b ? WRY_OK : WRY_OUT_OF_MEMORY;
}

static void end_block(void *data) {
  block *b = block_of(data);
  open_block(b, 1);
  memset(b->pages, POISON, b->count * page);
  close_block(b, 1);
  pthread_mutex_lock(&state);
  b->live = 0;
  live_bytes -= b->bytes;
  bytes_to_free -= b->bytes;
  b->next = NULL;
  size_t list = b->count < LISTS ? b->count : LISTS - 1;
  if (freed[list].last) freed[list].last->next = b;
  else freed[list].first = b;
  freed[list].last = b;
  ++freed[list].count;
  pthread_mutex_unlock(&state);
}

/* ---- Tasks ----------------------------------------------------------------------------------------- */

/* What a row of the kernel table carries: the cpu's kernel. */
typedef struct row {
  wry_kernel kernel;
  const void *data;
} row;

typedef struct mark { /* an event's, shared by the event and the tasks that know it */
  int refs, passed;
  struct stream *stream;
} mark;

typedef struct tensor { /* a wry_tensor that keeps its own shape, and the value if it is a number of the host */
  wry_tensor t;
  int64_t shape[WRY_MAX_RANK], strides[WRY_MAX_RANK];
  double value[2];
} tensor;

typedef enum kind { CALL,
                    FREE,
                    WRITE,
                    MOVE,
                    FILL,
                    STRIDED,
                    MARK,
                    WAIT } kind;

typedef struct task {
  struct task *next;
  kind kind;
  row *row;
  tensor *tensors; /* inputs, then outputs; `to` and `from` of STRIDED */
  const wry_tensor **inputs;
  wry_tensor **outputs;
  wry_attr *attrs;
  int32_t n_inputs, n_outputs, n_attrs;
  wry_context context;
  void *to;
  const void *from;
  size_t bytes, item_bytes;
  char item[16];
  mark *mark;
} task;

typedef struct stream {
  task *head, *tail;
  size_t count;
  int status;
  char error[WRY_ERROR_SIZE];
} stream;

static stream default_stream;
static stream *stream_at(void *handle) { return handle ? (stream *)handle : &default_stream; }

static void *copy_of(const void *from, size_t bytes) {
  void *to = malloc(bytes ? bytes : 1);
  if (!to) die("out of host memory", from);
  if (bytes) memcpy(to, from, bytes);
  return to;
}

static void *cleared(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) die("out of host memory", NULL);
  return p;
}

/* The kernel may come long after the call has returned: nothing that the caller owns is pointed to. */
static void keep_tensor(tensor *kept, const wry_tensor *t) {
  kept->t = *t;
  memcpy(kept->shape, t->shape, (size_t)t->rank * sizeof(int64_t));
  memcpy(kept->strides, t->strides, (size_t)t->rank * sizeof(int64_t));
  kept->t.shape = kept->shape;
  kept->t.strides = kept->strides;
}

static size_t item_size(int32_t dtype) {
  static const size_t sizes[WRY_NUM_DTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[dtype];
}

static void keep_attrs(task *one, const wry_attr *attrs, int32_t n) {
  one->attrs = copy_of(attrs, (size_t)n * sizeof *attrs);
  one->n_attrs = n;
  for (int32_t i = 0; i < n; ++i) {
    wry_attr *a = &one->attrs[i];
    if (a->kind == WRY_ATTR_INTS) a->value.ints = copy_of(a->value.ints, (size_t)a->length * sizeof(int64_t));
    if (a->kind == WRY_ATTR_FLOATS) a->value.floats = copy_of(a->value.floats, (size_t)a->length * sizeof(double));
    if (a->kind == WRY_ATTR_STRING) a->value.s = copy_of(a->value.s, (size_t)a->length + 1);
  }
}

static void drop_mark(mark *m) {
  pthread_mutex_lock(&state);
  int last = --m->refs == 0;
  pthread_mutex_unlock(&state);
  if (last) free(m);
}

static void drop_task(task *one) {
  for (int32_t i = 0; i < one->n_attrs; ++i) {
    wry_attr *a = &one->attrs[i];
    if (a->kind == WRY_ATTR_INTS) free((void *)a->value.ints);
    if (a->kind == WRY_ATTR_FLOATS) free((void *)a->value.floats);
    if (a->kind == WRY_ATTR_STRING) free((void *)a->value.s);
  }
  free(one->attrs);
  free(one->tensors);
  free((void *)one->inputs);
  free(one->outputs);
  if (one->kind == WRITE) free((void *)one->from);
  if (one->mark) drop_mark(one->mark);
  free(one);
}

static void run_some(stream *s, const mark *until, int may_wait);

static void put(stream *s, task *one) {
  pthread_mutex_lock(&state);
  if (s->tail) s->tail->next = one;
  else s->head = one;
  s->tail = one;
  ++s->count;
  int much = s->count > MANY_TASKS || bytes_to_free > MUCH_MEMORY;
  pthread_mutex_unlock(&state);
  if (much) run_some(s, NULL, 0);
}

/* ---- Running --------------------------------------------------------------------------------------- */

/* What a kernel of the cpu finds in its context: scratch of the host, and the caller's memory for outputs. */
typedef struct running {
  void *scratch[64];
  int n_scratch;
  const wry_call *call; /* of the launch; NULL when all outputs were there */
  block *grown[16];
  int n_grown;
} running;

static void *host_scratch(wry_context *context, size_t bytes) {
  running *r = context->caller;
  void *p = NULL;
  if (r->n_scratch == 64 || posix_memalign(&p, 64, bytes ? bytes : 64)) return NULL;
  return r->scratch[r->n_scratch++] = p;
}

static void *grown_output(wry_context *context, int32_t index, int32_t rank, const int64_t *shape) {
  running *r = context->caller;
  wry_context *theirs = r->call->context;
  void *data = theirs->allocate_output(theirs, index, rank, shape);
  if (data && r->call->outputs[index]->size && r->n_grown < 16) {
    r->grown[r->n_grown] = block_of(data);
    open_block(r->grown[r->n_grown++], 1);
  }
  return data;
}

static int is_used(const wry_tensor *t) { return t && t->device != WRY_CPU && t->size && t->data; }

static void set_blocks(const wry_call *call, int open) {
  void (*change)(block *, int) = open ? open_block : close_block;
  for (int32_t i = 0; i < call->n_inputs; ++i)
    if (is_used(call->inputs[i])) change(block_of(call->inputs[i]->data), 0);
  for (int32_t i = 0; i < call->n_outputs; ++i)
    if (is_used(call->outputs[i])) change(block_of(call->outputs[i]->data), 1);
}

/* Runs the cpu's kernel with the pages of this call open. */
static int run_kernel(const row *kernel, wry_call *call, const wry_context *given, const wry_call *launch, char *error) {
  running r;
  wry_context context = *given;
  r.n_scratch = r.n_grown = 0;
  r.call = launch;
  context.stream = NULL;
  context.device = WRY_CPU;
  context.workspace = host_scratch;
  context.allocate_output = grown_output;
  context.caller = &r;
  context.error[0] = 0;
  call->context = &context;
  call->data = kernel->data;
  wry_tensor *known[8];
  int32_t n = call->n_outputs;
  for (int32_t i = 0; i < n; ++i) known[i] = call->outputs[i];
  set_blocks(call, 1);
  int status = kernel->kernel(call);
  /* Outputs that the kernel has grown were not there to be opened. */
  wry_call before = *call;
  before.outputs = known;
  set_blocks(&before, 0);
  for (int i = 0; i < r.n_grown; ++i) close_block(r.grown[i], 1);
  for (int i = 0; i < r.n_scratch; ++i) free(r.scratch[i]);
  if (status != WRY_OK) memcpy(error, context.error, WRY_ERROR_SIZE);
  return status;
}

static void strided(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps, const int64_t *shape,
                    int32_t rank, size_t item) {
  if (!rank) {
    memcpy(to, from, item);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    strided(to + i * to_steps[0] * (int64_t)item, to_steps + 1, from + i * from_steps[0] * (int64_t)item, from_steps + 1,
            shape + 1, rank - 1, item);
}

static int run_task(task *one, char *error) {
  block *to, *from;
  switch (one->kind) {
    case CALL: {
      wry_call call = {.inputs = one->inputs, .outputs = one->outputs, .attrs = one->attrs, .n_inputs = one->n_inputs, .n_outputs = one->n_outputs, .n_attrs = one->n_attrs};
      return run_kernel(one->row, &call, &one->context, NULL, error);
    }
    case FREE:
      end_block(one->to);
      return WRY_OK;
    case WRITE:
    case MOVE:
      to = block_of(one->to);
      from = one->kind == MOVE ? block_of(one->from) : NULL;
      open_block(to, 1);
      if (from) open_block(from, 0);
      memmove(one->to, one->from, one->bytes);
      if (from) close_block(from, 0);
      close_block(to, 1);
      return WRY_OK;
    case FILL:
      to = block_of(one->to);
      open_block(to, 1);
      for (size_t i = 0; i < one->bytes / one->item_bytes; ++i)
        memcpy((char *)one->to + i * one->item_bytes, one->item, one->item_bytes);
      close_block(to, 1);
      return WRY_OK;
    case STRIDED: {
      const wry_tensor *t = &one->tensors[0].t, *f = &one->tensors[1].t;
      to = block_of(t->data);
      from = block_of(f->data);
      open_block(to, 1);
      open_block(from, 0);
      strided(t->data, t->strides, f->data, f->strides, t->shape, t->rank, item_size(t->dtype));
      close_block(from, 0);
      close_block(to, 1);
      return WRY_OK;
    }
    case MARK:
      one->mark->passed = 1;
      return WRY_OK;
    case WAIT:
      if (!one->mark->passed && one->mark->stream) run_some(one->mark->stream, one->mark, 1);
      return WRY_OK;
  }
  return WRY_INTERNAL;
}

static pthread_mutex_t runner_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t runner_left = PTHREAD_COND_INITIALIZER;
static pthread_t runner;
static int runner_depth;

/* One thread runs tasks; it may come here again, out of a finalizer that a kernel's output has let run. */
static int become_runner(int may_wait) {
  int mine = 1;
  pthread_mutex_lock(&runner_lock);
  while (runner_depth && !pthread_equal(runner, pthread_self())) {
    if (!may_wait) {
      mine = 0;
      break;
    }
    pthread_cond_wait(&runner_left, &runner_lock);
  }
  if (mine) {
    runner = pthread_self();
    ++runner_depth;
  }
  pthread_mutex_unlock(&runner_lock);
  return mine;
}

static void leave_runner(void) {
  pthread_mutex_lock(&runner_lock);
  if (!--runner_depth) pthread_cond_broadcast(&runner_left);
  pthread_mutex_unlock(&runner_lock);
}

/* Runs the tasks of a stream, up to a mark or all that are there. */
static void run_some(stream *s, const mark *until, int may_wait) {
  if (!become_runner(may_wait)) return;
  while (!until || !until->passed) {
    char error[WRY_ERROR_SIZE] = "";
    pthread_mutex_lock(&state);
    task *one = s->head;
    if (one) {
      s->head = one->next;
      if (!s->head) s->tail = NULL;
      --s->count;
    }
    pthread_mutex_unlock(&state);
    if (!one) break;
    int status = run_task(one, error);
    if (status != WRY_OK && s->status == WRY_OK) { /* the first one is what somebody will read */
      s->status = status;
      memcpy(s->error, error, WRY_ERROR_SIZE);
    }
    drop_task(one);
  }
  leave_runner();
}

static size_t waits; /* how often somebody waited for a stream */

static int finish(stream *s, char *error) {
  __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
  run_some(s, NULL, 1);
  int status = s->status;
  if (status != WRY_OK) memcpy(error, s->error, WRY_ERROR_SIZE);
  s->status = WRY_OK;
  return status;
}

/* ---- What the core calls --------------------------------------------------------------------------- */

static task *new_task(kind kind) {
  task *one = cleared(sizeof *one);
  one->kind = kind;
  return one;
}

/* Every kernel of this device: puts the call of the row's kernel on the stream. */
static int launch(const wry_call *call) {
  row *kernel = (row *)call->data;
  stream *s = stream_at(call->context->stream);
  int known = 1;
  for (int32_t i = 0; i < call->n_outputs; ++i) known = known && call->outputs[i];
  task *one = new_task(CALL);
  one->row = kernel;
  one->n_inputs = call->n_inputs;
  one->n_outputs = call->n_outputs;
  one->tensors = cleared((size_t)(call->n_inputs + call->n_outputs) * sizeof(tensor));
  one->inputs = cleared((size_t)call->n_inputs * sizeof(void *));
  one->outputs = cleared((size_t)call->n_outputs * sizeof(void *));
  for (int32_t i = 0; i < call->n_inputs; ++i) {
    if (!call->inputs[i]) continue;
    tensor *kept = &one->tensors[i];
    keep_tensor(kept, call->inputs[i]);
    if (kept->t.device == WRY_CPU && kept->t.data) { /* a number of the host, to be read now */
      memcpy(kept->value, kept->t.data, item_size(kept->t.dtype));
      kept->t.data = kept->value;
    }
    one->inputs[i] = &kept->t;
  }
  for (int32_t i = 0; known && i < call->n_outputs; ++i) {
    keep_tensor(&one->tensors[call->n_inputs + i], call->outputs[i]);
    one->outputs[i] = &one->tensors[call->n_inputs + i].t;
  }
  keep_attrs(one, call->attrs, call->n_attrs);
  one->context = *call->context;
  if (known) {
    put(s, one);
    return WRY_OK;
  }
  /* The shape of an output hangs on values: they have to be there now. */
  int status = finish(s, call->context->error);
  if (status == WRY_OK && become_runner(1)) {
    wry_call now = {.inputs = one->inputs, .outputs = call->outputs, .attrs = one->attrs, .n_inputs = one->n_inputs, .n_outputs = one->n_outputs, .n_attrs = one->n_attrs};
    status = run_kernel(kernel, &now, call->context, call, call->context->error);
    leave_runner();
  }
  drop_task(one);
  return status;
}

static void ref_free(void *self, int32_t number, void *data, size_t bytes, void *stream) {
  (void)self, (void)number;
  task *one = new_task(FREE);
  one->to = data;
  pthread_mutex_lock(&state);
  bytes_to_free += bytes;
  pthread_mutex_unlock(&state);
  put(stream_at(stream), one);
}

static int ref_copy(void *self, int32_t number, int32_t direction, void *to, const void *from, size_t bytes, void *stream,
                    char *error) {
  (void)self, (void)number;
  if (direction == WRY_DEVICE_TO_HOST) {
    int status = finish(stream_at(stream), error);
    if (status == WRY_OK && bytes) {
      block *b = block_of(from);
      open_block(b, 0);
      memcpy(to, from, bytes);
      close_block(b, 0);
    }
    return status;
  }
  if (!bytes) return WRY_OK;
  task *one = new_task(direction == WRY_HOST_TO_DEVICE ? WRITE : MOVE);
  one->to = to;
  one->from = direction == WRY_HOST_TO_DEVICE ? copy_of(from, bytes) : from;
  one->bytes = bytes;
  put(stream_at(stream), one);
  return WRY_OK;
}

static int ref_fill(void *self, int32_t number, void *to, size_t count, const void *item, size_t item_bytes, void *stream,
                    char *error) {
  (void)self, (void)number, (void)error;
  if (!count) return WRY_OK;
  task *one = new_task(FILL);
  one->to = to;
  one->bytes = count * item_bytes;
  one->item_bytes = item_bytes;
  memcpy(one->item, item, item_bytes);
  put(stream_at(stream), one);
  return WRY_OK;
}

static int ref_strided_copy(void *self, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream,
                            char *error) {
  (void)self, (void)number, (void)error;
  if (!to->size) return WRY_OK;
  task *one = new_task(STRIDED);
  one->tensors = cleared(2 * sizeof(tensor));
  keep_tensor(&one->tensors[0], to);
  keep_tensor(&one->tensors[1], from);
  put(stream_at(stream), one);
  return WRY_OK;
}

static int ref_synchronize(void *self, int32_t number, void *stream, char *error) {
  (void)self, (void)number;
  return finish(stream_at(stream), error);
}

static int ref_stream_create(void *self, int32_t number, void **out, char *error) {
  (void)self, (void)number, (void)error;
  *out = cleared(sizeof(stream));
  return WRY_OK;
}

static void ref_stream_destroy(void *self, int32_t number, void *handle) {
  (void)self, (void)number;
  run_some(handle, NULL, 1);
  free(handle);
}

/* An event points to the mark that it was recorded as last. */
static int ref_event_create(void *self, int32_t number, void **out, char *error) {
  (void)self, (void)number, (void)error;
  *out = cleared(sizeof(mark *));
  return WRY_OK;
}

static void ref_event_destroy(void *self, int32_t number, void *event) {
  (void)self, (void)number;
  mark **at = event;
  if (*at) drop_mark(*at);
  free(at);
}

static int ref_event_record(void *self, int32_t number, void *event, void *stream, char *error) {
  (void)self, (void)number, (void)error;
  mark **at = event, *m = cleared(sizeof *m);
  m->refs = 2; /* of the event and of the task */
  m->stream = stream_at(stream);
  if (*at) drop_mark(*at);
  *at = m;
  task *one = new_task(MARK);
  one->mark = m;
  put(m->stream, one);
  return WRY_OK;
}

static int ref_event_query(void *self, int32_t number, void *event) {
  (void)self, (void)number;
  mark **at = event;
  return !*at || (*at)->passed;
}

static int ref_event_synchronize(void *self, int32_t number, void *event, char *error) {
  (void)self, (void)number, (void)error;
  mark **at = event;
  if (*at && !(*at)->passed) run_some((*at)->stream, *at, 1);
  return WRY_OK;
}

static int ref_stream_wait(void *self, int32_t number, void *stream, void *event, char *error) {
  (void)self, (void)number, (void)error;
  mark **at = event;
  if (!*at) return WRY_OK;
  task *one = new_task(WAIT);
  one->mark = *at;
  pthread_mutex_lock(&state);
  ++one->mark->refs;
  pthread_mutex_unlock(&state);
  put(stream_at(stream), one);
  return WRY_OK;
}

static double ref_event_elapsed(void *self, int32_t number, void *from, void *to) {
  (void)self, (void)number, (void)from, (void)to;
  return -1.0; /* its time says nothing */
}

/* How often calls came together. It keeps none, and only sees that begin and end take turns. */
static size_t brackets;
static __thread int inside;
static int ref_together(void *self, int32_t number, int32_t begin, char *error) {
  (void)self, (void)number;
  if (inside == begin) {
    snprintf(error, WRY_ERROR_SIZE, "together: got %s twice, expected begin and end in turns", begin ? "begin" : "end");
    return WRY_INTERNAL;
  }
  inside = begin;
  brackets += (size_t)begin;
  return WRY_OK;
}
size_t reference_brackets(void) { return brackets; }

static int ref_memory(void *self, int32_t number, int64_t *total, int64_t *available) {
  (void)self, (void)number;
  pthread_mutex_lock(&state);
  *total = (int64_t)ARENA;
  *available = (int64_t)(ARENA - live_bytes);
  pthread_mutex_unlock(&state);
  return WRY_OK;
}

/* For tests: bytes of blocks that are in use, tasks that wait on the default stream, and how often somebody has waited
 * for a stream (to read a value, to synchronize, or for a kernel whose output hangs on values). */
size_t reference_live_bytes(void) { return live_bytes; }
size_t reference_waiting(void) { return default_stream.count; }
size_t reference_waits(void) { return waits; }

/* Registers the device. With `caching` the core keeps freed blocks, as it does for most devices; without,
 * each block comes back here when its tensor ends, and is poisoned. Without `forks` it says that it does not
 * bear them, as devices with a driver of their own do. */
int reference_start(const wry_host *host, const char *name, int caching, int forks) {
  if (!wry_host_serves(host)) return -2;
  page = (size_t)sysconf(_SC_PAGESIZE);
  if (!arena) {
    arena = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    block_at = mmap(NULL, ARENA / page * sizeof(block *), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED || block_at == MAP_FAILED) die("there is no address space", NULL);
  }
  const wry_device device = {
      .size = sizeof(wry_device),
      .name = name,
      .count = 1,
      .flags = WRY_LAUNCH_MAY_BLOCK | (caching ? 0u : WRY_OWN_CACHE) | (forks ? WRY_FORKS : 0u),
      .dlpack_type = 12, /* kDLExtDev */
      .allocate = ref_allocate,
      .free = ref_free,
      .copy = ref_copy,
      .fill = ref_fill,
      .strided_copy = ref_strided_copy,
      .synchronize = ref_synchronize,
      .stream_create = ref_stream_create,
      .stream_destroy = ref_stream_destroy,
      .event_create = ref_event_create,
      .event_destroy = ref_event_destroy,
      .event_record = ref_event_record,
      .event_query = ref_event_query,
      .event_synchronize = ref_event_synchronize,
      .stream_wait = ref_stream_wait,
      .event_elapsed = ref_event_elapsed,
      .memory = ref_memory,
      .together = ref_together,
  };
  return host->register_device(&device);
}

/* Registers a kernel for each that the cpu has for `op`; returns how many, or -1 with a Python exception. */
int reference_serve(const wry_host *host, const char *name, const char *op) {
  int count = 0;
  for (int32_t dtype = -1; dtype < WRY_NUM_DTYPES; ++dtype) {
    wry_kernel_entry found;
    int status = host->find_kernel("cpu", op, dtype, &found, sizeof found);
    if (status < 0) return -1;
    if (status > 0) continue;
    row *kernel = cleared(sizeof *kernel); /* lives as long as the table */
    kernel->kernel = found.kernel;
    kernel->data = found.data;
    found.kernel = launch;
    found.data = kernel;
    found.flags |= WRY_TAKES_HOST_SCALARS;
    if (host->register_kernels(name, &found, 1, sizeof found) != 0) return -1;
    ++count;
  }
  return count;
}
