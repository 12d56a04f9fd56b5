/* Tracebacks of compiled modules. Include it before anything that Cython writes.
 *
 * Cython adds a traceback entry for each compiled function that an error passes. They name lines of
 * files that no user has, so they appear only for those who ask, with FLAGS_call_stack_level=2.
 */
#ifndef WHERRY_FRAMES_H
#define WHERRY_FRAMES_H

#include <Python.h>

static int wry_show_frames = 0;

static int wry_traceback_here(PyFrameObject *frame) { return wry_show_frames ? PyTraceBack_Here(frame) : 0; }
#define PyTraceBack_Here wry_traceback_here

#endif
