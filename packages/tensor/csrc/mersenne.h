/* Random numbers as Paddle 2.6.2 draws them on a CPU: see mersenne.c. */
#ifndef WRY_MERSENNE_H
#define WRY_MERSENNE_H

#include <stdint.h>

#define WRY_MERSENNE_WORDS 312

typedef struct wry_mersenne {
  uint64_t word[WRY_MERSENNE_WORDS];
  int32_t at; /* the next word to give; WRY_MERSENNE_WORDS: make new ones first */
} wry_mersenne;

void wry_mersenne_seed(wry_mersenne *m, uint32_t seed);          /* as paddle.seed does */
void wry_mersenne_seed_directly(wry_mersenne *m, uint64_t seed); /* as an op with a seed of its own does */

/* Each writes n values. Integers lie in [low, high). */
void wry_mersenne_uniform_float(wry_mersenne *m, float *out, int64_t n, float min, float max);
void wry_mersenne_uniform_double(wry_mersenne *m, double *out, int64_t n, double min, double max);
void wry_mersenne_normal_float(wry_mersenne *m, float *out, int64_t n, float mean, float deviation);
void wry_mersenne_normal_double(wry_mersenne *m, double *out, int64_t n, double mean, double deviation);
void wry_mersenne_integers(wry_mersenne *m, int64_t *out, int64_t n, int64_t low, int64_t high);
void wry_mersenne_permutation(wry_mersenne *m, int64_t *out, int64_t n);

#endif
