// Where a kernel runs.
#pragma once

#include <cstdint>

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

}  // namespace experimental
}  // namespace paddle

namespace phi {
using Backend = paddle::experimental::Backend;
}
