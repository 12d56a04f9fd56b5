// Who waits for whom: what one stream does to memory that another one touches, and the host to pinned memory.
//
// Each piece of work knows, from the calls of the host, what it comes after: earlier work of its stream, of streams whose events its
// stream waits for, and what the host had waited for when it was enqueued. Words of memory know who touched them last. Two
// pieces of work that touch a word, one of them writing, and neither comes after the other: a race, in whichever order they ran here.
#include "state.h"

#include <algorithm>
#include <unordered_map>

namespace cuda_emulator {

#ifdef CUDA_EMULATOR_CHECKED

namespace {
struct Ran {
  int stream;
  uint64_t number;
  std::string what;
};
struct Pending {  // a copy from or to pinned memory
  const char *begin, *end;
  bool to_host;
  int stream;
  uint64_t number;
};
}  // namespace
static std::unordered_map<uint32_t, Ran> ran;  // by serial, of what the host has not waited for
static std::vector<Pending> pending;
static Before host_order;
static Work current;
static bool known;  // whether `current` is a piece of work of a program with several streams

bool comes_after(const Before &order, int stream, uint64_t number) {
  const auto it = order.find(stream);
  return it != order.end() && it->second >= number;
}
void join(Before &into, const Before &other) {
  for (const auto &one : other) into[one.first] = std::max(into[one.first], one.second);
}
Before order_of_host() { return host_order; }

void host_has_waited(const Before &order, bool idle) {
  join(host_order, order);
  pending.erase(std::remove_if(pending.begin(), pending.end(), [](const Pending &p) { return comes_after(host_order, p.stream, p.number); }), pending.end());
  if (!idle) return;  // work that waits in a stream may have been enqueued before, and come after nothing of this
  for (auto it = ran.begin(); it != ran.end();)
    if (comes_after(host_order, it->second.stream, it->second.number)) it = ran.erase(it);
    else ++it;
}

void begin_work(const Work &work) { current = work, known = true; }
void end_work() { known = false; }
bool works_in_order() { return known; }
void name_work(const std::string &what) {
  if (known) ran[launch_serial] = {current.stream, current.number, what};
}

std::string race_of_streams(uint32_t serial, bool wrote) {
  if (!known || ran.empty()) return "";
  const auto other = ran.find(serial);
  if (other == ran.end() || other->second.stream == current.stream || comes_after(current.order, other->second.stream, other->second.number)) return "";
  return "what " + other->second.what + (wrote ? " wrote" : " read") + " on another stream: neither waits for the other (cudaStreamWaitEvent, or a wait of the host)";
}

std::string not_there_yet(const Allocation &memory) {
  if (!known || !memory.number || comes_after(current.order, memory.stream, memory.number)) return "";
  return "of memory that cudaMallocAsync gives on another stream, for which nothing waits (cudaStreamWaitEvent, or a wait of the host)";
}

void note_touch(Allocation &memory) {
  if (known) memory.touched[current.stream] = {current.number, launch_serial};
}
std::string still_in_use(const void *p) {
  const auto it = allocations.find(static_cast<char *>(const_cast<void *>(p)));
  if (!known || it == allocations.end() || !it->second.live) return "";
  for (const auto &[stream, touch] : it->second.touched) {
    const auto user = ran.find(touch.serial);
    if (stream == current.stream || comes_after(current.order, stream, touch.number) || user == ran.end()) continue;
    return "an allocation of " + std::to_string(it->second.bytes) + " bytes, which " + user->second.what +
           " uses on another stream: it does not wait for that (cudaStreamWaitEvent, or a wait of the host)";
  }
  return "";
}

void note_pending(const void *pinned, size_t bytes, bool to_host, int stream, uint64_t number) {
  pending.push_back({static_cast<const char *>(pinned), static_cast<const char *>(pinned) + bytes, to_host, stream, number});
}
std::string touched_too_early(const char *a, size_t bytes, bool write) {
  for (const Pending &p : pending)
    if (a < p.end && a + bytes > p.begin && (p.to_host || write))
      return p.to_host ? std::string(write ? "writes" : "reads") + " pinned memory that a cudaMemcpyAsync fills, before anything has waited for that"
                       : "writes pinned memory that a cudaMemcpyAsync still reads: nothing has waited for that";
  return "";
}

#else

bool comes_after(const Before &, int, uint64_t) { return true; }
void join(Before &, const Before &) {}
Before order_of_host() { return {}; }
void host_has_waited(const Before &, bool) {}
void begin_work(const Work &) {}
void end_work() {}
bool works_in_order() { return false; }
void name_work(const std::string &) {}
void note_touch(Allocation &) {}
std::string still_in_use(const void *) { return ""; }
void note_pending(const void *, size_t, bool, int, uint64_t) {}

#endif

}  // namespace cuda_emulator
