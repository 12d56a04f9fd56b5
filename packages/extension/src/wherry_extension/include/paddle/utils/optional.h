// A value or nothing, as operators and kernels take tensors that may be left out.
#pragma once

#include <type_traits>
#include <utility>

namespace paddle {

struct none_t {};
constexpr none_t none{};

// A tensor or nothing. One of a reference keeps a tensor, which is one as well.
template <typename T>
class optional {
 public:
  using value_type = typename std::decay<T>::type;
  optional() = default;
  optional(none_t) {}                                                     // NOLINT
  optional(const value_type &value) : has_(true), value_(value) {}        // NOLINT
  optional(value_type &&value) : has_(true), value_(std::move(value)) {}  // NOLINT
  explicit operator bool() const { return has_; }
  bool operator!() const { return !has_; }
  bool is_initialized() const { return has_; }
  const value_type &get() const { return value_; }
  value_type &get() { return value_; }
  const value_type *get_ptr() const { return has_ ? &value_ : nullptr; }
  value_type *get_ptr() { return has_ ? &value_ : nullptr; }
  const value_type &operator*() const { return value_; }
  value_type &operator*() { return value_; }
  const value_type *operator->() const { return &value_; }
  value_type *operator->() { return &value_; }
  void reset() {
    has_ = false;
    value_ = value_type();
  }

 private:
  bool has_ = false;
  value_type value_{};
};

template <typename T>
optional<typename std::decay<T>::type> make_optional(T &&value) {
  return optional<typename std::decay<T>::type>(std::forward<T>(value));
}

}  // namespace paddle
