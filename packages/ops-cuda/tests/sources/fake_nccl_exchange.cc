// Ranks of the stand-in for NCCL exchange pieces through shared memory. Nothing here touches a device.
//
// A collective goes piece by piece: each rank shows its part, waits for those of the others, takes what it needs, and says that it has.
// Messages have a box for each pair of ranks, so that those of one group go on beside each other, whatever their order. A rank that waits
// for one that never comes waits until its communicator is aborted, as NCCL does.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "fake_nccl.h"

constexpr int most = 16;  // ranks

struct Box {  // of one rank to another
  std::atomic<uint64_t> sent, taken;
  uint32_t bytes;
  char data[piece_bytes];
};
struct Slot {  // of a rank
  std::atomic<int> here;
  int device;
  std::atomic<uint64_t> shown, taken;
  uint64_t signature;
  char data[piece_bytes];
};
struct Shared {
  std::atomic<int> attached, size, duplicate;
  Slot slots[most];
  Box boxes[most][most];
};

static void nap() {
  const timespec little = {0, 50000};
  nanosleep(&little, nullptr);
}

Result join(const char *name, int size, int rank, int device, Communicator *out, const char **why) {
  *why = "";
  if (size < 1 || rank < 0 || rank >= size) return *why = "Invalid rank requested", INVALID_ARGUMENT;
  if (size > most) return *why = "the stand-in has room for 16 ranks", INTERNAL_ERROR;
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return *why = strerror(errno), SYSTEM_ERROR;
  void *at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) return *why = strerror(errno), SYSTEM_ERROR;
  Shared *s = static_cast<Shared *>(at);
  int none = 0;
  if (!s->size.compare_exchange_strong(none, size) && none != size) return *why = "Mismatched rank count", INVALID_USAGE;
  s->slots[rank].device = device;
  if (s->slots[rank].here.exchange(1)) return *why = "Rank reported twice", INTERNAL_ERROR;
  ++s->attached;
  while (s->attached < size) nap();
  for (int i = 0; i < size; ++i)
    if (i != rank && s->slots[i].device == device) *why = "Duplicate GPU detected";
  shm_unlink(name);
  if (**why) return INVALID_USAGE;
  *out = {s, size, rank, device, 0, SUCCESS, 0};
  return SUCCESS;
}
int new_number() {
  static std::atomic<int> made;
  return made++;
}
void part(Communicator *c) { munmap(c->shared, sizeof(Shared)); }

// ---- arithmetic -----------------------------------------------------------------------------------

