// phi::errors::InvalidArgument("got %d", n) and the like: what a PADDLE_ENFORCE_* says, and of which kind the error is.
#pragma once

#include <cctype>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

namespace phi {

enum class ErrorCode {
  LEGACY = 0,
  INVALID_ARGUMENT,
  NOT_FOUND,
  OUT_OF_RANGE,
  ALREADY_EXISTS,
  RESOURCE_EXHAUSTED,
  PRECONDITION_NOT_MET,
  PERMISSION_DENIED,
  EXECUTION_TIMEOUT,
  UNIMPLEMENTED,
  UNAVAILABLE,
  FATAL,
  EXTERNAL,
};

class ErrorSummary {
 public:
  ErrorSummary(ErrorCode code, std::string text) : code_(code), text_(std::move(text)) {}
  explicit ErrorSummary(std::string text) : code_(ErrorCode::LEGACY), text_(std::move(text)) {}
  ErrorCode code() const { return code_; }
  const std::string &error_message() const { return text_; }
  std::string to_string() const {
    static const char *const names[] = {"", "InvalidArgument", "NotFound", "OutOfRange", "AlreadyExists", "ResourceExhausted",
                                        "PreconditionNotMet", "PermissionDenied", "ExecutionTimeout", "Unimplemented", "Unavailable",
                                        "Fatal", "External"};
    return code_ == ErrorCode::LEGACY ? text_ : std::string("(") + names[static_cast<int>(code_)] + ") " + text_;
  }

 private:
  ErrorCode code_;
  std::string text_;
};

namespace detail {

inline void print_rest(std::ostream &out, const char *format) {
  for (; *format; ++format) {
    if (*format == '%' && format[1] == '%') ++format;
    out << *format;
  }
}
inline void print(std::ostream &out, const char *format) { print_rest(out, format); }

// Each `%...` takes one argument, which is written as its type asks for: %d of a size_t is as good as %zu.
template <typename First, typename... Rest>
void print(std::ostream &out, const char *format, const First &first, const Rest &...rest) {
  for (; *format; ++format) {
    if (*format != '%') {
      out << *format;
      continue;
    }
    if (format[1] == '%') {
      out << *++format;
      continue;
    }
    std::ostringstream one;
    one << std::boolalpha;
    ++format;
    for (; *format && std::string("-+ #0").find(*format) != std::string::npos; ++format) {
      if (*format == '-') one << std::left;
      if (*format == '0') one << std::setfill('0');
    }
    if (std::isdigit(static_cast<unsigned char>(*format))) one << std::setw(std::atoi(format));
    while (std::isdigit(static_cast<unsigned char>(*format))) ++format;
    if (*format == '.') {
      one << std::setprecision(std::atoi(++format));
      while (std::isdigit(static_cast<unsigned char>(*format))) ++format;
    }
    while (*format && std::string("hljztL").find(*format) != std::string::npos) ++format;
    if (*format == 'x' || *format == 'X') one << std::hex;
    if (*format == 'f') one << std::fixed;
    if (*format == 'e') one << std::scientific;
    one << first;
    out << one.str();
    if (*format) ++format;
    return print(out, format, rest...);
  }
}

template <typename... Args>
std::string printed(const std::string &format, const Args &...args) {
  std::ostringstream out;
  print(out, format.c_str(), args...);
  return out.str();
}

}  // namespace detail

namespace errors {

#define WHERRY_ERROR(NAME, CODE)                                                          \
  template <typename... Args>                                                             \
  ::phi::ErrorSummary NAME(const std::string &format, const Args &...args) {              \
    return ::phi::ErrorSummary(ErrorCode::CODE, ::phi::detail::printed(format, args...)); \
  }                                                                                       \
  template <typename... Args>                                                             \
  ::phi::ErrorSummary NAME##Exception(const std::string &format, const Args &...args) {   \
    return ::phi::ErrorSummary(ErrorCode::CODE, ::phi::detail::printed(format, args...)); \
  }

WHERRY_ERROR(InvalidArgument, INVALID_ARGUMENT)
WHERRY_ERROR(NotFound, NOT_FOUND)
WHERRY_ERROR(OutOfRange, OUT_OF_RANGE)
WHERRY_ERROR(AlreadyExists, ALREADY_EXISTS)
WHERRY_ERROR(ResourceExhausted, RESOURCE_EXHAUSTED)
WHERRY_ERROR(PreconditionNotMet, PRECONDITION_NOT_MET)
WHERRY_ERROR(PermissionDenied, PERMISSION_DENIED)
WHERRY_ERROR(ExecutionTimeout, EXECUTION_TIMEOUT)
WHERRY_ERROR(Unimplemented, UNIMPLEMENTED)
WHERRY_ERROR(Unavailable, UNAVAILABLE)
WHERRY_ERROR(Fatal, FATAL)
WHERRY_ERROR(External, EXTERNAL)
#undef WHERRY_ERROR

}  // namespace errors
}  // namespace phi

namespace paddle {
namespace platform {
namespace errors = ::phi::errors;
}
}  // namespace paddle

namespace common {
namespace errors = ::phi::errors;
}
