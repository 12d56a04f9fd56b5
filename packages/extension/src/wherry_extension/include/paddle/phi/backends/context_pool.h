// DeviceContextPool: the context of each device. Custom operators reach that of the host; those of other devices belong to a running kernel.
#pragma once

#include "paddle/phi/api/ext/exception.h"
#include "paddle/phi/backends/cpu/cpu_context.h"

namespace phi {

template <AllocationType T>
struct DefaultDeviceContextType {};
template <>
struct DefaultDeviceContextType<AllocationType::CPU> {
  using TYPE = CPUContext;
};

class DeviceContextPool {
 public:
  DeviceContextPool(const DeviceContextPool &) = delete;
  DeviceContextPool &operator=(const DeviceContextPool &) = delete;
  static DeviceContextPool &Instance() {
    static DeviceContextPool found;
    return found;
  }
  static bool IsInitialized() { return true; }
  DeviceContext *Get(const Place &place) {
    if (place.GetType() != AllocationType::CPU)
      PD_THROW("DeviceContextPool: there is no context of ", place.DebugString(), " in an operator, expected the cpu");
    return &host_;
  }
  size_t Size() const { return 1; }

 private:
  DeviceContextPool() = default;
  CPUContext host_;
};

}  // namespace phi