static float from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 0 ? ldexpf(fraction, -24) : exponent == 31 ? (fraction ? NAN : INFINITY)
                                                                            : ldexpf(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -size : size;
}
static uint16_t to_half(float x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const float size = fabsf(x);
  if (x != x) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent;
  frexpf(size, &exponent);
  if (exponent < -13) exponent = -13;
  const float steps = nearbyintf(ldexpf(size, 11 - exponent));  // of 2^(exponent - 11), to the even one
  return sign | uint16_t((exponent + 13) * 1024 + int(steps));  // a carry goes into the exponent
}
static float from_bfloat(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float x;
  memcpy(&x, &wide, 4);
  return x;
}
static uint16_t to_bfloat(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (x != x) return 0x7fc0;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T>
static T combined(T a, T b, Reduction op) {
  switch (op) {
    case PROD: return a * b;
    case MAX: return a < b || a != a ? (a != a ? a : b) : a;
    case MIN: return b < a || a != a ? (a != a ? a : b) : a;
    default: return a + b;
  }
}
template <typename T>
static void reduce_as(char *total, const char *more, size_t bytes, Reduction op) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T a, b;
    memcpy(&a, total + at, sizeof(T)), memcpy(&b, more + at, sizeof(T));
    a = combined(a, b, op);
    memcpy(total + at, &a, sizeof(T));
  }
}
static void reduce_halves(char *total, const char *more, size_t bytes, Reduction op, float (*wide)(uint16_t), uint16_t (*narrow)(float)) {
  for (size_t at = 0; at < bytes; at += 2) {  // rounded after each step, as NCCL does
    uint16_t a, b;
    memcpy(&a, total + at, 2), memcpy(&b, more + at, 2);
    a = narrow(combined(wide(a), wide(b), op));
    memcpy(total + at, &a, 2);
  }
}
static void reduce(char *total, const char *more, size_t bytes, Type type, Reduction op) {
  switch (type) {
    case INT8: return reduce_as<int8_t>(total, more, bytes, op);
    case UINT8: return reduce_as<uint8_t>(total, more, bytes, op);
    case INT32: return reduce_as<int32_t>(total, more, bytes, op);
    case UINT32: return reduce_as<uint32_t>(total, more, bytes, op);
    case INT64: return reduce_as<int64_t>(total, more, bytes, op);
    case UINT64: return reduce_as<uint64_t>(total, more, bytes, op);
    case FLOAT16: return reduce_halves(total, more, bytes, op, from_half, to_half);
    case BFLOAT16: return reduce_halves(total, more, bytes, op, from_bfloat, to_bfloat);
    case FLOAT32: return reduce_as<float>(total, more, bytes, op);
    default: return reduce_as<double>(total, more, bytes, op);
  }
}
template <typename T>
static void divide_as(char *total, size_t bytes, int n) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T x;
    memcpy(&x, total + at, sizeof(T));
    x = T(x / T(n));
    memcpy(total + at, &x, sizeof(T));
  }
}
static void divide(char *total, size_t bytes, Type type, int n) {
  if (type == FLOAT32) return divide_as<float>(total, bytes, n);
  if (type == FLOAT64) return divide_as<double>(total, bytes, n);
  for (size_t at = 0; (type == FLOAT16 || type == BFLOAT16) && at < bytes; at += 2) {
    uint16_t x;
    memcpy(&x, total + at, 2);
    x = type == FLOAT16 ? to_half(from_half(x) / n) : to_bfloat(from_bfloat(x) / n);
    memcpy(total + at, &x, 2);
  }
}

// ---- one launch -----------------------------------------------------------------------------------

struct Message {
  Call call;
  size_t done = 0;
};
struct Work {
  Communicator *c;
  std::vector<Call> collectives;
  std::vector<Message> messages;
  size_t at = 0, offset = 0;  // the collective, and the byte of it
  int step = 0;               // of a piece: show, take and write one rank's part after another, say so
  int source = 0;
  Message *moving = nullptr;
};

Work *new_work(Communicator *c, const Call *calls, size_t count) {
  Work *w = new Work{c, {}, {}};
  for (size_t i = 0; i < count; ++i) {
    if (calls[i].kind < SEND) w->collectives.push_back(calls[i]);
    else w->messages.push_back({calls[i]});
  }
  return w;
}
void free_work(Work *work) { delete work; }

static bool all(const Communicator *c, std::atomic<uint64_t> Slot::*counter, uint64_t least) {
  for (int i = 0; i < c->size; ++i)
    if (c->shared->slots[i].*counter < least) return false;
  return true;
}

// Which bytes of a call a rank shows, takes and writes: `whole` is what one rank gives.
static size_t given(const Call &call, int size) { return call.count * size_of[call.type] * (call.kind == REDUCE_SCATTER ? size : 1); }

