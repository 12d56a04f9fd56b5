// PD_CHECK and PD_THROW: errors of a custom operator, with the place that found them.
#pragma once

#include <exception>
#include <ios>
#include <sstream>
#include <string>

// Kept out of the functions that every call runs through.
#if defined(_MSC_VER)
#define WHERRY_SELDOM __declspec(noinline)
#else
#define WHERRY_SELDOM __attribute__((noinline, cold))
#endif

namespace paddle {

class PD_Exception : public std::exception {
 public:
  template <typename... Pieces>
  WHERRY_SELDOM PD_Exception(const char *fallback, const char *file, int line, const Pieces &...pieces) {
    std::ostringstream text;
    text << std::boolalpha;
    if (sizeof...(pieces) == 0) text << fallback;
    using swallow = int[];
    (void)swallow{0, ((void)(text << pieces), 0)...};
    text << "\n[" << file << ":" << line << "]";
    text_ = text.str();
  }
  const char *what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace paddle

#define PD_CHECK(COND, ...)                                                                                            \
  do {                                                                                                                 \
    if (!(COND))                                                                                                       \
      throw ::paddle::PD_Exception("Expected " #COND ", but it is not satisfied.", __FILE__, __LINE__, ##__VA_ARGS__); \
  } while (0)

#define PD_THROW(...) throw ::paddle::PD_Exception("An error occurred.", __FILE__, __LINE__, ##__VA_ARGS__)
