// TensorBase: what all kinds of tensors have.
#pragma once

#include "paddle/phi/common/layout.h"
#include "paddle/phi/common/place.h"
#include "paddle/phi/core/allocator.h"
#include "paddle/phi/core/ddim.h"

namespace phi {

class TensorBase {
 public:
  virtual ~TensorBase() = default;
  virtual int64_t numel() const = 0;
  virtual const DDim &dims() const = 0;
  virtual DataType dtype() const = 0;
  virtual DataLayout layout() const = 0;
  virtual const Place &place() const = 0;
  virtual bool valid() const = 0;
  virtual bool initialized() const = 0;
  virtual void *AllocateFrom(Allocator *allocator, DataType dtype, size_t requested_size = 0) = 0;
};

}  // namespace phi
