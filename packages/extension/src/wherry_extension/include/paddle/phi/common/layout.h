// DataLayout: in which order the axes of images lie.
#pragma once

#include <string>

#include "paddle/phi/common/data_type.h"
#include "paddle/phi/core/errors.h"

namespace phi {

inline std::string DataLayoutToString(DataLayout layout) {
  static const char *const names[] = {"Undefined(AnyLayout)", "NHWC", "NCHW", "NCDHW", "NDHWC", "ONEDNN", "SPARSE_COO", "SPARSE_CSR", "PSTRING_UNION"};
  return static_cast<int>(layout) < static_cast<int>(DataLayout::NUM_DATA_LAYOUTS) ? names[static_cast<int>(layout)] : "unknown";
}

inline DataLayout StringToDataLayout(const std::string &text) {
  for (int i = 1; i < static_cast<int>(DataLayout::NUM_DATA_LAYOUTS); ++i)
    if (DataLayoutToString(static_cast<DataLayout>(i)) == text) return static_cast<DataLayout>(i);
  return DataLayout::ANY;
}

}  // namespace phi
