// The functors of kernel primitives. Those that reduce have `initial()`, with which a reduction begins.
#pragma once

#include <cmath>
#include <limits>

#include "paddle/phi/kernels/primitive/helper_primitives.h"

namespace paddle {
namespace operators {
namespace kernel_primitives {
namespace details {

// Integers are computed with as double, types of 16 bits as float.
template <typename T>
using Floating = std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<std::is_integral_v<T>, double, float>>;

// The largest and the least number, infinite where the library does not know the type (those of 16 bits).
template <typename T, bool Known = std::numeric_limits<T>::is_specialized>
struct Bounds {
  static constexpr T kLargest = std::numeric_limits<T>::max(), kLeast = std::numeric_limits<T>::lowest();
};

template <typename T>
struct Bounds<T, false> {
  static constexpr float kLargest = std::numeric_limits<float>::infinity(), kLeast = -std::numeric_limits<float>::infinity();
};

// a / b, cut to an integer for integers; processors stop at a / 0 and at the least number / -1.
template <typename T>
HOSTDEVICE inline T Quotient(const T &a, const T &b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (b == 0) DivisionByZero();
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    }
  }
  return static_cast<T>(a / b);
}

}  // namespace details

// e to the power of x
template <typename Tx, typename Ty = Tx>
struct ExpFunctor {
  HOSTDEVICE inline ExpFunctor() {}
  HOSTDEVICE explicit inline ExpFunctor(int) {}
  HOSTDEVICE inline Ty operator()(const Tx &x) const {
    return static_cast<Ty>(std::exp(static_cast<details::Floating<Tx>>(x)));
  }
};

// x as Ty
template <typename Tx, typename Ty = Tx>
struct IdentityFunctor {
  HOSTDEVICE inline IdentityFunctor() {}
  HOSTDEVICE explicit inline IdentityFunctor(int) {}
  HOSTDEVICE inline Ty operator()(const Tx &x) const { return static_cast<Ty>(x); }
};

// x / num
template <typename Tx, typename Ty = Tx>
struct DivideFunctor {
  HOSTDEVICE explicit inline DivideFunctor(int num) : divisor_(static_cast<details::Floating<Tx>>(num)) {}
  HOSTDEVICE inline Ty operator()(const Tx &x) const {
    return static_cast<Ty>(static_cast<details::Floating<Tx>>(x) / divisor_);
  }

 private:
  details::Floating<Tx> divisor_;
};

// x * x
template <typename Tx, typename Ty = Tx>
struct SquareFunctor {
  HOSTDEVICE inline SquareFunctor() {}
  HOSTDEVICE explicit inline SquareFunctor(int) {}
  HOSTDEVICE inline Ty operator()(const Tx &x) const { return static_cast<Ty>(x) * static_cast<Ty>(x); }
};

template <typename T>
struct MinFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(details::Bounds<T>::kLargest); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <typename T>
struct MaxFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(details::Bounds<T>::kLeast); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};

template <typename T>
struct AddFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(0.0f); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return static_cast<T>(a + b); }
};

template <typename T>
struct MulFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(1.0f); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return static_cast<T>(a * b); }
};

template <typename T>
struct LogicalOrFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(false); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return static_cast<T>(a || b); }
};

template <typename T>
struct LogicalAndFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(true); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return static_cast<T>(a && b); }
};

template <typename T>
struct SubFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(0.0f); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return static_cast<T>(a - b); }
};

template <typename T>
struct DivFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(1.0f); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const { return details::Quotient(a, b); }
};

// The integer part of a / b.
template <typename T>
struct FloorDivFunctor {
  HOSTDEVICE inline T initial() const { return static_cast<T>(1.0f); }
  HOSTDEVICE inline T operator()(const T &a, const T &b) const {
    if constexpr (std::is_integral_v<T>) {
      return details::Quotient(a, b);
    } else {
      const details::Floating<T> quotient = static_cast<details::Floating<T>>(a) / static_cast<details::Floating<T>>(b);
      return static_cast<T>(std::trunc(quotient));
    }
  }
};

}  // namespace kernel_primitives
}  // namespace operators
}  // namespace paddle
