// NVIDIA's libraries: found when they are needed, never linked. Where one is absent, refuses a problem or fails, kernels of our own
// compute.
#ifndef WHERRY_CUDA_LIBRARIES_H
#define WHERRY_CUDA_LIBRARIES_H

#include <stdint.h>
#include <wherry/abi.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace wherry {
namespace cuda {

// What the functions below return when the library has not taken a problem: the own kernel computes. Otherwise a wry_status.
constexpr int not_taken = -1;

// One library: where it may be, whether it is wanted, and its functions once it is open.
class Library {
 public:
  struct Entry {
    const char *name;
    void **function;
  };
  // `version_of`: of an open library, 10000 * major + 100 * minor; below `oldest` it is not used.
  Library(const char *name, int (*version_of)(), int oldest, std::vector<Entry> entries)
      : name_(name), version_of_(version_of), oldest_(oldest), entries_(std::move(entries)) {}

  // Files to try, or names that the system's loader knows, divided by newlines. `asked`: the user has named the file, so that it is
  // told when it cannot be opened.
  void set_places(const char *places, bool asked);
  void use(bool on) { wanted_ = on; }
  // Opens it at the first call. False: it is off, absent or has failed.
  bool ready() {
    if (!wanted_) return false;
    if (state_ == UNOPENED) open();
    return state_ == OPEN;
  }
  // A function has returned a status that has nothing to do with the problem: said once, and the library is used no more.
  void fail(const char *function, const char *status);
  // One line: which file and version, or why there is none. Returns whether there is one.
  bool describe(std::string *text);

 private:
  void open();
  const char *name_;
  int (*version_of_)();
  int oldest_;
  std::vector<Entry> entries_;
  std::vector<std::string> places_;
  bool asked_ = false;
  std::atomic<bool> wanted_{true};
  enum State { UNOPENED,
               OPEN,
               NONE };
  std::atomic<State> state_{UNOPENED};
  std::mutex mutex_;        // of what follows, while it changes
  std::string path_, why_;  // the file that is open; why there is none, or what has failed
};

Library &cublaslt_library();  // cublaslt.cc

// out[b, m, n] = x[b, m, k] y[b, k, n] + bias[n]: strides count elements, those of the batch are 0 where it repeats; out is contiguous.
struct LibraryProduct {
  int32_t dtype;  // wry_dtype, of all operands
  const void *x, *y, *bias;
  void *out;
  int64_t m, n, k, x_row, x_column, y_row, y_column, bias_step;
  int rank;  // axes of the batch
  const int64_t *shape, *x_strides, *y_strides;
};
int library_product(const wry_call *call, const LibraryProduct &p);  // by cuBLASLt (cublaslt.cc)

// Tells the user, as a warning of Python. (libraries.cc)
void notify(const std::string &text);

}  // namespace cuda
}  // namespace wherry

#endif