static bool next_of_collective(Work *w, Piece *piece, char *buffer) {
  Communicator *c = w->c;
  Slot &mine = c->shared->slots[c->rank];
  while (w->at < w->collectives.size()) {
    const Call &call = w->collectives[w->at];
    const size_t whole = given(call, c->size);
    if (w->offset >= whole) {
      ++w->at, w->offset = 0;
      continue;
    }
    const size_t bytes = whole - w->offset < piece_bytes ? whole - w->offset : piece_bytes;
    const bool gives = call.kind != BROADCAST || call.peer == c->rank;
    if (w->step == 0) {  // read what this rank gives
      w->step = 1;
      if (gives) {
        *piece = {call.from + w->offset, nullptr, bytes};
        return true;
      }
    }
    if (w->step == 1) {
      const uint64_t round = mine.shown + 1;
      while (!all(c, &Slot::taken, round - 1)) {
        if (c->aborted) return false;
        nap();
      }
      if (gives) memcpy(mine.data, buffer, bytes);
      mine.signature = uint64_t(call.kind) << 60 | uint64_t(call.op) << 56 | uint64_t(call.type) << 48 | whole;
      mine.shown = round;
      while (!all(c, &Slot::shown, round)) {
        if (c->aborted) return false;
        nap();
      }
      for (int i = 0; i < c->size; ++i)
        if (c->shared->slots[i].signature != mine.signature) {  // NCCL would hang, or write what nobody sent
          c->async_error = INTERNAL_ERROR;
          return false;
        }
      w->step = 2, w->source = 0;
    }
    if (w->step == 2) {
      const auto part = [&](int rank) { return c->shared->slots[rank].data; };
      if (call.kind == BROADCAST) {
        w->step = 3;
        memcpy(buffer, part(call.peer), bytes);
        *piece = {nullptr, call.to + w->offset, bytes};
        return true;
      }
      if (call.kind == ALL_GATHER) {
        if (w->source < c->size) {
          memcpy(buffer, part(w->source), bytes);
          *piece = {nullptr, call.to + w->source++ * whole + w->offset, bytes};
          return true;
        }
        w->step = 3;
      } else {
        w->step = 3;
        memcpy(buffer, part(0), bytes);
        for (int i = 1; i < c->size; ++i) reduce(buffer, part(i), bytes, call.type, call.op);
        if (call.op == AVG) divide(buffer, bytes, call.type, c->size);
        if (call.kind == ALL_REDUCE || (call.kind == REDUCE && call.peer == c->rank)) {
          *piece = {nullptr, call.to + w->offset, bytes};
          return true;
        }
        if (call.kind == REDUCE_SCATTER) {  // what of this piece is this rank's
          const size_t own = whole / c->size, begin = own * c->rank, end = begin + own;
          const size_t first = begin > w->offset ? begin : w->offset, last = end < w->offset + bytes ? end : w->offset + bytes;
          if (first < last) {
            memmove(buffer, buffer + (first - w->offset), last - first);
            *piece = {nullptr, call.to + (first - begin), last - first};
            return true;
          }
        }
      }
    }
    mine.taken = mine.shown.load();
    w->step = 0, w->offset += bytes;
  }
  return false;
}

static bool next_of_messages(Work *w, Piece *piece, char *buffer) {
  Communicator *c = w->c;
  if (Message *m = w->moving) {  // the kernel has read a piece that is to be sent, or written one that has come
    const bool sends = m->call.kind == SEND;
    Box &box = sends ? c->shared->boxes[c->rank][m->call.peer] : c->shared->boxes[m->call.peer][c->rank];
    if (sends) memcpy(box.data, buffer, piece->bytes), box.bytes = uint32_t(piece->bytes);
    m->done += piece->bytes;
    if (sends) ++box.sent;
    else ++box.taken;
    w->moving = nullptr;
  }
  while (!c->aborted && c->async_error == SUCCESS) {
    bool left = false;
    std::vector<bool> busy(2 * most);  // of several messages to one rank the first goes first
    for (Message &m : w->messages) {
      const bool sends = m.call.kind == SEND;
      const size_t whole = m.call.count * size_of[m.call.type], bytes = whole - m.done < piece_bytes ? whole - m.done : piece_bytes;
      if (m.done >= whole) continue;
      left = true;
      const int line = m.call.peer * 2 + sends;
      if (busy[line]) continue;
      busy[line] = true;
      Box &box = sends ? c->shared->boxes[c->rank][m.call.peer] : c->shared->boxes[m.call.peer][c->rank];
      if (sends ? box.taken != box.sent : box.taken == box.sent) continue;
      if (!sends && box.bytes != bytes) {  // the two have different sizes
        c->async_error = INTERNAL_ERROR;
        return false;
      }
      w->moving = &m;
      if (!sends) memcpy(buffer, box.data, bytes);
      *piece = sends ? Piece{m.call.from + m.done, nullptr, bytes} : Piece{nullptr, m.call.to + m.done, bytes};
      return true;
    }
    if (!left) return false;
    nap();
  }
  return false;
}

bool next(Work *work, Piece *piece, char *buffer) {
  if (work->c->aborted || work->c->async_error != SUCCESS) return false;
  return next_of_collective(work, piece, buffer) || (work->at >= work->collectives.size() && next_of_messages(work, piece, buffer));
}
