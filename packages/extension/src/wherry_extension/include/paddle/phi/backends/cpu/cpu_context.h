// CPUContext: gives a kernel memory of the host.
#pragma once

#include "paddle/phi/core/device_context.h"

namespace phi {

class CPUContext : public DeviceContext {
 public:
  CPUContext() : CPUContext(CPUPlace()) {}
  explicit CPUContext(const Place &place) : place_(place) { SetAllocator(&detail::host_allocator()); }
  const Place &GetPlace() const override { return place_; }

 private:
  Place place_;
};

}  // namespace phi
