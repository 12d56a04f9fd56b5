// Types of elements: the enumeration, beside the C++ types that are not in the language.
#pragma once

#include <cstddef>
#include <cstdint>

#include "paddle/phi/common/bfloat16.h"
#include "paddle/phi/common/complex.h"
#include "paddle/phi/common/float16.h"

namespace phi {

enum class DataType {  // with Paddle's numbers
  UNDEFINED = 0,
  BOOL,
  UINT8,
  INT8,
  UINT16,
  INT16,
  UINT32,
  INT32,
  UINT64,
  INT64,
  FLOAT32,
  FLOAT64,
  COMPLEX64,
  COMPLEX128,
  PSTRING,
  FLOAT16,
  BFLOAT16,
  NUM_DATA_TYPES,
  ALL_DTYPE = UNDEFINED,
  STRING = PSTRING,
};

inline size_t SizeOf(DataType type) {
  static const unsigned char sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 0, 2, 2};
  return type < DataType::NUM_DATA_TYPES ? sizes[static_cast<int>(type)] : 0;
}

// The name of the enumerator, in the spelling that errors use.
inline const char *DataTypeToString(DataType type) {
  static const char *const names[] = {"Undefined", "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                      "int64", "float32", "float64", "complex64", "complex128", "pstring", "float16", "bfloat16"};
  return type < DataType::NUM_DATA_TYPES ? names[static_cast<int>(type)] : "unknown";
}

template <typename T>
struct CppTypeToDataType;

#define WHERRY_EACH_DTYPE(_)               \
  _(bool, BOOL)                            \
  _(int8_t, INT8)                          \
  _(uint8_t, UINT8)                        \
  _(int16_t, INT16)                        \
  _(int32_t, INT32)                        \
  _(uint32_t, UINT32)                      \
  _(int64_t, INT64)                        \
  _(uint64_t, UINT64)                      \
  _(phi::dtype::bfloat16, BFLOAT16)        \
  _(phi::dtype::float16, FLOAT16)          \
  _(uint16_t, UINT16)                      \
  _(float, FLOAT32)                        \
  _(double, FLOAT64)                       \
  _(phi::dtype::complex<float>, COMPLEX64) \
  _(phi::dtype::complex<double>, COMPLEX128)

template <DataType T>
struct DataTypeToCppType;

#define WHERRY_DTYPE_OF(cpp, name)                              \
  template <>                                                   \
  struct CppTypeToDataType<cpp> {                               \
    static constexpr DataType Type() { return DataType::name; } \
  };                                                            \
  template <>                                                   \
  struct DataTypeToCppType<DataType::name> {                    \
    using type = cpp;                                           \
  };
WHERRY_EACH_DTYPE(WHERRY_DTYPE_OF)
#undef WHERRY_DTYPE_OF

enum class DataLayout {
  ANY = 0,
  NHWC,
  NCHW,
  NCDHW,
  NDHWC,
  ONEDNN,
  SPARSE_COO,
  SPARSE_CSR,
  PSTRING_UNION,
  STRIDED,
  NUM_DATA_LAYOUTS,
  UNDEFINED = ANY,
  ALL_LAYOUT = ANY,
  MKLDNN = ONEDNN,
  kNHWC = NHWC,
  kNCHW = NCHW,
  kNDHWC = NDHWC,
  kNCDHW = NCDHW,
  kAnyLayout = ANY,
  kMKLDNN = ONEDNN,
};

using float16 = dtype::float16;
using bfloat16 = dtype::bfloat16;
using complex64 = dtype::complex<float>;
using complex128 = dtype::complex<double>;

}  // namespace phi

namespace paddle {

using phi::DataLayout;
using phi::DataType;
using float16 = phi::dtype::float16;
using bfloat16 = phi::dtype::bfloat16;
using complex64 = phi::dtype::complex<float>;
using complex128 = phi::dtype::complex<double>;

inline const char *ToString(DataType type) { return phi::DataTypeToString(type); }

}  // namespace paddle
