// DeviceContext: gives a kernel memory, of the device and of the host.
#pragma once

#include <cstdlib>

#include "paddle/phi/core/dense_tensor.h"
#include "paddle/phi/core/generator.h"

namespace phi {

namespace detail {

class HostAllocator : public Allocator {
 public:
  AllocationPtr Allocate(size_t bytes) override {
    void *data = std::malloc(bytes ? bytes : 1);
    PADDLE_ENFORCE_NOT_NULL(data, errors::ResourceExhausted("the host has no %d bytes left", bytes));
    return AllocationPtr(new Allocation(data, bytes, [](Allocation *a) { std::free(a->ptr()); }, CPUPlace()), AllocationDeleter);
  }
};

inline HostAllocator &host_allocator() {
  static HostAllocator found;
  return found;
}

}  // namespace detail

class DeviceContext {
 public:
  DeviceContext() = default;
  DeviceContext(const DeviceContext &) = default;
  DeviceContext(DeviceContext &&) = default;
  DeviceContext &operator=(const DeviceContext &) = default;
  DeviceContext &operator=(DeviceContext &&) = default;
  virtual ~DeviceContext() = default;

  void SetAllocator(const Allocator *allocator) { device_ = allocator; }
  void SetHostAllocator(const Allocator *allocator) { host_ = allocator; }
  void SetZeroAllocator(const Allocator *allocator) { zero_ = allocator; }
  const Allocator &GetAllocator() const { return *asked(device_); }
  const Allocator &GetHostAllocator() const { return *asked(host_); }
  const Allocator &GetZeroAllocator() const { return *asked(zero_ ? zero_ : device_); }

  void *Alloc(TensorBase *tensor, DataType dtype, size_t requested_size = 0) const {
    PADDLE_ENFORCE_NOT_NULL(tensor, errors::InvalidArgument("Alloc: got no tensor"));
    return tensor->AllocateFrom(asked(device_), dtype, requested_size);
  }
  template <typename T>
  T *Alloc(TensorBase *tensor, size_t requested_size = 0) const {
    return static_cast<T *>(Alloc(tensor, CppTypeToDataType<T>::Type(), requested_size));
  }
  void *HostAlloc(TensorBase *tensor, DataType dtype, size_t requested_size = 0) const {
    PADDLE_ENFORCE_NOT_NULL(tensor, errors::InvalidArgument("HostAlloc: got no tensor"));
    return tensor->AllocateFrom(asked(host_), dtype, requested_size);
  }
  template <typename T>
  T *HostAlloc(TensorBase *tensor, size_t requested_size = 0) const {
    return static_cast<T *>(HostAlloc(tensor, CppTypeToDataType<T>::Type(), requested_size));
  }

  virtual const Place &GetPlace() const = 0;
  virtual void Wait() const {}

  void SetGenerator(Generator *generator) { generator_ = generator; }
  Generator *GetGenerator() const { return generator_; }
  void SetHostGenerator(Generator *generator) { host_generator_ = generator; }
  Generator *GetHostGenerator() const { return host_generator_ ? host_generator_ : generator_; }

 private:
  static Allocator *asked(const Allocator *allocator) {
    PADDLE_ENFORCE_NOT_NULL(allocator, errors::PreconditionNotMet("this context has no allocator: it is not that of a running kernel"));
    return const_cast<Allocator *>(allocator);
  }

  const Allocator *device_ = nullptr;
  const Allocator *host_ = &detail::host_allocator();
  const Allocator *zero_ = nullptr;
  Generator *generator_ = nullptr;
  Generator *host_generator_ = nullptr;
};

}  // namespace phi
