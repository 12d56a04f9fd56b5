// The kernels that a library has: what the macros of kernels add to, and what the framework reads.
#pragma once

#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "paddle/phi/api/ext/kernels.h"
#include "paddle/phi/core/enforce.h"

#if defined(_WIN32)
#define WHERRY_OF_KERNELS
#else
#define WHERRY_OF_KERNELS __attribute__((visibility("hidden")))
#endif

namespace phi {
namespace detail {

inline int failed(wext_launch *launch, int status, const char *text) {
  std::strncpy(launch->error, text, WRY_ERROR_SIZE - 1);
  launch->error[WRY_ERROR_SIZE - 1] = 0;
  return status;
}

inline int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::INVALID_ARGUMENT: return WRY_INVALID;
    case ErrorCode::OUT_OF_RANGE: return WRY_OUT_OF_RANGE;
    case ErrorCode::RESOURCE_EXHAUSTED: return WRY_OUT_OF_MEMORY;
    case ErrorCode::UNIMPLEMENTED: return WRY_UNSUPPORTED;
    default: return WRY_INTERNAL;
  }
}

// Runs a kernel; what it throws becomes a status and a text.
template <typename F>
int guarded(wext_launch *launch, F kernel) {
  try {
    return kernel();
  } catch (const enforce::EnforceNotMet &error) {
    return failed(launch, status_of(error.code()), error.what());
  } catch (const std::bad_alloc &) {
    return failed(launch, WRY_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception &error) {
    return failed(launch, WRY_INTERNAL, error.what());
  } catch (...) {
    return failed(launch, WRY_INTERNAL, "the kernel threw something that is not a std::exception");
  }
}

struct Registered {
  std::string name, device;
  std::vector<int32_t> params;
  wext_kernel entry;
};

WHERRY_OF_KERNELS inline std::deque<Registered> &registered() {
  static std::deque<Registered> found;
  return found;
}

inline const wext_kernels *describe_kernels() {
  static std::vector<const wext_kernel *> rows;
  static wext_kernels table;
  rows.clear();
  for (const Registered &row : registered()) rows.push_back(&row.entry);
  table = wext_kernels{WEXT_KERNELS_VERSION, static_cast<int32_t>(rows.size()), rows.data()};
  return &table;
}

}  // namespace detail
}  // namespace phi

// Every source file of a library has it; the linker keeps one.
#if defined(_MSC_VER)
extern "C" __declspec(dllexport) inline const wext_kernels *wherry_plugin_kernels() { return phi::detail::describe_kernels(); }
#else
extern "C" __attribute__((weak, used, visibility("default"))) const wext_kernels *wherry_plugin_kernels() {
  return phi::detail::describe_kernels();
}
#endif
