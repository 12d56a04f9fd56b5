// What the parts of the stand-in for NCCL share: the exchange (fake_nccl_exchange.cc) knows other processes and no device, the kernel
// (fake_nccl.cu) the device and no other process.
#ifndef FAKE_NCCL_H
#define FAKE_NCCL_H

#include <stddef.h>
#include <stdint.h>

enum Result : int {
  SUCCESS = 0,
  UNHANDLED_CUDA_ERROR = 1,
  SYSTEM_ERROR = 2,
  INTERNAL_ERROR = 3,
  INVALID_ARGUMENT = 4,
  INVALID_USAGE = 5,
  REMOTE_ERROR = 6,
  IN_PROGRESS = 7
};
enum Type : int { INT8,
                  UINT8,
                  INT32,
                  UINT32,
                  INT64,
                  UINT64,
                  FLOAT16,
                  FLOAT32,
                  FLOAT64,
                  BFLOAT16,
                  TYPES };
enum Reduction : int { SUM,
                       PROD,
                       MAX,
                       MIN,
                       AVG,
                       REDUCTIONS };
enum Kind : int { ALL_REDUCE,
                  REDUCE,
                  BROADCAST,
                  ALL_GATHER,
                  REDUCE_SCATTER,
                  SEND,
                  RECV };
constexpr size_t size_of[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
constexpr size_t piece_bytes = 8192;  // that a kernel moves at once

struct Call {  // as the program has made it; addresses are the device's
  Kind kind;
  const char *from;
  char *to;
  size_t count;
  Type type;
  Reduction op;
  int peer;  // or root
};

struct Shared;  // memory of all ranks
struct Communicator {
  Shared *shared;
  int size, rank, device;
  volatile int aborted;  // by ncclCommAbort, while a kernel may wait
  int async_error;
  uint64_t collectives;  // that have begun
};

// Joins the ranks; waits for all of them. `name` is that of the unique id.
Result join(const char *name, int size, int rank, int device, Communicator *out, const char **why);
void part(Communicator *c);
int new_number();  // another one for each unique id of this process

// One launch: calls that belong together. `next` says what the kernel has to do with the device's memory; it waits for other ranks.
struct Work;
Work *new_work(Communicator *c, const Call *calls, size_t count);
struct Piece {
  const char *from;  // of the device: read it into the buffer
  char *to;          // of the device: write the buffer there
  size_t bytes;
};
bool next(Work *work, Piece *piece, char *buffer);  // false: it has ended
void free_work(Work *work);

#endif
