// CustomContext: what a kernel for a plug-in device is told about its call.
#pragma once

#include "paddle/phi/api/ext/kernels.h"
#include "paddle/phi/core/device_context.h"

namespace phi {

namespace detail {

// Memory of the device for the time of one call.
class LaunchAllocator : public Allocator {
 public:
  LaunchAllocator() = default;
  void begin(wext_launch *launch, const Place &place) {
    launch_ = launch;
    place_ = place;
  }
  AllocationPtr Allocate(size_t bytes) override {
    void *data = launch_->allocate(launch_, bytes);
    PADDLE_ENFORCE_NOT_NULL(data, errors::ResourceExhausted("%s has no %d bytes left for a kernel", place_.DebugString(), bytes));
    return AllocationPtr(new Allocation(data, bytes, place_), AllocationDeleter);
  }

 private:
  wext_launch *launch_ = nullptr;
  Place place_;
};

}  // namespace detail

class CustomContext : public DeviceContext {
 public:
  explicit CustomContext(const CustomPlace &place) : place_(place) {}
  CustomContext(const CustomPlace &place, wext_launch *launch) : place_(place), launch_(launch), generator_(launch->seed, launch->offset) {
    allocator_.begin(launch, place_);
    SetAllocator(&allocator_);
    SetGenerator(&generator_);
  }
  CustomContext(const CustomContext &) = delete;
  CustomContext &operator=(const CustomContext &) = delete;
  ~CustomContext() override = default;

  const Place &GetPlace() const override { return place_; }
  void *stream() const { return launch_ ? launch_->stream : nullptr; }
  void Wait() const override {
    if (launch_ && launch_->wait(launch_) != WRY_OK) PADDLE_THROW(errors::External("%s", static_cast<const char *>(launch_->error)));
  }

 private:
  Place place_;
  wext_launch *launch_ = nullptr;
  detail::LaunchAllocator allocator_;
  Generator generator_;
};

}  // namespace phi
