// What a kernel asks of memory, counted: no time, but what time is mostly made of.
//
// A request is what the lanes of a warp do at one place of the program, each for the n-th time; the lanes run one after another
// here, so they are put together when the block has ended. Global memory moves in sectors of 32 bytes. Shared memory has 32
// banks of four bytes: words of one bank that differ take a pass each; of 8 and 16 bytes, half and a quarter of a warp go at once.
#include "state.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace cuda_emulator {

bool measuring;

#ifdef CUDA_EMULATOR_CHECKED

enum Kind { LOAD,
            STORE,
            ATOMIC,
            SHARED };
struct Access {
  int warp, kind;
  const void *pc;
  uint32_t time;  // how often the lane has been here
  int lane;
  uint32_t bytes;
  size_t address;
};
struct Traffic {
  uint64_t requests, sectors, least, bytes;
};
struct Totals {
  uint64_t launches = 0, blocks = 0, threads = 0, block_size = 0, shared_bytes = 0;
  Traffic traffic[3] = {};
  // Sectors, each counted once for a block or for a launch: of loads; of stores and atomics.
  uint64_t block_sectors[2] = {}, launch_sectors[2] = {};
  uint64_t shared_requests = 0, shared_passes = 0, shared_least = 0;
  uint64_t products = 0;
};
static std::map<std::string, Totals> totals;
static std::vector<Access> accesses;
static std::unordered_map<uint64_t, uint32_t> times;
static std::unordered_set<size_t> launch_touched[2];
static std::string text;

void measure_access(size_t address, size_t bytes, bool write, bool atomic, bool shared, const void *pc) {
  const uint64_t key = (uint64_t(size_t(pc)) << 12 ^ uint64_t(self->linear)) * 4 + (atomic ? 2 : write);
  accesses.push_back({self->warp, shared ? SHARED : atomic ? ATOMIC
                                                : write    ? STORE
                                                           : LOAD,
                      pc, times[key]++, self->lane, uint32_t(bytes), address});
}

static uint64_t products;  // parts of lanes, in the block that runs
void measure_product() { products += measuring; }

static uint64_t sectors_of(const Access *first, const Access *last, uint64_t *least) {
  std::vector<std::pair<size_t, size_t>> spans;
  for (const Access *a = first; a != last; ++a) spans.push_back({a->address, a->address + a->bytes});
  std::sort(spans.begin(), spans.end());
  uint64_t sectors = 0, bytes = 0;
  size_t next_sector = 0, end = 0;
  for (const auto &s : spans) {
    const size_t begin = std::max(s.first >> 5, next_sector), past = ((s.second - 1) >> 5) + 1;
    if (past > begin) sectors += past - begin, next_sector = past;
    const size_t from = std::max(s.first, end);
    if (s.second > from) bytes += s.second - from, end = s.second;
  }
  *least = (bytes + 31) / 32;
  return sectors;
}

static uint64_t passes_of(const Access *first, const Access *last, uint64_t *least) {
  const int together = first->bytes <= 4 ? 32 : first->bytes <= 8 ? 16
                                                                  : 8;
  uint64_t passes = 0;
  for (int lane = 0; lane < 32; lane += together) {
    std::vector<size_t> words[32];
    bool any = false;
    for (const Access *a = first; a != last; ++a) {
      if (a->lane < lane || a->lane >= lane + together) continue;
      any = true;
      for (size_t w = a->address >> 2; w <= (a->address + a->bytes - 1) >> 2; ++w) words[w & 31].push_back(w);
    }
    size_t most = 0;
    for (auto &bank : words) {
      std::sort(bank.begin(), bank.end());
      most = std::max(most, size_t(std::unique(bank.begin(), bank.end()) - bank.begin()));
    }
    passes += most, *least += any;
  }
  return passes;
}

void measure_block() {
  if (!measuring) return;
  Totals &t = totals[now->name];
  ++t.blocks;
  t.threads += now->n;
  t.block_size = std::max(t.block_size, uint64_t(now->n));
  uint64_t shared_bytes = 0;
  for (const SharedObject &o : now->objects) shared_bytes += o.bytes;
  t.shared_bytes = std::max(t.shared_bytes, shared_bytes);
  std::stable_sort(accesses.begin(), accesses.end(), [](const Access &a, const Access &b) {
    return std::tie(a.warp, a.pc, a.time, a.kind) < std::tie(b.warp, b.pc, b.time, b.kind);
  });
  std::unordered_set<size_t> touched[2];
  for (size_t i = 0, end; i < accesses.size(); i = end) {
    const Access &a = accesses[i];
    for (end = i + 1; end < accesses.size(); ++end) {
      const Access &b = accesses[end];
      if (b.warp != a.warp || b.pc != a.pc || b.time != a.time || b.kind != a.kind) break;
    }
    const Access *first = &accesses[i], *last = first + (end - i);
    if (a.kind == SHARED) {
      ++t.shared_requests;
      t.shared_passes += passes_of(first, last, &t.shared_least);
      continue;
    }
    Traffic &to = t.traffic[a.kind];
    uint64_t least;
    to.sectors += sectors_of(first, last, &least);
    to.least += least;
    ++to.requests;
    for (const Access *x = first; x != last; ++x) {
      to.bytes += x->bytes;
      for (size_t s = x->address >> 5; s <= (x->address + x->bytes - 1) >> 5; ++s) touched[a.kind != LOAD].insert(s);
    }
  }
  for (int k = 0; k < 2; ++k) {
    t.block_sectors[k] += touched[k].size();
    for (size_t sector : touched[k]) t.launch_sectors[k] += launch_touched[k].insert(sector).second;
  }
  t.products += products / 32;
  products = 0;
  accesses.clear();
  times.clear();
}

void measure_launch() {
  if (!measuring) return;
  ++totals[now->name].launches;
  for (auto &sectors : launch_touched) sectors.clear();
}

#else

void measure_access(size_t, size_t, bool, bool, bool, const void *) {}
void measure_product() {}
void measure_block() {}
void measure_launch() {}

#endif

}  // namespace cuda_emulator

using namespace cuda_emulator;

// 1: forgets what was counted and counts from now on. 0: ends that.
CUDA_EMULATOR_API void cuda_emulator_measure(int on) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  cudaDeviceSynchronize();
#ifdef CUDA_EMULATOR_CHECKED
  if (on) totals.clear();
#endif
  measuring = on != 0;
}

// A line for each kernel that has run: its name and numbers, between tabs.
CUDA_EMULATOR_API const char *cuda_emulator_measured() {
#ifdef CUDA_EMULATOR_CHECKED
  std::lock_guard<std::recursive_mutex> lock(mutex);
  text.clear();
  for (const auto &one : totals) {
    const Totals &t = one.second;
    text += one.first;
    const auto add = [](uint64_t n) { text += "\t" + std::to_string(n); };
    add(t.launches), add(t.blocks), add(t.threads), add(t.block_size), add(t.shared_bytes);
    for (const Traffic &x : t.traffic) add(x.requests), add(x.sectors), add(x.least), add(x.bytes);
    add(t.block_sectors[0]), add(t.block_sectors[1]), add(t.launch_sectors[0]), add(t.launch_sectors[1]);
    add(t.shared_requests), add(t.shared_passes), add(t.shared_least), add(t.products);
    text += "\n";
  }
  return text.c_str();
#else
  return "";
#endif
}
