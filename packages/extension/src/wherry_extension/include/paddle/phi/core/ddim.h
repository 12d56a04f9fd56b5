// DDim: the sizes of a tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "paddle/phi/core/enforce.h"
#include "wherry/abi.h"

namespace phi {

class DDim {
 public:
  static constexpr int kMaxRank = WRY_MAX_RANK;

  DDim() = default;
  DDim(const int *sizes, int rank) : DDim(sizes, sizes + check(rank)) {}
  DDim(const int64_t *sizes, int rank) : DDim(sizes, sizes + check(rank)) {}
  DDim(std::initializer_list<int64_t> sizes) : DDim(sizes.begin(), sizes.end()) {}
  template <typename It>
  DDim(It begin, It end) {
    for (; begin != end; ++begin) {
      check(rank_ + 1);
      sizes_[rank_++] = static_cast<int64_t>(*begin);
    }
  }

  int size() const { return rank_; }
  int64_t &operator[](int axis) { return sizes_[axis]; }
  int64_t operator[](int axis) const { return sizes_[axis]; }
  int64_t &at(int axis) { return sizes_[within(axis)]; }
  int64_t at(int axis) const { return sizes_[within(axis)]; }
  const int64_t *Get() const { return sizes_; }
  int64_t *GetMutable() { return sizes_; }
  const int64_t *begin() const { return sizes_; }
  const int64_t *end() const { return sizes_ + rank_; }
  bool operator==(const DDim &other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i)
      if (sizes_[i] != other.sizes_[i]) return false;
    return true;
  }
  bool operator!=(const DDim &other) const { return !(*this == other); }
  std::string to_str() const {
    std::string text;
    for (int64_t size : *this) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return text;
  }
  DDim reshape(const std::vector<int> &sizes) const { return DDim(sizes.begin(), sizes.end()); }
  DDim transpose(const std::vector<int> &axes) const {
    DDim out = *this;
    for (size_t i = 0; i < axes.size(); ++i) out[static_cast<int>(i)] = at(axes[i]);
    return out;
  }

 private:
  static int check(int rank) {
    PADDLE_ENFORCE_LE(rank, kMaxRank, errors::InvalidArgument("a tensor has at most %d axes, got %d", kMaxRank, rank));
    return rank;
  }
  int within(int axis) const {
    PADDLE_ENFORCE_EQ(axis >= 0 && axis < rank_, true, errors::OutOfRange("axis %d is outside of a shape of rank %d", axis, rank_));
    return axis;
  }

  int64_t sizes_[kMaxRank] = {0};
  int rank_ = 0;
};

inline std::ostream &operator<<(std::ostream &out, const DDim &sizes) { return out << sizes.to_str(); }

template <typename T>
DDim make_ddim(const std::vector<T> &sizes) {
  return DDim(sizes.begin(), sizes.end());
}
inline DDim make_ddim(std::initializer_list<int64_t> sizes) { return DDim(sizes); }

template <typename T = int64_t>
std::vector<T> vectorize(const DDim &sizes) {
  return std::vector<T>(sizes.begin(), sizes.end());
}

inline int64_t product(const DDim &sizes) {
  int64_t out = 1;
  for (int64_t size : sizes) out *= size;
  return out;
}
inline int arity(const DDim &sizes) { return sizes.size(); }
inline DDim slice_ddim(const DDim &sizes, int begin, int end) { return DDim(sizes.begin() + begin, sizes.begin() + end); }

// A matrix: the first `columns_from` axes are its rows.
inline DDim flatten_to_2d(const DDim &sizes, int columns_from) {
  return {product(slice_ddim(sizes, 0, columns_from)), product(slice_ddim(sizes, columns_from, sizes.size()))};
}
inline DDim flatten_to_3d(const DDim &sizes, int middle_from, int last_from) {
  return {product(slice_ddim(sizes, 0, middle_from)), product(slice_ddim(sizes, middle_from, last_from)),
          product(slice_ddim(sizes, last_from, sizes.size()))};
}
inline DDim flatten_to_1d(const DDim &sizes) { return {product(sizes)}; }

// In elements, of contiguous memory.
inline DDim stride(const DDim &sizes) {
  DDim out = sizes;
  int64_t step = 1;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    out[i] = step;
    step *= sizes[i];
  }
  return out;
}

}  // namespace phi

namespace paddle {
namespace framework {
using phi::DDim;
}
}  // namespace paddle

namespace common {
using phi::DDim;
using phi::make_ddim;
using phi::product;
using phi::vectorize;
}  // namespace common
