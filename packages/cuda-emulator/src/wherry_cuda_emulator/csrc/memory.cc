// Device memory and its protection.
//
// The memory is an arena that is PROT_NONE except while a kernel or a copy runs, so that host code which follows a device
// pointer dies at once. Between allocations lie pages that stay inaccessible. A freed allocation is inaccessible too, and
// its addresses are used again only after several others.
#include "state.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <deque>

namespace cuda_emulator {

constexpr int GUARD_INSTALL = 102, GUARD_REMOVE = 103;  // of madvise, Linux 6.13
constexpr size_t quarantine = 8;                        // freed blocks of one size that wait

Settings settings;
Counts counts;
std::recursive_mutex mutex;
cudaError_t sticky = cudaSuccess, last = cudaSuccess;
std::string report;
char *arena, *stacks, *shared_base;
std::map<char *, Allocation> allocations;
unsigned char *written, *shared_written;
char *near, *near_end;
bool near_constant;
bool device_open;
struct Module {
  const char *inside;
  char *begin, *end;
};
static std::vector<Module> modules;
size_t in_use, arena_size = size_t(4) << 30, device_memory = size_t(1) << 30;

static char *arena_top;
static size_t managed_ones;                           // allocations that are
static std::map<size_t, std::deque<char *>> retired;  // first pages of freed allocations, by number of pages

void fail(const std::string &text, const void *pc) {
  if (report.empty()) report = text + (pc ? callers_of(pc) : "");
}

char *reserve(size_t bytes, int rights) {
  void *p = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    fprintf(stderr, "cuda emulator: no %zu bytes of addresses. The checked build takes some 200 GiB of them (not of memory): raise ulimit -v.\n", bytes);
    abort();
  }
  return static_cast<char *>(p);
}

// ---- words --------------------------------------------------------------------------------------

// Lines of the source at addresses of one library, the innermost first where functions were inlined.
static std::vector<std::string> lines_of(const std::vector<const void *> &pcs) {
  std::vector<std::string> found;
  for (const void *pc : pcs) {
    Dl_info info;
    if (!pc || !dladdr(pc, &info)) continue;
    char command[1200], line[1024];
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", info.dli_fname, size_t((char *)pc - (char *)info.dli_fbase) - 1);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
      line[strcspn(line, "\n ")] = 0;
      found.push_back(line);
    }
    if (f) pclose(f);
  }
  return found;
}
static bool is_own(const std::string &line) {  // of the emulator's headers, of the compiler's, or of no known file
  return line.empty() || line[0] == '?' || line.find("/cuda_emulator/") != std::string::npos || line.find("/wherry_cuda_emulator/csrc/") != std::string::npos || line.rfind("/usr/", 0) == 0 || line.find("/include/c++/") != std::string::npos;
}
static std::string short_name(const std::string &line) { return line.substr(line.rfind('/') + 1); }

std::string where_is(const void *pc) {
  Dl_info info;
  if (!pc || !dladdr(pc, &info)) return "?";
  const std::vector<std::string> lines = lines_of({pc});
  if (lines.empty()) return "an unknown line (addr2line is not installed)";
  for (const std::string &line : lines)  // what a kernel says in CUDA's words is the kernel's line
    if (!is_own(line)) return short_name(line);
  return short_name(lines[0]);
}

namespace {
struct Walk {
  const void *from;
  std::vector<const void *> frames;
  bool begun;
};
}  // namespace
static _Unwind_Reason_Code walk(_Unwind_Context *context, void *out) {
  Walk &w = *static_cast<Walk *>(out);
  const void *pc = reinterpret_cast<const void *>(_Unwind_GetIP(context));
  if (pc == w.from) w.begun = true;
  if (w.begun) w.frames.push_back(pc);
  return w.frames.size() < 32 ? _URC_NO_REASON : _URC_END_OF_STACK;
}
// Where the function that stands at `pc` was called, out to the kernel: the place itself is not repeated.
std::string callers_of(const void *pc) {
  if (self == &host_thread) return "";
  Walk w = {pc, {}, false};
  _Unwind_Backtrace(walk, &w);
  if (w.frames.empty()) w.frames = {pc};
  const std::string first = where_is(pc);
  std::string text, before = first;
  int shown = 0;
  for (const std::string &line : lines_of(w.frames)) {
    if (is_own(line) || short_name(line) == before || shown == 4) continue;
    before = short_name(line);
    if ((!shown && before == first) || before == now->launched) continue;
    text += (shown++ ? ", " : "; called from ") + before;
  }
  if (!now->launched.empty()) text += "; launched at " + now->launched;
  return text;
}

