/* What the Python module sees of the kernels: one set of tables per instruction set. */
#ifndef WHERRY_OPS_CPU_TABLES_H
#define WHERRY_OPS_CPU_TABLES_H

#include <wherry/abi.h>

typedef const wry_kernel_entry *(*wry_cpu_family)(size_t *count);

typedef struct wry_cpu_isa {
  const char *name;
  int (*supported)(void);
  const wry_cpu_family *families; /* ends with NULL */
} wry_cpu_isa;

extern const wry_cpu_isa wry_cpu_isas[]; /* best first; ends with a NULL name */

/* Once per process, before the first kernel runs. */
void wry_cpu_start_runtime(void);

#endif
