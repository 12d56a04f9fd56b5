/* The 64-bit Mersenne Twister and the distributions that Paddle draws from on a CPU.
 *
 * Generator: Nishimura & Matsumoto (2004), mt19937-64. Seeding: std::seed_seq of one 32-bit word, as
 * the C++ standard defines it. Distributions, found by comparing draws with Paddle 2.6.2:
 *   uniform   one word a value, rounded to the dtype before it is scaled
 *   normal    the polar method (Marsaglia & Bray, 1964); two values a pair, the second one first used
 *             last, and the spare of an odd count is lost
 *   integers  Lemire's product with rejection (2019)
 *   shuffle   Fisher & Yates, two positions from one integer
 * Sequential by nature: a stream has one order whatever the number of threads.
 */
#include "mersenne.h"

#include <math.h>

#define N WRY_MERSENNE_WORDS
#define M 156

/* Sums and products must not be fused: each is rounded where Paddle rounds it. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

void wry_mersenne_seed(wry_mersenne *m, uint32_t seed) {
  /* seed_seq::generate for 2 N words of 32 bits from one word of entropy. */
  enum { n = 2 * N,
         t = 11,
         p = (n - t) / 2,
         q = p + t,
         s = 1 };
  uint32_t b[n];
  for (int k = 0; k < n; ++k) b[k] = 0x8b8b8b8bu;
  for (int k = 0; k < n; ++k) {
    uint32_t *at = &b[k], *ahead = &b[(k + p) % n], *far = &b[(k + q) % n];
    uint32_t x = *at ^ *ahead ^ b[(k + n - 1) % n];
    uint32_t r1 = 1664525u * (x ^ (x >> 27));
    uint32_t r2 = r1 + (k == 0 ? (uint32_t)s : k <= s ? (uint32_t)k + seed
                                                      : (uint32_t)k);
    *ahead += r1;
    *far += r2;
    *at = r2;
  }
  for (int k = 0; k < n; ++k) {
    uint32_t *at = &b[k], *ahead = &b[(k + p) % n], *far = &b[(k + q) % n];
    uint32_t x = *at + *ahead + b[(k + n - 1) % n];
    uint32_t r3 = 1566083941u * (x ^ (x >> 27));
    uint32_t r4 = r3 - (uint32_t)k;
    *ahead ^= r3;
    *far ^= r4;
    *at = r4;
  }
  uint64_t any = 0;
  for (int i = 0; i < N; ++i) {
    m->word[i] = b[2 * i] | (uint64_t)b[2 * i + 1] << 32;
    any |= i ? m->word[i] : m->word[0] >> 31;
  }
  if (!any) m->word[0] = (uint64_t)1 << 63;
  m->at = N;
}

void wry_mersenne_seed_directly(wry_mersenne *m, uint64_t seed) {
  m->word[0] = seed;
  for (int i = 1; i < N; ++i)
    m->word[i] = 6364136223846793005u * (m->word[i - 1] ^ (m->word[i - 1] >> 62)) + (uint64_t)i;
  m->at = N;
}

static uint64_t twisted(uint64_t high, uint64_t low) {
  uint64_t x = (high & 0xFFFFFFFF80000000u) | (low & 0x7FFFFFFFu);
  return (x >> 1) ^ (-(x & 1) & 0xB5026F5AA96619E9u);
}

static void make_words(wry_mersenne *m) {
  uint64_t *w = m->word;
  for (int i = 0; i < N - M; ++i) w[i] = w[i + M] ^ twisted(w[i], w[i + 1]);
  for (int i = N - M; i < N - 1; ++i) w[i] = w[i + M - N] ^ twisted(w[i], w[i + 1]);
  w[N - 1] = w[M - 1] ^ twisted(w[N - 1], w[0]);
  m->at = 0;
}

static inline uint64_t tempered(uint64_t x) {
  x ^= (x >> 29) & 0x5555555555555555u;
  x ^= (x << 17) & 0x71D67FFFEDA60000u;
  x ^= (x << 37) & 0xFFF7EEE000000000u;
  return x ^ (x >> 43);
}

static inline uint64_t next(wry_mersenne *m) {
  if (m->at >= N) make_words(m);
  return tempered(m->word[m->at++]);
}

