// Several neighbouring values that one access moves: 16 bytes are what a thread moves best.
#ifndef WHERRY_CUDA_PACKS_H
#define WHERRY_CUDA_PACKS_H

#include "common.h"

namespace wherry {
namespace cuda {

// One access each. A host compiler has no uint4 that it moves as a whole, and must be told what they stand for.
#ifdef __CUDACC__
template <int Bytes>
using word_t = std::conditional_t<Bytes == 16, uint4, std::conditional_t<Bytes == 8, uint2, std::conditional_t<Bytes == 4, uint32_t, std::conditional_t<Bytes == 2, uint16_t, uint8_t>>>>;
#else
template <int Bytes>
struct Word;
#define WRY_WORD(bytes, T, ...)                               \
  template <>                                                 \
  struct Word<bytes> {                                        \
    typedef T type __attribute__((may_alias, ##__VA_ARGS__)); \
  };
WRY_WORD(1, uint8_t)
WRY_WORD(2, uint16_t)
WRY_WORD(4, uint32_t)
WRY_WORD(8, uint64_t)
WRY_WORD(16, uint32_t, vector_size(16))
#undef WRY_WORD
template <int Bytes>
using word_t = typename Word<Bytes>::type;
#endif

// How many values of the widest of these types 16 bytes hold.
template <typename... T>
constexpr int pack_size() {
  size_t widest = 1;
  ((widest = sizeof(T) > widest ? sizeof(T) : widest), ...);
  return int(16 / widest);
}

// V values as they lie in memory, whose first is at a multiple of their size (of 16 bytes, where they are longer).
template <int V, typename T>
WRY_GPU void read_words(const T *from, T *to) {
  constexpr int bytes = V * int(sizeof(T)), size = bytes < 16 ? bytes : 16;
#pragma unroll
  for (int i = 0; i < bytes / size; ++i) {
    const word_t<size> word = reinterpret_cast<const word_t<size> *>(from)[i];
    memcpy(reinterpret_cast<char *>(to) + i * size, &word, size);
  }
}
template <int V, typename T>
WRY_GPU void write_words(T *to, const T *from) {
  constexpr int bytes = V * int(sizeof(T)), size = bytes < 16 ? bytes : 16;
#pragma unroll
  for (int i = 0; i < bytes / size; ++i) {
    word_t<size> word;
    memcpy(&word, reinterpret_cast<const char *>(from) + i * size, size);
    reinterpret_cast<word_t<size> *>(to)[i] = word;
  }
}
// The same to and from what arithmetic computes in.
template <int V, typename T, typename A>
WRY_GPU void read_pack(const T *from, A *to) {
  if constexpr (V == 1) {
    *to = A(load(from));
  } else {
    T raw[V];
    read_words<V>(from, raw);
#pragma unroll
    for (int k = 0; k < V; ++k) to[k] = A(load(raw + k));
  }
}
template <int V, typename T, typename A>
WRY_GPU void write_pack(T *to, const A *from) {
  if constexpr (V == 1) {
    *to = narrow<T>(*from);
  } else {
    T raw[V];
#pragma unroll
    for (int k = 0; k < V; ++k) raw[k] = narrow<T>(from[k]);
    write_words<V>(to, raw);
  }
}
#ifndef WRY_FUNCTIONS_ONLY
inline bool is_aligned(const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
// Whether all tensors of a call begin at multiples of 16 bytes.
inline bool are_aligned(const wry_call *call) {
  bool yes = true;
  for (int i = 0; i < call->n_inputs; ++i) yes = yes && (!input(call, i) || is_aligned(input(call, i)->data));
  for (int i = 0; i < call->n_outputs; ++i) yes = yes && is_aligned(output(call, i)->data);
  return yes;
}
#endif

}  // namespace cuda
}  // namespace wherry

#endif
