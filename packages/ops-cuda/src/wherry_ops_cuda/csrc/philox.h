// Philox4x32-10: random words as a function of (seed, counter), the same as on the cpu.
//
// Source: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Word i of a draw is word i % 4 of
// block offset + i / 4; wherry_tensor/ops/random.py says which words an element of each dtype uses.
#ifndef WHERRY_CUDA_PHILOX_H
#define WHERRY_CUDA_PHILOX_H

#include "common.h"

namespace wherry {
namespace cuda {

struct Draw {
  uint64_t seed, offset;
};
inline Draw draw_of(const wry_call *call) { return {call->context->rng_seed, call->context->rng_offset}; }

struct PhiloxBlock {
  uint32_t a, b, c, d;
};
// `attempt` counts the blocks of a draw that takes as many as it needs.
WRY_GPU PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t attempt = 0) {
  uint32_t a = uint32_t(counter), b = uint32_t(counter >> 32), c = uint32_t(attempt), d = uint32_t(attempt >> 32), key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t(0xD2511F53u) * a, q = uint64_t(0xCD9E8D57u) * c;
    a = uint32_t(q >> 32) ^ b ^ key0;
    b = uint32_t(q);
    c = uint32_t(p >> 32) ^ d ^ key1;
    d = uint32_t(p);
    key0 += 0x9E3779B9u, key1 += 0xBB67AE85u;
  }
  return {a, b, c, d};
}
// One word of a draw, and two neighbours of which the first has an even number.
WRY_GPU uint32_t word_of(const Draw &draw, int64_t i) {
  const PhiloxBlock p = philox(draw.seed, draw.offset + uint64_t(i / 4));
  switch (i % 4) {
    case 0: return p.a;
    case 1: return p.b;
    case 2: return p.c;
    default: return p.d;
  }
}
struct Pair {
  uint32_t lower, upper;
};
WRY_GPU Pair pair_of(const Draw &draw, int64_t i) {
  const PhiloxBlock p = philox(draw.seed, draw.offset + uint64_t(i / 4));
  return i % 4 == 0 ? Pair{p.a, p.b} : Pair{p.c, p.d};
}

// Uniform in [0, 1), every multiple of 2^-24 (float) or 2^-53 (double) alike.
WRY_GPU float unit_float(uint32_t word) { return float(word >> 8) * 0x1p-24f; }
WRY_GPU double unit_double(Pair p) { return double((uint64_t(p.upper) << 32 | p.lower) >> 11) * 0x1p-53; }

}  // namespace cuda
}  // namespace wherry

#endif
