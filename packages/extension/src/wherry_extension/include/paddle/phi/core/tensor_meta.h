// DenseTensorMeta: what is known of a tensor without its values.
#pragma once

#include "paddle/phi/common/data_type.h"
#include "paddle/phi/common/layout.h"
#include "paddle/phi/core/ddim.h"
#include "paddle/phi/core/lod_utils.h"

namespace phi {

struct DenseTensorMeta {
  DenseTensorMeta() = default;
  DenseTensorMeta(DataType type, const DDim &sizes) : dims(sizes), dtype(type) {}
  DenseTensorMeta(DataType type, const DDim &sizes, DataLayout order, size_t from = 0) : dims(sizes), dtype(type), layout(order), offset(from) {}
  DenseTensorMeta(DataType type, const DDim &sizes, DataLayout order, const LoD &levels, size_t from = 0)
      : dims(sizes), dtype(type), layout(order), lod(levels), offset(from) {}

  bool valid() const noexcept { return dtype != DataType::UNDEFINED && layout != DataLayout::UNDEFINED && (is_scalar || product(dims) >= 0); }

  bool is_scalar = false;
  bool use_gpudnn = true;
  DDim dims;
  DataType dtype = DataType::UNDEFINED;
  DataLayout layout = DataLayout::NCHW;
  LoD lod;
  size_t offset = 0;
};

inline bool operator==(const DenseTensorMeta &a, const DenseTensorMeta &b) {
  return a.is_scalar == b.is_scalar && a.dims == b.dims && a.dtype == b.dtype && a.layout == b.layout && a.lod == b.lod && a.offset == b.offset;
}

}  // namespace phi
