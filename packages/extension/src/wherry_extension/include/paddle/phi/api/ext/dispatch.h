// PD_DISPATCH_*: one branch for each type of elements, in which `data_t` is that type.
#pragma once

#include "paddle/phi/api/ext/exception.h"
#include "paddle/phi/common/data_type.h"

#define PD_PRIVATE_CASE_TYPE_USING_HINT(NAME, enum_type, type, HINT, ...) \
  case enum_type: {                                                       \
    using HINT = type;                                                    \
    __VA_ARGS__();                                                        \
    break;                                                                \
  }
#define PD_PRIVATE_CASE_TYPE(NAME, enum_type, type, ...) \
  PD_PRIVATE_CASE_TYPE_USING_HINT(NAME, enum_type, type, data_t, __VA_ARGS__)

#define WHERRY_DISPATCH(TYPE, NAME, ...)                                                                            \
  [&] {                                                                                                             \
    const auto &wherry_dtype_ = TYPE;                                                                               \
    switch (wherry_dtype_) {                                                                                        \
      __VA_ARGS__                                                                                                   \
      default:                                                                                                      \
        PD_THROW("function ", NAME, " is not implemented for data type `", ::paddle::ToString(wherry_dtype_), "`"); \
    }                                                                                                               \
  }()

#define WHERRY_FLOATING(NAME, ...)                                            \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::FLOAT32, float, __VA_ARGS__) \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::FLOAT64, double, __VA_ARGS__)
#define WHERRY_INTEGRAL(NAME, ...)                                            \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::INT32, int, __VA_ARGS__)     \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::INT64, int64_t, __VA_ARGS__) \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::INT8, int8_t, __VA_ARGS__)   \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::UINT8, uint8_t, __VA_ARGS__) \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::INT16, int16_t, __VA_ARGS__)
#define WHERRY_COMPLEX(NAME, ...)                                                             \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::COMPLEX64, ::paddle::complex64, __VA_ARGS__) \
  PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::COMPLEX128, ::paddle::complex128, __VA_ARGS__)

#define PD_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) WHERRY_DISPATCH(TYPE, NAME, WHERRY_FLOATING(NAME, __VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_HALF_TYPES(TYPE, NAME, ...) \
  WHERRY_DISPATCH(TYPE, NAME, WHERRY_FLOATING(NAME, __VA_ARGS__) PD_PRIVATE_CASE_TYPE(NAME, ::paddle::DataType::FLOAT16, ::paddle::float16, __VA_ARGS__))
#define PD_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) WHERRY_DISPATCH(TYPE, NAME, WHERRY_INTEGRAL(NAME, __VA_ARGS__))
#define PD_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) WHERRY_DISPATCH(TYPE, NAME, WHERRY_COMPLEX(NAME, __VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_INTEGRAL_TYPES(TYPE, NAME, ...) \
  WHERRY_DISPATCH(TYPE, NAME, WHERRY_FLOATING(NAME, __VA_ARGS__) WHERRY_INTEGRAL(NAME, __VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  WHERRY_DISPATCH(TYPE, NAME, WHERRY_FLOATING(NAME, __VA_ARGS__) WHERRY_COMPLEX(NAME, __VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_INTEGRAL_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  WHERRY_DISPATCH(TYPE, NAME,                                                \
                  WHERRY_FLOATING(NAME, __VA_ARGS__) WHERRY_INTEGRAL(NAME, __VA_ARGS__) WHERRY_COMPLEX(NAME, __VA_ARGS__))
#define WHERRY_NAMED(NAME, enum_type, ...) PD_PRIVATE_CASE_TYPE(NAME, enum_type, ::phi::DataTypeToCppType<enum_type>::type, __VA_ARGS__)
#define PD_DISPATCH_FLOATING_AND_COMPLEX_AND_1_TYPE(SPECIFIED_TYPE, TYPE, NAME, ...) \
  WHERRY_DISPATCH(TYPE, NAME, WHERRY_FLOATING(NAME, __VA_ARGS__) WHERRY_COMPLEX(NAME, __VA_ARGS__) WHERRY_NAMED(NAME, SPECIFIED_TYPE, __VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_COMPLEX_AND_2_TYPES(SPECIFIED_TYPE1, SPECIFIED_TYPE2, TYPE, NAME, ...)                                 \
  WHERRY_DISPATCH(TYPE, NAME,                                                                                                           \
                  WHERRY_FLOATING(NAME, __VA_ARGS__) WHERRY_COMPLEX(NAME, __VA_ARGS__) WHERRY_NAMED(NAME, SPECIFIED_TYPE1, __VA_ARGS__) \
                      WHERRY_NAMED(NAME, SPECIFIED_TYPE2, __VA_ARGS__))
