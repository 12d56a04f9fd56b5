// PADDLE_ENFORCE_*: conditions that have to hold, with what to say where they do not.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "paddle/phi/core/errors.h"

namespace phi {
namespace enforce {

struct EnforceNotMet : public std::exception {
  EnforceNotMet(const ErrorSummary &error, const char *file, int line, const std::string &hint = "") : code_(error.code()) {
    std::ostringstream text;
    text << error.to_string();
    if (!hint.empty()) text << "\n  [Hint: " << hint << "]";
    text << " (at " << file << ":" << line << ")";
    text_ = text.str();
  }
  EnforceNotMet(const std::string &text, const char *file, int line) : EnforceNotMet(ErrorSummary(text), file, line) {}
  const char *what() const noexcept override { return text_.c_str(); }
  ErrorCode code() const { return code_; }
  const std::string &error_str() const { return text_; }

 private:
  ErrorCode code_;
  std::string text_;
};

namespace detail {

template <typename T, typename = void>
struct Shown {
  static void show(std::ostream &out, const T &) { out << "(a value)"; }
};
template <typename T>
struct Shown<T, decltype(void(std::declval<std::ostream &>() << std::declval<const T &>()))> {
  static void show(std::ostream &out, const T &value) { out << std::boolalpha << value; }
};

template <typename A, typename B>
std::string compared(const char *a_text, const char *sign, const char *b_text, const A &a, const char *inverse, const B &b) {
  std::ostringstream out;
  out << "Expected " << a_text << " " << sign << " " << b_text << ", but received " << a_text << ":";
  Shown<A>::show(out, a);
  out << " " << inverse << " " << b_text << ":";
  Shown<B>::show(out, b);
  out << ".";
  return out.str();
}

inline ErrorSummary summary() { return errors::PreconditionNotMet("a condition does not hold"); }
inline ErrorSummary summary(const ErrorSummary &error) { return error; }
template <typename... Args>
ErrorSummary summary(const std::string &format, const Args &...args) {
  return ErrorSummary(::phi::detail::printed(format, args...));
}

// Whole numbers of both signs are compared by their values.
template <typename A, typename B>
using Both = typename std::common_type<A, B>::type;
template <typename A, typename B, bool Numbers = std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>
struct Pair {
  using First = A;
  using Second = B;
};
template <typename A, typename B>
struct Pair<A, B, true> {
  static constexpr bool whole = std::is_integral<A>::value && std::is_integral<B>::value;
  using First = typename std::conditional<whole, long long, Both<A, B>>::type;
  using Second = First;
};

}  // namespace detail
}  // namespace enforce
}  // namespace phi

#define PADDLE_THROW(...) throw ::phi::enforce::EnforceNotMet(::phi::enforce::detail::summary(__VA_ARGS__), __FILE__, __LINE__)

#define PADDLE_ENFORCE(COND, ...)                                                                                               \
  do {                                                                                                                          \
    if (!(COND))                                                                                                                \
      throw ::phi::enforce::EnforceNotMet(::phi::enforce::detail::summary(__VA_ARGS__), __FILE__, __LINE__, "Expected " #COND); \
  } while (0)

#define PADDLE_ENFORCE_NOT_NULL(POINTER, ...)                                                               \
  do {                                                                                                      \
    if ((POINTER) == nullptr)                                                                               \
      throw ::phi::enforce::EnforceNotMet(::phi::enforce::detail::summary(__VA_ARGS__), __FILE__, __LINE__, \
                                          #POINTER " should not be null.");                                 \
  } while (0)

#define WHERRY_ENFORCE_COMPARED(A, B, SIGN, INVERSE, ...)                                                                                              \
  do {                                                                                                                                                 \
    const auto &wherry_a_ = (A);                                                                                                                       \
    const auto &wherry_b_ = (B);                                                                                                                       \
    using wherry_pair_ = ::phi::enforce::detail::Pair<typename std::decay<decltype(wherry_a_)>::type, typename std::decay<decltype(wherry_b_)>::type>; \
    if (!(static_cast<const typename wherry_pair_::First &>(wherry_a_) SIGN static_cast<const typename wherry_pair_::Second &>(wherry_b_)))            \
      throw ::phi::enforce::EnforceNotMet(                                                                                                             \
          ::phi::enforce::detail::summary(__VA_ARGS__), __FILE__, __LINE__,                                                                            \
          ::phi::enforce::detail::compared(#A, #SIGN, #B, wherry_a_, #INVERSE, wherry_b_));                                                            \
  } while (0)

#define PADDLE_ENFORCE_EQ(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, ==, !=, __VA_ARGS__)
#define PADDLE_ENFORCE_NE(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, !=, ==, __VA_ARGS__)
#define PADDLE_ENFORCE_GT(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, >, <=, __VA_ARGS__)
#define PADDLE_ENFORCE_GE(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, >=, <, __VA_ARGS__)
#define PADDLE_ENFORCE_LT(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, <, >=, __VA_ARGS__)
#define PADDLE_ENFORCE_LE(A, B, ...) WHERRY_ENFORCE_COMPARED(A, B, <=, >, __VA_ARGS__)

namespace paddle {
namespace platform {
using ::phi::enforce::EnforceNotMet;
}
}  // namespace paddle
