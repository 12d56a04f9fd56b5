// State of the process that all instruction sets share. See parallel.h.
#include "common.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

extern "C" {
int wry_cpu_threads_started = 0;
int wry_cpu_single_threaded = 0;
void wry_cpu_start_runtime(void);
}

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
static void after_fork_in_child() { wry_cpu_single_threaded |= wry_cpu_threads_started; }

void wry_cpu_start_runtime(void) { pthread_atfork(nullptr, nullptr, after_fork_in_child); }
#else
void wry_cpu_start_runtime(void) {}
#endif
