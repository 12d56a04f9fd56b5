// mma.sync, ldmatrix and cp.async, by the tables of fragments in the PTX ISA ("Warp-level matrix instructions").
//
// Lanes leave their registers (pointers to them) and wait, as for a shuffle; the last one to come computes for all. Copies
// arrive as late as they may, when their thread waits for them: until then nobody has written what they write.
#include "state.h"

#include <string.h>

namespace cuda_emulator {

namespace {

struct Fragments {
  float *d;
  const uint32_t *a, *b;
};
struct Rows {
  uint32_t *r;
  const void *row;
};
struct Copy {
  char *to;
  unsigned char bytes[16];
  uint32_t group;
  const char *file;
  int line;
};
std::vector<Copy> copies[max_threads];
uint32_t groups[max_threads];

float value_of(uint16_t bits, bool is_half) {
  if (!is_half) return from_bits<float>(uint64_t(bits) << 16);
  const uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7FFF;
  if (rest >= 0x7C00) return from_bits<float>(sign | 0x7F800000u | (rest & 0x3FF) << 13);
  return from_bits<float>(sign | to_bits(from_bits<float>(rest << 13) * 0x1p112f));  // subnormal numbers come out right too
}

[[noreturn]] void refuse(const std::string &what, const char *file, int line) {
  const char *slash = strrchr(file, '/');
  fail(who(self) + ": " + what + ", at " + (slash ? slash + 1 : file) + ":" + std::to_string(line));
  abandon();
}
bool is_shared(const void *p, size_t bytes) { return (char *)p >= shared_base && (char *)p + bytes <= shared_base + shared_size; }

}  // namespace

void multiply_fragments(Thread *warp) {
  float a[16][16], b[16][8];
  double sums[16][8] = {};
  const bool is_half = warp->arg != 0;
  for (int lane = 0; lane < 32; ++lane) {
    const auto *f = reinterpret_cast<const Fragments *>(warp[lane].value);
    const int g = lane >> 2, t = lane & 3;
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 2; ++i) a[g + (r & 1) * 8][2 * t + i + (r >> 1) * 8] = value_of(uint16_t(f->a[r] >> 16 * i), is_half);
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < 2; ++i) b[2 * t + i + r * 8][g] = value_of(uint16_t(f->b[r] >> 16 * i), is_half);
  }
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 16; ++k)
      for (int j = 0; j < 8; ++j) sums[i][j] += double(a[i][k]) * double(b[k][j]);
  for (int lane = 0; lane < 32; ++lane) {
    const auto *f = reinterpret_cast<const Fragments *>(warp[lane].value);
    const int g = lane >> 2, t = lane & 3;
    for (int i = 0; i < 4; ++i) f->d[i] = float(f->d[i] + sums[g + (i >> 1) * 8][2 * t + (i & 1)]);
  }
}

void load_matrices(Thread *warp) {
  const int count = warp->arg;
  const bool turned = warp->width != 0;
  for (int lane = 0; lane < 32; ++lane) {
    const auto *own = reinterpret_cast<const Rows *>(warp[lane].value);
    const int g = lane >> 2, t = lane & 3;
    for (int m = 0; m < count; ++m) {
      uint16_t pair[2];
      for (int i = 0; i < 2; ++i) {
        const int row = turned ? 2 * t + i : g, column = turned ? g : 2 * t + i;
        memcpy(pair + i, static_cast<const char *>(reinterpret_cast<const Rows *>(warp[8 * m + row].value)->row) + 2 * column, 2);
      }
      own->r[m] = pair[0] | uint32_t(pair[1]) << 16;
    }
  }
}

void mma(float *d, const uint32_t *a, const uint32_t *b, bool is_half, const char *file, int line) {
  Fragments own = {d, a, b};
  measure_product();
  warp_function(PRODUCT, ~0u, reinterpret_cast<uint64_t>(&own), is_half, 32, file, line);
}

void ldmatrix(uint32_t *r, const void *row, int count, bool turned, const char *file, int line) {
  if (self->lane < 8 * count) {
    if (uintptr_t(row) % 16) refuse("ldmatrix of a row whose address is not a multiple of 16", file, line);
    if (!is_shared(row, 16)) refuse("ldmatrix of a row that is not in shared memory", file, line);
    check_access(row, 16, false, true, __builtin_return_address(0), file, line);
  }
  Rows own = {r, row};
  warp_function(MATRICES, ~0u, reinterpret_cast<uint64_t>(&own), count, turned, file, line);
}

void copy_async(void *to, const void *from, int bytes, const char *file, int line) {
  const void *pc = __builtin_return_address(0);
  if (bytes < 0 || bytes > 16) refuse("cp.async of " + std::to_string(bytes) + " bytes; from 0 to 16 can be copied", file, line);
  if (uintptr_t(to) % 16 || uintptr_t(from) % 16) refuse("cp.async between addresses that are not multiples of 16", file, line);
  if (!is_shared(to, 16)) refuse("cp.async to what is not in shared memory", file, line);
  if (is_shared(from, 1)) refuse("cp.async from shared memory; it copies from global memory", file, line);
  if (bytes) check_access(from, size_t(bytes), false, true, pc, file, line);
  check_access(to, 16, true, true, pc, file, line);
  Copy copy = {static_cast<char *>(to), {}, groups[self->linear], file, line};
  if (bytes) memcpy(copy.bytes, from, size_t(bytes));
  memset(to, 0xFF, 16);
  set_written(copy.to, 16, UNDER_WAY);
  copies[self->linear].push_back(copy);
}
void commit_copies() { ++groups[self->linear]; }
void wait_copies(int pending) {
  std::vector<Copy> &own = copies[self->linear];
  const uint32_t now_begun = groups[self->linear];
  size_t kept = 0;
  for (Copy &copy : own) {
    if (copy.group == now_begun || now_begun - copy.group <= uint32_t(pending)) {  // not committed, or one of the last groups
      own[kept++] = copy;
      continue;
    }
    set_written(copy.to, 16, WRITTEN);
    check_access(copy.to, 16, true, false, nullptr, copy.file, copy.line);  // was measured when it began
    memcpy(copy.to, copy.bytes, 16);
  }
  own.resize(kept);
}
void begin_block_copies() {
  for (int t = 0; t < now->n; ++t) copies[t].clear(), groups[t] = 0;
}

}  // namespace cuda_emulator
