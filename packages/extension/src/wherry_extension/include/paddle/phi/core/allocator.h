// Allocation: memory and where it is. Allocator: what gives it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "paddle/phi/common/place.h"

namespace phi {

class Allocation {
 public:
  using DeleterFnPtr = void (*)(Allocation *);

  Allocation() = default;
  Allocation(void *data, size_t size, const Place &place) : ptr_(data), size_(size), place_(place) {}
  Allocation(void *data, size_t size, DeleterFnPtr deleter, const Place &place) : ptr_(data), size_(size), place_(place), deleter_(deleter) {}
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;
  virtual ~Allocation() {
    if (deleter_) deleter_(this);
  }

  void *ptr() const noexcept { return ptr_; }
  size_t size() const noexcept { return size_; }
  const Place &place() const noexcept { return place_; }
  DeleterFnPtr deleter() const noexcept { return deleter_; }
  void move_to(void *data) { ptr_ = data; }  // the same memory, which the framework has brought elsewhere
  void *operator->() const { return ptr_; }
  operator bool() const { return ptr_ != nullptr; }  // NOLINT

 private:
  void *ptr_ = nullptr;
  size_t size_ = 0;
  Place place_;
  DeleterFnPtr deleter_ = nullptr;
};

class Allocator {
 public:
  using DeleterType = std::function<void(Allocation *)>;
  using AllocationPtr = std::unique_ptr<Allocation, DeleterType>;
  static void AllocationDeleter(Allocation *allocation) { delete allocation; }

  virtual ~Allocator() = default;
  virtual AllocationPtr Allocate(size_t bytes) = 0;
  virtual bool IsAllocThreadSafe() const { return false; }
};

}  // namespace phi
