// Class labels: integers of any type, of which one may mark examples that count nothing.
#ifndef WHERRY_OPS_CPU_LABELS_H
#define WHERRY_OPS_CPU_LABELS_H

#include "common.h"

#include <wherry/kernels/labels.h>

namespace WRY_NAMESPACE {

// Before anything is computed, so that the first bad label is named whatever the threads do.
static int check_labels(const wry_call *call, const char *op, Labels label, int64_t n, int64_t classes, int64_t ignored) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = label[i];
    if (WRY_UNLIKELY((c < 0 || c >= classes) && c != ignored))
      return fail(call, WRY_OUT_OF_RANGE,
                  "%s: label %lld (element %lld) is out of range. Got %lld, expected each label in [0, %lld) or "
                  "ignore_index=%lld. Check the number of classes, or mark the element as ignored.",
                  op, (long long)c, (long long)i, (long long)c, (long long)classes, (long long)ignored);
  }
  return WRY_OK;
}

}  // namespace WRY_NAMESPACE

#endif
