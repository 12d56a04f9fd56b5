// What the parts of the emulator share. Nothing of it is seen by kernels.
//
//   threads.cc   threads of a block as fibers, barriers, warp functions, launches
//   tensor_cores.cc   mma.sync, ldmatrix, cp.async
//   checks.cc    every access of a kernel: bounds, written before, races; the hooks of the compiler
//   ordering.cc   which piece of work comes after which, across streams and the host
//   measure.cc   sectors, banks: what kernels ask of memory
//   memory.cc    device memory, its protection, faults, words for reports
//   runtime.cc   streams, events, the host API
//   program.cc   the end of a program that is run
//   library.cc   kernels that are compiled and loaded at run time
#ifndef CUDA_EMULATOR_STATE_H
#define CUDA_EMULATOR_STATE_H

#include "cuda_emulator/device.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#define CUDA_EMULATOR_API extern "C" __attribute__((visibility("default")))

namespace cuda_emulator {

constexpr size_t page = 4096, stack_size = 64 << 10, max_threads = 1024;
extern size_t arena_size;                         // addresses of device memory, freed blocks included
extern size_t device_memory;                      // what may be allocated at once
constexpr size_t filled_most = size_t(64) << 20;  // of an allocation, from its begin: huge ones cost no more memory than is touched
constexpr size_t shared_size = 256 << 10;         // addresses
constexpr int shared_unasked = 48 << 10;          // what a block may have, as on hardware,
constexpr int shared_most = 99 << 10;             // and with cudaFuncSetAttribute: what each device from 8.0 on can give

enum Order { FORWARD,
             REVERSE,
             SEEDED };
struct Settings {
  int order = FORWARD;
  uint64_t seed = 1;
  bool lazy = true;                 // streams run when somebody waits
  bool checked = false;             // this build checks every access
  bool guards = false;              // the system can put guards into page tables (Linux 6.13)
  int driver = CUDART_VERSION;      // the version of CUDA that the driver serves; 0: there is none
  int devices = 1;                  // how many there are
  int64_t blocks = INT64_MAX;       // that a grid has at most whose kernel goes on by itself
  cudaError_t found = cudaSuccess;  // what is answered to who asks for devices
  cudaError_t image = cudaSuccess;  // and to a launch
};
extern Settings settings;
struct Counts {
  uint64_t launches, switches, accesses, threads;
};
extern Counts counts;

extern std::recursive_mutex mutex;
extern cudaError_t sticky, last;
extern std::string report;                                     // of the first error since it was cleared
void fail(const std::string &text, const void *pc = nullptr);  // keeps the first; with the callers of the place that a kernel is at
[[noreturn]] void abandon();                                   // leaves the running kernel for good: its frames own nothing
void start();                                                  // once, at the first call

// ---- a launch ----

struct SharedObject {
  char *at;
  size_t bytes;
  const void *tag;
  const char *name;
};
struct Launch {
  void *closure = nullptr;
  std::string name, launched;  // launched: file and line, where they are known
  size_t closure_size = 0;
  void (*call)(void *) = nullptr;
  dim3 grid, block;
  size_t shared = 0, shared_limit = 0;
  int device = 0;
  int n = 0;                            // threads of a block
  std::vector<int> order, warp_order;   // of the lanes within each warp; of the warps
  size_t next = 0, end = 0, begun = 0;  // threads not begun yet in the warp whose turn it is
  std::vector<SharedObject> objects;
  char *shared_end = nullptr, *dynamic = nullptr;
  bool padded = false;  // what stands between members in the dynamic memory is known
  uint32_t block_serial = 0, block_linear = 0;
  int predicates = 0, arrivals = 0, barrier_result = 0;
  bool failed = false;
};
extern Launch *now;  // the one that runs
extern Thread host_thread;
extern Thread *threads;
extern uint32_t launch_serial;
extern int running_fiber;
void run(Launch &launch);
std::string who(const Thread *thread);
void multiply_fragments(Thread *warp);  // what all lanes of a warp have left (tensor_cores.cc)
void load_matrices(Thread *warp);
void begin_block_copies();

void drain_all();  // runs what waits in all streams
std::string work_that_waits();
void begin_program();  // the first call of CUDA: what is asked for its end (program.cc)

// ---- memory ----

using Before = std::map<int, uint64_t>;  // for each stream, by its number: how many of its pieces of work come before
struct Touch {
  uint64_t number;  // of the piece of work
  uint32_t serial;  // of its launch
};
struct Allocation {
  size_t bytes, pages;
  bool live;
  int device;
  const char *name;              // of a variable
  bool constant, managed;        // no kernel writes it; the host may touch it while no kernel runs
  int stream;                    // of cudaMallocAsync: others have to wait for this piece of its work
  uint64_t number;               // 0: there is none
  std::map<int, Touch> touched;  // by each stream: the last time
};
extern char *arena, *stacks, *shared_base;
extern std::map<char *, Allocation> allocations;  // by the first byte handed out
extern unsigned char *written, *shared_written;   // one for each byte; NULL in the fast build
extern char *near, *near_end;                     // the allocation that was accessed last,
extern bool near_constant;                        // and whether it is a __constant__ variable
extern bool device_open;
void open_device(bool open);
cudaError_t allocate(void **out, size_t bytes, int device, const char *name = nullptr, bool managed = false);
cudaError_t give_back(void *p);
bool inside_one(const void *p, size_t bytes);
bool is_pinned(const void *p);
bool is_managed(const void *p);
inline bool is_device(const void *p) { return (char *)p >= arena && (char *)p < arena + arena_size; }
std::string describe(const char *address, size_t bytes);
std::string where_is(const void *pc);
std::string callers_of(const void *pc);
std::string kernel_name(void *kernel);
void forget_names();  // a library that is unloaded gives its addresses back
char *reserve(size_t bytes, int rights);
bool is_of_module(const char *p);               // of the library that this is in, or of one that was loaded at run time
void add_module(const void *inside, bool add);  // which some address of it names
extern size_t in_use;

// ---- checks ----

void start_checks();
void begin_block_checks();
void begin_launch_checks();
// For functions of the emulator that read and write as the running thread. Shared memory: whether a copy is still to arrive there.
enum Written : unsigned char { UNWRITTEN,
                               WRITTEN,
                               UNDER_WAY };
void check_access(const void *a, size_t bytes, bool write, bool measured, const void *pc, const char *file, int line);
void forget_accesses(char *pages, size_t bytes);  // of memory that was freed
void set_written(char *shared, size_t bytes, Written state);

// ---- what comes after what (ordering.cc), in the checked build ----

struct Work {
  int stream = 0;
  uint64_t number = 0;
  Before order;
};
bool comes_after(const Before &order, int stream, uint64_t number);
void join(Before &into, const Before &other);
Before order_of_host();
void host_has_waited(const Before &order, bool idle);  // idle: no work waits in any stream
void begin_work(const Work &work);
void end_work();
bool works_in_order();                                     // whether a piece of work runs in a program with several streams
void name_work(const std::string &what);                   // of the launch that begins; copies count as launches
std::string race_of_streams(uint32_t serial, bool wrote);  // with what that launch did; empty: there is none
std::string not_there_yet(const Allocation &memory);       // for the work that runs, which does not wait for the stream that it is of; empty: it is
void note_touch(Allocation &memory);                       // by the work that runs
std::string still_in_use(const void *p);                   // by work that the one that runs, which frees it, does not wait for; empty: it is not
void note_pending(const void *pinned, size_t bytes, bool to_host, int stream, uint64_t number);
std::string touched_too_early(const char *a, size_t bytes, bool write);  // by the host; empty: it is not
void touch(char *a, size_t bytes, bool write, const std::string &what);  // by a copy or a memset

// ---- measuring, in the checked build ----

extern bool measuring;
void measure_access(size_t address, size_t bytes, bool write, bool atomic, bool shared, const void *pc);
void measure_product();  // a lane's part of one of tensor cores
void measure_block();    // has ended
void measure_launch();

}  // namespace cuda_emulator

#endif