// Names of functions by their place in the library. Kernels of unnamed namespaces are not among those that dladdr knows, but in the
// library's own table, unless somebody has stripped it.
static std::map<size_t, std::string> symbols_of(const char *library) {
  std::map<size_t, std::string> found;
  FILE *file = fopen(library, "rb");
  if (!file) return found;
  const auto read = [file](void *to, size_t at, size_t bytes) { return fseek(file, long(at), SEEK_SET) == 0 && fread(to, 1, bytes, file) == bytes; };
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
  if (read(&header, 0, sizeof header) && !memcmp(header.e_ident, ELFMAG, SELFMAG)) sections.resize(header.e_shnum);
  if (!sections.empty() && !read(sections.data(), header.e_shoff, sections.size() * sizeof(Elf64_Shdr))) sections.clear();
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::vector<char> names(sections[section.sh_link].sh_size + 1);
    if (!read(symbols.data(), section.sh_offset, symbols.size() * sizeof(Elf64_Sym)) || !read(names.data(), sections[section.sh_link].sh_offset, names.size() - 1)) continue;
    for (const Elf64_Sym &s : symbols)
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_value && s.st_name < names.size()) found.emplace(s.st_value, names.data() + s.st_name);
  }
  fclose(file);
  return found;
}

static std::string name_of_function(void *kernel) {
  Dl_info info;
  if (!dladdr(kernel, &info)) return "a kernel";
  std::string symbol = info.dli_sname && info.dli_saddr == kernel ? info.dli_sname : "";
  if (symbol.empty() && info.dli_fname) {
    static const std::map<size_t, std::string> all = symbols_of(info.dli_fname);
    const auto found = all.find(size_t((char *)kernel - (char *)info.dli_fbase));
    if (found != all.end()) symbol = found->second;
  }
  if (symbol.empty()) return "a kernel";
  int status;
  char *plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = plain ? plain : symbol;
  free(plain);
  if (name.compare(0, 5, "void ") == 0) name.erase(0, 5);
  const std::string unnamed = "(anonymous namespace)::";
  for (size_t at; (at = name.find(unnamed)) != std::string::npos;) name.erase(at, unnamed.size());
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {  // up to the parameters
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

static std::map<void *, std::string> names;
void forget_names() { names.clear(); }
std::string kernel_name(void *kernel) {
  const auto known = names.find(kernel);
  return known != names.end() ? known->second : names[kernel] = name_of_function(kernel);
}

std::string describe(const char *a, size_t) {
  char text[200];
  auto it = allocations.upper_bound(const_cast<char *>(a));
  if (it != allocations.begin()) {
    auto before = std::prev(it);
    const Allocation &one = before->second;
    if (a < before->first + one.bytes && one.name) return std::string("in ") + one.name + ", at byte " + std::to_string(a - before->first);
    if (a < before->first + one.bytes) {
      snprintf(text, sizeof text, "%s of %zu bytes, at byte %zu", one.live ? "in an allocation" : "in a FREED allocation", one.bytes,
               size_t(a - before->first));
      return text;
    }
    const size_t past = size_t(a - (before->first + one.bytes));
    if (it == allocations.end() || past <= size_t(it->first - a)) {
      snprintf(text, sizeof text, "%zu bytes past the end of an allocation of %zu bytes%s", past, one.bytes, one.live ? "" : " (freed)");
      return one.name ? std::to_string(past) + " bytes past the end of " + one.name + ", which has " + std::to_string(one.bytes) : text;
    }
  }
  if (it == allocations.end()) return "in device memory that nobody allocated";
  snprintf(text, sizeof text, "%zu bytes before an allocation of %zu bytes", size_t(it->first - a), it->second.bytes);
  return text;
}

// ---- allocations --------------------------------------------------------------------------------

static char *pages_of(void *p) { return reinterpret_cast<char *>(uintptr_t(p) & ~(page - 1)); }
static bool by_guards() { return settings.guards && !settings.checked; }

cudaError_t allocate(void **out, size_t bytes, int device, const char *name, bool managed) {
  *out = nullptr;
  if (!bytes) return cudaSuccess;
  if (in_use + bytes > device_memory) return cudaErrorMemoryAllocation;
  const size_t pages = (bytes + page - 1) / page;
  char *base = arena_top + page;  // a guard page on either side
  std::deque<char *> &old = retired[pages];
  if (old.size() > quarantine) {
    base = old.front();
    old.pop_front();
    auto gone = allocations.lower_bound(base);
    if (gone != allocations.end() && gone->first < base + pages * page) allocations.erase(gone);
    if (by_guards()) madvise(base, pages * page, GUARD_REMOVE);
  } else {
    if (base + (pages + 1) * page > arena + arena_size) return cudaErrorMemoryAllocation;
    arena_top = base + pages * page;
    if (by_guards()) madvise(base - page, page, GUARD_INSTALL), madvise(arena_top, page, GUARD_INSTALL);
  }
  // Where nothing else is checked to the right, so that what follows the end (rounded to 16) faults. The checked build
  // sees every byte, and aligns as cudaMalloc does.
  char *at = settings.checked ? base : base + ((pages * page - bytes) & ~size_t(15));
  mprotect(base, pages * page, PROT_READ | PROT_WRITE);
  memset(base, 0xFF, std::min(pages * page, filled_most));
  if (!device_open && !managed) mprotect(base, pages * page, PROT_NONE);
  managed_ones += managed;
  allocations[at] = {bytes, pages, true, device, name, false, managed, 0, 0, {}};
  in_use += bytes;
  *out = at;
  return cudaSuccess;
}

cudaError_t give_back(void *p) {
  if (!p) return cudaSuccess;
  auto it = allocations.find((char *)p);
  if (it == allocations.end() || !it->second.live) {
    fail(it == allocations.end() ? "cudaFree of what cudaMalloc did not return" : "cudaFree of what is freed already");
    return cudaErrorInvalidValue;
  }
  near = near_end = nullptr;
  it->second.live = false;
  managed_ones -= it->second.managed;
  in_use -= it->second.bytes;
  char *base = pages_of(p);
  const size_t bytes = it->second.pages * page;
  if (by_guards()) madvise(base, bytes, GUARD_INSTALL);
  else madvise(base, bytes, MADV_DONTNEED), mprotect(base, bytes, PROT_NONE);
  retired[it->second.pages].push_back(base);
  if (written) madvise(written + (base - arena), bytes, MADV_DONTNEED);  // none of it, again
  forget_accesses(base, bytes);
  return cudaSuccess;
}

bool inside_one(const void *p, size_t bytes) {
  auto it = allocations.upper_bound((char *)p);
  return it != allocations.begin() && (--it)->second.live && (char *)p + bytes <= it->first + it->second.bytes;
}

bool is_managed(const void *p) {
  auto it = allocations.upper_bound((char *)p);
  return it != allocations.begin() && (--it)->second.live && it->second.managed;
}

void open_device(bool open) {
  if (device_open == open) return;
  device_open = open;
  const int rights = open ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (settings.guards || settings.checked) {  // one call; guards are in the page tables, or every access is checked
    if (arena_top > arena) mprotect(arena, size_t(arena_top - arena), rights);
    for (auto a = allocations.begin(); managed_ones && !open && a != allocations.end(); ++a)
      if (a->second.live && a->second.managed) mprotect(pages_of(a->first), a->second.pages * page, PROT_READ | PROT_WRITE);
    return;
  }
  for (auto &a : allocations)
    if (a.second.live && (open || !a.second.managed)) mprotect(pages_of(a.first), a.second.pages * page, rights);
}

// ---- faults -------------------------------------------------------------------------------------

static struct sigaction segv_before, bus_before;
static void on_fault(int signal, siginfo_t *info, void *context) {
  char *a = static_cast<char *>(info->si_addr);
  auto *machine = &static_cast<ucontext_t *>(context)->uc_mcontext;
  const char *pc = reinterpret_cast<char *>(machine->gregs[REG_RIP]) + 1;
  if (self != &host_thread) {
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)a);
    if (is_device(a)) fail(who(self) + " at " + where_is(pc) + " touches device memory " + describe(a, 1), pc);
    else if (a >= stacks && a < stacks + max_threads * (stack_size + page)) fail(who(self) + ": its stack overflows (64 KiB)");
    else if (a >= shared_base - page && a < shared_base + shared_size + page) fail(who(self) + " at " + where_is(pc) + " leaves shared memory");
    else fail(who(self) + " at " + where_is(pc) + " touches address " + address);
    machine->gregs[REG_RIP] = reinterpret_cast<greg_t>(&abandon);
    machine->gregs[REG_RSP] = (machine->gregs[REG_RSP] & ~15ll) - 8;
    return;
  }
  if (is_device(a))
    fprintf(stderr, "cuda emulator: host code at %s touches device memory, %s\n", where_is(pc).c_str(), describe(a, 1).c_str());
  sigaction(signal, signal == SIGSEGV ? &segv_before : &bus_before, nullptr);  // and again, for whoever was there before
}

