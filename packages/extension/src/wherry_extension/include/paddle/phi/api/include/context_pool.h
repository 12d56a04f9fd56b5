// The contexts of devices, and what gives memory, for custom operators.
#pragma once

#include "paddle/phi/backends/context_pool.h"

namespace paddle {
namespace experimental {

class DeviceContextPool {
 public:
  DeviceContextPool(const DeviceContextPool &) = delete;
  DeviceContextPool &operator=(const DeviceContextPool &) = delete;
  static DeviceContextPool &Instance() {
    static DeviceContextPool found;
    return found;
  }
  const phi::DeviceContext *Get(const Place &place) { return GetMutable(place); }
  phi::DeviceContext *GetMutable(const Place &place) { return phi::DeviceContextPool::Instance().Get(place); }
  template <AllocationType T>
  const typename phi::DefaultDeviceContextType<T>::TYPE *Get(const Place &place) {
    return static_cast<const typename phi::DefaultDeviceContextType<T>::TYPE *>(Get(place));
  }
  static void SyncDeviceContext(const Place &place) { Instance().Get(place)->Wait(); }

 private:
  DeviceContextPool() = default;
};

}  // namespace experimental

inline phi::Allocator *GetAllocator(const phi::Place &place) {
  return const_cast<phi::Allocator *>(&experimental::DeviceContextPool::Instance().Get(place)->GetAllocator());
}

}  // namespace paddle
