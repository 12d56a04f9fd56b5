// NVIDIA's libraries: found when they are needed, never linked. Where one is absent, refuses a problem or fails, kernels of our own
// compute.
#ifndef WHERRY_CUDA_LIBRARIES_H
#define WHERRY_CUDA_LIBRARIES_H

#include <stdint.h>
#include <string.h>
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
  // told when it cannot be opened. Companions are opened before it, those that are there: it looks for them by name.
  void set_places(const char *places, const char *companions, bool asked);
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
  std::vector<std::string> places_, companions_;
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
Library &cudnn_library();     // cudnn.cc
constexpr int max_devices = 64;

// What the steps of a call have said: the first status that is not a success stays, with the function that has returned it.
template <typename Status>
struct LibrarySteps {
  Status status = Status(0);
  const char *function = "";
  bool operator()(const char *name, Status said) {
    if (said != Status(0) && status == Status(0)) status = said, function = name;
    return said == Status(0);
  }
  bool well() const { return status == Status(0); }
};

// All that an answer of a library depends on: a struct of int64_t alone, compared and hashed as words.
template <typename Problem>
struct Words {
  static_assert(sizeof(Problem) % sizeof(int64_t) == 0 && alignof(Problem) == alignof(int64_t), "words, and nothing between them");
  bool operator()(const Problem &a, const Problem &b) const { return memcmp(&a, &b, sizeof a) == 0; }
  size_t operator()(const Problem &p) const {
    int64_t words[sizeof(Problem) / sizeof(int64_t)];
    memcpy(words, &p, sizeof p);
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (int64_t word : words) h = (h ^ uint64_t(word)) * 0xFF51AFD7ED558CCDu, h ^= h >> 32;
    return size_t(h);
  }
};

// Is the call being captured into a graph? What a library prepares for a GPU, its handle, cannot be.
bool is_captured(const wry_call *call);
// Scratch memory at a multiple of 256, as the libraries want it; null when there is none, which the error of the call then says.
char *library_workspace(const wry_call *call, const char *op, const char *library, size_t bytes);

extern std::atomic<bool> rounds_operands;  // float32 may be computed as TF32, which tensor cores take

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

// A convolution of `in` [n, channels, h, w] by weight [o, channels / groups, kh, kw] to `out` [n, o, oh, ow], in either layout of images;
// FORWARD computes out, FOR_INPUT in, FOR_WEIGHT the weight from the other two. All are contiguous.
enum Direction { FORWARD,
                 FOR_INPUT,
                 FOR_WEIGHT };
struct LibraryConvolution {
  Direction direction;
  bool channels_last;
  int32_t dtype;
  int64_t n, channels, h, w, o, oh, ow, kh, kw, groups;
  int64_t stride_y, stride_x, before_y, before_x, dilation_y, dilation_x;  // before: the padding
  const void *in, *out, *weight;                                           // the one that is computed is written
  const void *bias;                                                        // of what is computed, [channels] or [o]; or null
  int64_t bias_step;
};
int library_convolution(const wry_call *call, const LibraryConvolution &p);  // by cuDNN (cudnn.cc)

// Tells the user, as a warning of Python. (libraries.cc)
void notify(const std::string &text);

}  // namespace cuda
}  // namespace wherry

#endif