static int find_module(dl_phdr_info *info, size_t, void *out) {
  Module &m = *static_cast<Module *>(out);
  char *low = nullptr, *high = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      char *p = reinterpret_cast<char *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      if (!low) low = p;
      high = p + info->dlpi_phdr[i].p_memsz;
    }
  if (m.inside < low || m.inside >= high) return 0;
  m.begin = low, m.end = high;
  return 1;
}
void add_module(const void *inside, bool add) {
  Module m = {static_cast<const char *>(inside), nullptr, nullptr};
  if (!dl_iterate_phdr(find_module, &m)) return;
  if (add) modules.push_back(m);
  else
    for (size_t i = 0; i < modules.size(); ++i)
      if (modules[i].begin == m.begin) modules.erase(modules.begin() + i--);
}
bool is_of_module(const char *p) {
  for (const Module &m : modules)
    if (p >= m.begin && p < m.end) return true;
  return false;
}

// What a machine without a GPU, or with one that does not fit, answers: "none", "no-device", "busy", "no-image", or the version of
// CUDA that an old driver serves, as 12040 for 12.4.
static void plant_driver(const char *driver) {
  if (!strcmp(driver, "none")) settings.driver = 0, settings.found = cudaErrorInsufficientDriver;
  else if (!strcmp(driver, "no-device")) settings.found = cudaErrorNoDevice;
  else if (!strcmp(driver, "busy")) settings.found = cudaErrorDevicesUnavailable;
  else if (!strcmp(driver, "no-image")) settings.image = cudaErrorNoKernelImageForDevice;
  else if ((settings.driver = atoi(driver)) < CUDART_VERSION) settings.found = cudaErrorInsufficientDriver;
}

