// DenseTensor: contiguous memory with a shape and a dtype.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "paddle/phi/core/lod_utils.h"
#include "paddle/phi/core/tensor_base.h"
#include "paddle/phi/core/tensor_meta.h"

namespace phi {

class DenseTensor : public TensorBase {
 public:
  DenseTensor() = default;
  DenseTensor(Allocator *allocator, const DenseTensorMeta &meta) : meta_(meta) { AllocateFrom(allocator, meta.dtype); }
  DenseTensor(Allocator *allocator, DenseTensorMeta &&meta) : meta_(std::move(meta)) { AllocateFrom(allocator, meta_.dtype); }
  DenseTensor(const std::shared_ptr<Allocation> &holder, const DenseTensorMeta &meta) : meta_(meta), holder_(holder) {}
  DenseTensor(const DenseTensor &) = default;
  DenseTensor(DenseTensor &&) = default;
  DenseTensor &operator=(const DenseTensor &) = default;
  DenseTensor &operator=(DenseTensor &&) = default;
  ~DenseTensor() override = default;

  static const char *name() { return "DenseTensor"; }

  int64_t numel() const override { return meta_.is_scalar ? 1 : product(meta_.dims); }
  const DDim &dims() const noexcept override { return meta_.dims; }
  const LoD &lod() const noexcept { return meta_.lod; }
  DataType dtype() const noexcept override { return meta_.dtype; }
  DataLayout layout() const noexcept override { return meta_.layout; }
  const Place &place() const override {
    PADDLE_ENFORCE_NOT_NULL(holder_, errors::PreconditionNotMet("a DenseTensor has no memory yet: call dev_ctx.Alloc first"));
    return holder_->place();
  }
  const DenseTensorMeta &meta() const noexcept { return meta_; }
  void set_meta(DenseTensorMeta &&meta) { meta_ = std::move(meta); }
  void set_meta(const DenseTensorMeta &meta) { meta_ = meta; }
  void set_type(DataType dtype) { meta_.dtype = dtype; }
  void set_layout(DataLayout layout) { meta_.layout = layout; }
  bool valid() const noexcept override { return meta_.valid(); }
  bool initialized() const override { return holder_ != nullptr && holder_->ptr() != nullptr; }
  bool IsInitialized() const { return initialized(); }

  void *AllocateFrom(Allocator *allocator, DataType dtype, size_t requested_size = 0) override {
    PADDLE_ENFORCE_NOT_NULL(allocator, errors::InvalidArgument("a DenseTensor needs an allocator to get memory"));
    if (dtype != DataType::UNDEFINED) meta_.dtype = dtype;
    const size_t bytes = std::max(static_cast<size_t>(std::max<int64_t>(numel(), 0)) * SizeOf(meta_.dtype), requested_size);
    // An output's own memory, unless the kernel wants more of it.
    if (lent_ && bytes <= lent_->size() && (!holder_ || holder_ == lent_))
      holder_ = lent_;
    else if (!holder_ || holder_->size() < bytes + meta_.offset || !holder_->ptr()) {
      meta_.offset = 0;
      holder_ = std::shared_ptr<Allocation>(allocator->Allocate(bytes));
    }
    return data();
  }
  bool IsSharedWith(const DenseTensor &other) const { return holder_ && holder_ == other.holder_; }
  void ShareDataWith(const DenseTensor &other) {
    holder_ = other.holder_;
    meta_.is_scalar = other.meta_.is_scalar;
    meta_.dims = other.meta_.dims;
    meta_.dtype = other.meta_.dtype;
    meta_.layout = other.meta_.layout;
    meta_.offset = other.meta_.offset;
  }
  void ShareBufferWith(const DenseTensor &other) { holder_ = other.holder_; }
  DenseTensor &Resize(const DDim &dims) {
    meta_.dims = dims;
    return *this;
  }
  void ResizeAndAllocate(const DDim &dims) {
    PADDLE_ENFORCE_EQ(product(dims) * static_cast<int64_t>(SizeOf(meta_.dtype)) <= static_cast<int64_t>(capacity()), true,
                      errors::Unimplemented("ResizeAndAllocate beyond the memory that is there: Resize, then call dev_ctx.Alloc"));
    Resize(dims);
  }
  void ResetLoD(const LoD &lod) { meta_.lod = lod; }
  size_t capacity() const { return holder_ ? holder_->size() - meta_.offset : lent_ ? lent_->size()
                                                                                    : 0; }
  const std::shared_ptr<Allocation> &Holder() const { return holder_; }
  size_t memory_size() const { return holder_ ? holder_->size() : 0; }
  void clear() {
    holder_.reset();
    meta_.offset = 0;
  }

  template <typename T>
  const T *data() const {
    check_type(CppTypeToDataType<T>::Type());
    return static_cast<const T *>(data());
  }
  template <typename T>
  T *data() {
    check_type(CppTypeToDataType<T>::Type());
    return static_cast<T *>(data());
  }
  const void *data() const { return const_cast<DenseTensor *>(this)->data(); }
  void *data() {
    PADDLE_ENFORCE_NOT_NULL(holder_, errors::PreconditionNotMet("a DenseTensor has no memory yet: call dev_ctx.Alloc first"));
    return static_cast<char *>(holder_->ptr()) + meta_.offset;
  }

  // Memory that AllocateFrom gives when it suffices: that of an output of the call.
  void lend(std::shared_ptr<Allocation> memory) { lent_ = std::move(memory); }
  const std::shared_ptr<Allocation> &lent() const { return lent_; }

 private:
  void check_type(DataType asked) const {
    PADDLE_ENFORCE_EQ(asked == meta_.dtype, true,
                      errors::InvalidArgument("the values of a tensor are read as another type than they are. Got %s, expected %s",
                                              DataTypeToString(asked), DataTypeToString(meta_.dtype)));
  }

  DenseTensorMeta meta_;
  std::shared_ptr<Allocation> holder_;
  std::shared_ptr<Allocation> lent_;
};

}  // namespace phi