/* [0, 1): a word whose rounding reaches 1 gives the number below it.
 *
 * Half of the words are negative as signed ones, which machines convert faster: each is halved first, and the bit that falls off kept at the
 * end, where it decides what it decided before as long as the number is longer than the mantissa by two bits. */
static inline float float_of(uint64_t x) {
  float u = x >> 26 ? (float)(int64_t)(x >> 1 | (x & 1)) * 0x1p-63f : (float)x * 0x1p-64f;
  return u < 1 ? u : 0x1.fffffep-1f;
}

static inline double double_of(uint64_t x) {
  double u = x >> 55 ? (double)(int64_t)(x >> 1 | (x & 1)) * 0x1p-63 : (double)x * 0x1p-64;
  return u < 1 ? u : 0x1.fffffffffffffp-1;
}

static inline float unit_float(wry_mersenne *m) { return float_of(next(m)); }
static inline double unit_double(wry_mersenne *m) { return double_of(next(m)); }

#define UNIFORM(name, T, unit_of)                               \
  void name(wry_mersenne *m, T *out, int64_t n, T min, T max) { \
    const T range = max - min;                                  \
    while (n > 0) {                                             \
      if (m->at >= N) make_words(m);                            \
      const uint64_t *w = m->word + m->at;                      \
      const int count = n < N - m->at ? (int)n : N - m->at;     \
      for (int i = 0; i < count; ++i) {                         \
        const T scaled = unit_of(tempered(w[i])) * range;       \
        out[i] = scaled + min;                                  \
      }                                                         \
      m->at += count;                                           \
      out += count;                                             \
      n -= count;                                               \
    }                                                           \
  }
UNIFORM(wry_mersenne_uniform_float, float, float_of)
UNIFORM(wry_mersenne_uniform_double, double, double_of)

#define POLAR(name, T, unit, root, logarithm)                          \
  void name(wry_mersenne *m, T *out, int64_t n, T mean, T deviation) { \
    for (int64_t i = 0; i < n; i += 2) {                               \
      T x, y, square;                                                  \
      do {                                                             \
        x = 2 * unit(m) - 1;                                           \
        y = 2 * unit(m) - 1;                                           \
        square = x * x + y * y;                                        \
      } while (square > 1 || square == 0);                             \
      T stretch = root(-2 * logarithm(square) / square);               \
      out[i] = y * stretch * deviation + mean;                         \
      if (i + 1 < n) out[i + 1] = x * stretch * deviation + mean;      \
    }                                                                  \
  }
POLAR(wry_mersenne_normal_float, float, unit_float, sqrtf, logf)
POLAR(wry_mersenne_normal_double, double, unit_double, sqrt, log)

/* [0, range), range > 0. */
static uint64_t below(wry_mersenne *m, uint64_t range) {
  unsigned __int128 product = (unsigned __int128)next(m) * range;
  if ((uint64_t)product < range) {
    uint64_t least = -range % range;
    while ((uint64_t)product < least) product = (unsigned __int128)next(m) * range;
  }
  return (uint64_t)(product >> 64);
}

void wry_mersenne_integers(wry_mersenne *m, int64_t *out, int64_t n, int64_t low, int64_t high) {
  uint64_t range = (uint64_t)high - (uint64_t)low;
  for (int64_t i = 0; i < n; ++i) out[i] = (int64_t)((uint64_t)low + below(m, range));
}

static void swap(int64_t *a, int64_t *b) {
  int64_t kept = *a;
  *a = *b;
  *b = kept;
}

void wry_mersenne_permutation(wry_mersenne *m, int64_t *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = i;
  if (n < 2) return;
  if ((uint64_t)n > 0xFFFFFFFFu) { /* two positions would not fit into one word */
    for (int64_t i = 1; i < n; ++i) swap(out + i, out + below(m, (uint64_t)i + 1));
    return;
  }
  int64_t i = 1;
  if (n % 2 == 0) {
    swap(out + 1, out + below(m, 2));
    i = 2;
  }
  for (; i < n; i += 2) {
    uint64_t first = (uint64_t)i + 1, second = first + 1, both = below(m, first * second);
    swap(out + i, out + both / second);
    swap(out + i + 1, out + both % second);
  }
}