void start() {
  static bool started;
  if (started) return;
  started = true;
  if (const char *gigabytes = getenv("CUDA_EMULATOR_MEMORY")) {
    device_memory = size_t(std::min(std::max(atoi(gigabytes), 1), 256)) << 30;
    arena_size = 4 * device_memory;
  }
  arena = arena_top = reserve(arena_size, PROT_NONE);
  stacks = reserve((stack_size + page) * max_threads, PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < max_threads; ++i) mprotect(stacks + i * (stack_size + page), page, PROT_NONE);
  threads = reinterpret_cast<Thread *>(reserve(sizeof(Thread) * max_threads, PROT_READ | PROT_WRITE));
  shared_base = reserve(shared_size + 2 * page, PROT_NONE) + page;
  mprotect(shared_base, shared_size, PROT_READ | PROT_WRITE);
  if (const char *order = getenv("CUDA_EMULATOR_ORDER")) {
    settings.order = !strcmp(order, "reverse") ? REVERSE : !strcmp(order, "forward") ? FORWARD
                                                                                     : SEEDED;
    if (settings.order == SEEDED) settings.seed = strtoull(order, nullptr, 10);
  }
  if (const char *driver = getenv("CUDA_EMULATOR_DRIVER")) plant_driver(driver);
  if (const char *devices = getenv("CUDA_EMULATOR_DEVICES")) settings.devices = std::min(std::max(atoi(devices), 1), 8);
  if (const char *blocks = getenv("CUDA_EMULATOR_BLOCKS")) settings.blocks = std::max(atoi(blocks), 1);
  if (const char *streams = getenv("CUDA_EMULATOR_STREAMS")) settings.lazy = strcmp(streams, "eager") != 0;
  void *probe = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  settings.guards = madvise(probe, page, GUARD_INSTALL) == 0;
  munmap(probe, page);
  add_module(reinterpret_cast<const void *>(&on_fault), true);
  start_checks();
  begin_program();
  stack_t alternative = {};
  alternative.ss_size = 256 << 10;
  alternative.ss_sp = reserve(alternative.ss_size, PROT_READ | PROT_WRITE);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &segv_before);
  sigaction(SIGBUS, &action, &bus_before);
}

}  // namespace cuda_emulator
