// Where a kernel runs.
#pragma once

#include <cstdint>
#include <ostream>

namespace paddle {
namespace experimental {

enum class Backend : uint32_t {  // with Paddle's numbers; then those of 2.3
  UNDEFINED = 0,
  CPU,
  ONEDNN,
  GPU,
  GPUDNN,
  XPU,
  IPU,
  KPS,
  CUSTOM,
  NUM_BACKENDS,
  NPU,
  MLU,
  ALL_BACKEND = UNDEFINED,
};

inline const char *BackendToString(Backend backend) {
  static const char *const names[] = {"Undefined", "CPU", "ONEDNN", "GPU", "GPUDNN", "XPU", "IPU", "KPS", "CUSTOM", "", "NPU", "MLU"};
  return names[static_cast<uint32_t>(backend)];
}
inline std::ostream &operator<<(std::ostream &out, Backend backend) { return out << BackendToString(backend); }

}  // namespace experimental
}  // namespace paddle

namespace phi {
using Backend = paddle::experimental::Backend;
}
