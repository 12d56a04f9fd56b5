/* What the Python module sees of the kernels: one set of tables per instruction set. */
#ifndef WHERRY_OPS_CPU_TABLES_H
#define WHERRY_OPS_CPU_TABLES_H

#include <wherry/abi.h>

typedef const wry_kernel_entry *(*wry_cpu_family)(size_t *count);

typedef struct wry_cpu_isa {
  const char *name;
  int (*supported)(void);
  /* whether it is faster here than what it extends */
  int (*gains)(void);
  /* ends with NULL */
  const wry_cpu_family *families;
  /* limits.cc */
  int64_t (*limit)(const char *what, int64_t rounds, int threads, void *memory, int64_t bytes);
} wry_cpu_isa;

extern const wry_cpu_isa wry_cpu_isas[]; /* best first; ends with a NULL name */

#if defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif
/* Whether the processor adds up products of bytes by fours (FEAT_DotProd). */
static inline int wry_cpu_has_dot_products(void) {
#if defined(__APPLE__)
  return 1;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) >> 20) & 1; /* HWCAP_ASIMDDP */
#else
  return 0;
#endif
}
#endif

/* Once per process, before the first kernel runs. */
void wry_cpu_start_runtime(void);

#endif
