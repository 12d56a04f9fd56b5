// PD_BUILD_PHI_KERNEL: makes functions of phi::DenseTensor kernels of a device that comes as a library.
#pragma once

#include <deque>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddle/phi/capi/include/wrapper_base.h"
#include "paddle/utils/optional.h"

namespace phi {
namespace capi {

inline DeviceContext PD_GetDeviceContext(PD_KernelContext *ctx) { return DeviceContext(PD_KernelContextGetDeviceContext(ctx)); }
inline DenseTensor PD_InputAt(PD_KernelContext *ctx, size_t index) { return DenseTensor(PD_KernelContextInputAt(ctx, index)); }
inline paddle::optional<DenseTensor> PD_OptionalInputAt(PD_KernelContext *ctx, size_t index) {
  PD_Tensor *found = PD_KernelContextInputAt(ctx, index);
  return found ? paddle::optional<DenseTensor>(DenseTensor(found)) : paddle::optional<DenseTensor>();
}
inline DenseTensor PD_OutputAt(PD_KernelContext *ctx, size_t index) { return DenseTensor(PD_KernelContextOutputAt(ctx, index)); }
namespace detail {
inline std::vector<DenseTensor> tensors_of(PD_List list) {
  std::vector<DenseTensor> found;
  for (void *one : PDListToVector<void *>(list)) found.emplace_back(static_cast<PD_Tensor *>(one));
  return found;
}
}  // namespace detail
inline std::vector<DenseTensor> PD_MultiInputAt(PD_KernelContext *ctx, size_t index) { return detail::tensors_of(PD_KernelContextMultiInputAt(ctx, index)); }
inline std::vector<DenseTensor> PD_MultiOutputAt(PD_KernelContext *ctx, size_t index) { return detail::tensors_of(PD_KernelContextMultiOutputAt(ctx, index)); }
template <typename T>
std::vector<T *> PD_GetPointerVector(std::vector<T> *vec) {
  std::vector<T *> found;
  for (T &one : *vec) found.push_back(&one);
  return found;
}

// Attributes, by their types.
template <typename T>
T PD_AttrAt(PD_KernelContext *ctx, size_t index);
template <typename T>
struct CppTypeToPDArgumentType;
template <PD_KernelArgumentType T>
struct PDArgumentTypeToCppType;
#define WHERRY_CAPI_TYPE(CPP, KIND)                                              \
  template <>                                                                    \
  struct CppTypeToPDArgumentType<CPP> {                                          \
    static constexpr PD_KernelArgumentType Type() { return PD_ARG_TYPE_##KIND; } \
  };                                                                             \
  template <>                                                                    \
  struct PDArgumentTypeToCppType<PD_ARG_TYPE_##KIND> {                           \
    using type = CPP;                                                            \
  };
#define WHERRY_CAPI_ATTR(CPP, KIND, ...)                            \
  template <>                                                       \
  inline CPP PD_AttrAt<CPP>(PD_KernelContext * ctx, size_t index) { \
    return __VA_ARGS__;                                             \
  }                                                                 \
  WHERRY_CAPI_TYPE(CPP, KIND)
WHERRY_CAPI_TYPE(DeviceContext, CONTEXT)
WHERRY_CAPI_TYPE(DenseTensor, TENSOR)
WHERRY_CAPI_ATTR(bool, BOOL, PD_KernelContextBoolAttrAt(ctx, index))
WHERRY_CAPI_ATTR(int32_t, INT32, PD_KernelContextInt32AttrAt(ctx, index))
WHERRY_CAPI_ATTR(int64_t, INT64, PD_KernelContextInt64AttrAt(ctx, index))
WHERRY_CAPI_ATTR(float, FLOAT32, PD_KernelContextFloatAttrAt(ctx, index))
WHERRY_CAPI_ATTR(double, FLOAT64, PD_KernelContextDoubleAttrAt(ctx, index))
WHERRY_CAPI_ATTR(std::string, STRING, PD_KernelContextStringAttrAt(ctx, index))
WHERRY_CAPI_ATTR(PD_DataType, DATA_TYPE, PD_KernelContextDataTypeAttrAt(ctx, index))
WHERRY_CAPI_ATTR(PD_DataLayout, DATA_LAYOUT, PD_KernelContextDataLayoutAttrAt(ctx, index))
WHERRY_CAPI_ATTR(Scalar, SCALAR, Scalar(PD_KernelContextScalarAttrAt(ctx, index)))
WHERRY_CAPI_ATTR(IntArray, INT_ARRAY, IntArray(PD_KernelContextIntArrayAttrAt(ctx, index)))
WHERRY_CAPI_ATTR(Place, PLACE, Place(PD_KernelContextPlaceAttrAt(ctx, index)))
WHERRY_CAPI_ATTR(std::vector<int32_t>, LIST_INT32, PDListToVector<int32_t>(PD_KernelContextListInt32AttrAt(ctx, index)))
WHERRY_CAPI_ATTR(std::vector<int64_t>, LIST_INT64, PDListToVector<int64_t>(PD_KernelContextListInt64AttrAt(ctx, index)))
WHERRY_CAPI_ATTR(std::vector<float>, LIST_FLOAT32, PDListToVector<float>(PD_KernelContextListFloatAttrAt(ctx, index)))
WHERRY_CAPI_ATTR(std::vector<double>, LIST_FLOAT64, PDListToVector<double>(PD_KernelContextListDoubleAttrAt(ctx, index)))
#undef WHERRY_CAPI_ATTR
WHERRY_CAPI_TYPE(std::vector<bool>, LIST_BOOL)
WHERRY_CAPI_TYPE(std::vector<std::string>, LIST_STRING)
WHERRY_CAPI_TYPE(std::vector<Scalar>, LIST_SCALAR)
#undef WHERRY_CAPI_TYPE
template <>
inline std::vector<bool> PD_AttrAt<std::vector<bool>>(PD_KernelContext *ctx, size_t index) {
  const auto found = PDListToVector<uint8_t>(PD_KernelContextListBoolAttrAt(ctx, index));
  return std::vector<bool>(found.begin(), found.end());
}
template <>
inline std::vector<std::string> PD_AttrAt<std::vector<std::string>>(PD_KernelContext *ctx, size_t index) {
  const auto found = PDListToVector<const char *>(PD_KernelContextListStringAttrAt(ctx, index));
  return std::vector<std::string>(found.begin(), found.end());
}
template <>
inline std::vector<Scalar> PD_AttrAt<std::vector<Scalar>>(PD_KernelContext *ctx, size_t index) {
  std::vector<Scalar> found;
  for (void *one : PDListToVector<void *>(PD_KernelContextListScalarAttrAt(ctx, index))) found.emplace_back(static_cast<PD_Scalar *>(one));
  return found;
}

namespace detail {

enum Role { CONTEXT,
            INPUT,
            ATTRIBUTE,
            OUTPUT };

// Where the next input, attribute and output are.
struct At {
  PD_KernelContext *ctx;
  size_t input = 0, attr = 0, output = 0;
};

// How a parameter is taken: what it is, what is kept for the time of the call, and what of that is handed over.
template <typename P>
struct Param {
  static constexpr Role role = ATTRIBUTE;
  using Kept = std::decay_t<P>;
  static constexpr PD_KernelArgumentType type() { return CppTypeToPDArgumentType<Kept>::Type(); }
  static Kept take(At &at) { return PD_AttrAt<Kept>(at.ctx, at.attr++); }
  static const Kept &pass(Kept &kept) { return kept; }
};

struct ContextParam {
  static constexpr Role role = CONTEXT;
  using Kept = DeviceContext;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_CONTEXT; }
  static Kept take(At &at) { return PD_GetDeviceContext(at.ctx); }
  static const Kept &pass(Kept &kept) { return kept; }
};
template <>
struct Param<const DeviceContext &> : ContextParam {};
template <>
struct Param<DeviceContext> : ContextParam {};

template <>
struct Param<const DenseTensor &> {
  static constexpr Role role = INPUT;
  using Kept = DenseTensor;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_TENSOR; }
  static Kept take(At &at) { return PD_InputAt(at.ctx, at.input++); }
  static const Kept &pass(Kept &kept) { return kept; }
};
template <>
struct Param<const paddle::optional<DenseTensor> &> {
  static constexpr Role role = INPUT;
  using Kept = paddle::optional<DenseTensor>;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_OPTIONAL_TENSOR; }
  static Kept take(At &at) { return PD_OptionalInputAt(at.ctx, at.input++); }
  static const Kept &pass(Kept &kept) { return kept; }
};
template <>
struct Param<const std::vector<const DenseTensor *> &> {
  static constexpr Role role = INPUT;
  struct Kept {
    std::vector<DenseTensor> tensors;
    std::vector<const DenseTensor *> pointers;
  };
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_LIST_TENSOR; }
  static Kept take(At &at) { return {PD_MultiInputAt(at.ctx, at.input++), {}}; }
  static const std::vector<const DenseTensor *> &pass(Kept &kept) {
    for (const DenseTensor &tensor : kept.tensors) kept.pointers.push_back(&tensor);
    return kept.pointers;
  }
};
// Such a kernel compiles and is never called.
template <>
struct Param<const paddle::optional<std::vector<const DenseTensor *>> &> {
  static constexpr Role role = INPUT;
  using Kept = paddle::optional<std::vector<const DenseTensor *>>;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_OPTIONAL_MULTI_TENSOR; }
  static Kept take(At &at) { return ++at.input, Kept(); }
  static const Kept &pass(Kept &kept) { return kept; }
};

// What was left out is a null pointer.
template <>
struct Param<DenseTensor *> {
  static constexpr Role role = OUTPUT;
  using Kept = DenseTensor;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_TENSOR; }
  static Kept take(At &at) { return PD_OutputAt(at.ctx, at.output++); }
  static DenseTensor *pass(Kept &kept) { return kept.raw_data() ? &kept : nullptr; }
};
template <>
struct Param<std::vector<DenseTensor *>> {
  static constexpr Role role = OUTPUT;
  using Kept = std::vector<DenseTensor>;
  static constexpr PD_KernelArgumentType type() { return PD_ARG_TYPE_LIST_TENSOR; }
  static Kept take(At &at) { return PD_MultiOutputAt(at.ctx, at.output++); }
  static std::vector<DenseTensor *> pass(Kept &kept) { return PD_GetPointerVector(&kept); }
};

inline int32_t kind_of(PD_KernelArgumentType type, Role role) {
  static const int32_t kinds[] = {WEXT_P_OTHER, WEXT_P_TENSOR, WEXT_P_BOOL, WEXT_P_FLOAT, WEXT_P_FLOAT, WEXT_P_FLOAT, WEXT_P_DOUBLE, WEXT_P_INT32, WEXT_P_INT64,
                                  WEXT_P_STRING, WEXT_P_SCALAR, WEXT_P_INT_ARRAY, WEXT_P_DTYPE, WEXT_P_LAYOUT, WEXT_P_PLACE, WEXT_P_BOOLS, WEXT_P_INTS, WEXT_P_INT64S,
                                  WEXT_P_OTHER, WEXT_P_OTHER, WEXT_P_FLOATS, WEXT_P_DOUBLES, WEXT_P_STRINGS, WEXT_P_SCALARS, WEXT_P_OPTIONAL, WEXT_P_TENSORS, WEXT_P_OTHER};
  if (role == OUTPUT) return type == PD_ARG_TYPE_LIST_TENSOR ? WEXT_P_OUTPUTS : WEXT_P_OUTPUT;
  return kinds[type];
}

// The values of an output are brought to where the framework looks for them.
inline int settle(const PD_Tensor &tensor, wext_launch *launch, int which) {
  const wext_tensor &expected = *tensor.expected;
  const std::vector<int64_t> dims(expected.shape, expected.shape + expected.rank);
  const int64_t wanted = product(dims);
  if (wanted == 0) return WRY_OK;
  const std::string of = "output " + std::to_string(which) + " of the kernel: ";
  if (!tensor.holder) return phi::detail::failed(launch, WRY_INTERNAL, (of + "it was given no memory: the kernel has to call dev_ctx.Alloc").c_str());
  if (code_of_dtype(tensor.dtype) != expected.dtype || product(tensor.dims) != wanted)
    return phi::detail::failed(launch, WRY_INTERNAL,
                               (of + "it is another than it should. Got " + std::to_string(product(tensor.dims)) + " elements of PD_DataType " + std::to_string(tensor.dtype) +
                                ", expected " + std::to_string(wanted) + " of " + std::to_string(dtype_of_code(expected.dtype)))
                                   .c_str());
  const void *found = PD_TensorGetDataPointer(&tensor, nullptr);
  if (found == expected.data) return WRY_OK;
  return launch->copy(launch, tensor.holder->host ? WEXT_TO_DEVICE : WEXT_WITHIN_DEVICE, expected.data, found, static_cast<size_t>(wanted) * size_of(tensor.dtype));
}

struct CKernel {
  const wext_kernel *entry;
  void (*fn)(PD_KernelContext *);
};
WHERRY_OF_KERNELS inline std::deque<CKernel> &c_kernels() {
  static std::deque<CKernel> found;
  return found;
}

inline int run_c_kernel(wext_launch *launch) {
  return phi::detail::guarded(launch, [launch] {
    const CKernel *found = nullptr;
    for (const CKernel &one : c_kernels())
      if (one.entry == launch->kernel) found = &one;
    if (!found) return phi::detail::failed(launch, WRY_INTERNAL, "the framework is older than the headers that the library was compiled with");
    PD_KernelContext ctx(launch);
    found->fn(&ctx);
    int which = 0;
    for (const Slot &slot : ctx.outputs)
      for (const PD_Tensor &tensor : slot.tensors)
        if (const int status = settle(tensor, launch, which++)) return status;
    return static_cast<int>(WRY_OK);
  });
}

template <typename F, F f>
struct Run;
template <typename... Args, void (*f)(Args...)>
struct Run<void (*)(Args...), f> {
  template <size_t... I>
  static void apply(PD_KernelContext *ctx, std::index_sequence<I...>) {
    At at{ctx};
    std::tuple<typename Param<Args>::Kept...> kept{Param<Args>::take(at)...};  // braces: from left to right
    f(Param<Args>::pass(std::get<I>(kept))...);
  }
  static void compute(PD_KernelContext *ctx) { apply(ctx, std::index_sequence_for<Args...>()); }

  static std::vector<PD_KernelArgumentType> types(Role role) {
    std::vector<PD_KernelArgumentType> found;
    using swallow = int[];
    (void)swallow{0, (Param<Args>::role == role ? found.push_back(Param<Args>::type()) : void(), 0)...};
    return found;
  }
};

}  // namespace detail
}  // namespace capi
}  // namespace phi

// Adds a kernel by hand. The framework calls kernels one by one: `variadic_kernel_fn` is not used.
extern "C" inline void PD_RegisterPhiKernel(const char *kernel_name_cstr, const char *backend_cstr, PD_DataType pd_dtype, PD_DataLayout pd_layout,
                                            size_t in_nargs, PD_KernelArgumentType *in_args_type, size_t attr_nargs,
                                            PD_KernelArgumentType *attr_args_type, size_t out_nargs, PD_KernelArgumentType *out_args_type,
                                            void (*args_def_fn)(const PD_KernelKey *, PD_Kernel *), void (*fn)(PD_KernelContext *),
                                            void *variadic_kernel_fn) {
  namespace detail = phi::capi::detail;
  (void)variadic_kernel_fn;
  PD_Kernel kernel;
  kernel.defs.inputs.resize(in_nargs);
  kernel.defs.outputs.resize(out_nargs);
  const PD_KernelKey key{pd_layout, pd_dtype};
  if (args_def_fn) args_def_fn(&key, &kernel);
  std::vector<int32_t> params;
  for (size_t i = 0; i < in_nargs; ++i) params.push_back(detail::kind_of(in_args_type[i], detail::INPUT));
  for (size_t i = 0; i < attr_nargs; ++i) params.push_back(detail::kind_of(attr_args_type[i], detail::ATTRIBUTE));
  for (size_t i = 0; i < out_nargs; ++i) params.push_back(detail::kind_of(out_args_type[i], detail::OUTPUT));
  phi::detail::registered().push_back(phi::detail::Registered{kernel_name_cstr, backend_cstr, params, wext_kernel()});
  phi::detail::Registered &row = phi::detail::registered().back();
  row.entry = wext_kernel{sizeof(wext_kernel), row.name.c_str(), row.device.c_str(), detail::code_of_dtype(pd_dtype), static_cast<int32_t>(pd_layout),
                          static_cast<int32_t>(row.params.size()), 0, row.params.data(), &detail::run_c_kernel, "a table of C kernels"};
  detail::c_kernels().push_back({&row.entry, fn});
}

namespace phi {
namespace capi {
namespace detail {

template <template <typename> class Function, void (*define)(const KernelKey &, Kernel *), typename T>
void register_one(const char *name, const char *device, PD_DataLayout layout, const char *file, int line) {
  using R = typename Function<T>::Run;
  auto inputs = R::types(INPUT), attrs = R::types(ATTRIBUTE), outputs = R::types(OUTPUT);
  PD_RegisterPhiKernel(
      name, device, CppTypeToPDType<T>::Type(), layout, inputs.size(), inputs.data(), attrs.size(), attrs.data(), outputs.size(), outputs.data(),
      [](const PD_KernelKey *key, PD_Kernel *kernel) {
        Kernel defined(kernel);
        define(KernelKey(const_cast<PD_KernelKey *>(key)), &defined);
      },
      &R::compute, nullptr);
  phi::detail::registered().back().entry.file = file;
  phi::detail::registered().back().entry.line = line;
}

template <template <typename> class Function, void (*define)(const KernelKey &, Kernel *), typename... Types>
int register_kernels(const char *name, const char *device, PD_DataLayout layout, const char *file, int line) {
  using swallow = int[];
  (void)swallow{0, (register_one<Function, define, Types>(name, device, layout, file, line), 0)...};
  return 0;
}

}  // namespace detail
}  // namespace capi
}  // namespace phi

// Stands in the global namespace, before a body that may set what is special of the kernel's inputs and outputs.
#define PD_BUILD_PHI_KERNEL(kernel_name, backend, layout, meta_kernel_fn, ...)                                                                \
  static void wherry_defines_##kernel_name##_##backend##_##layout(const ::phi::capi::KernelKey &, ::phi::capi::Kernel *);                     \
  template <typename wherry_t_>                                                                                                               \
  struct wherry_kernel_##kernel_name##_##backend##_##layout {                                                                                 \
    using Run = ::phi::capi::detail::Run<decltype(&meta_kernel_fn<wherry_t_>), &meta_kernel_fn<wherry_t_>>;                                   \
  };                                                                                                                                          \
  __attribute__((unused)) static const int wherry_registered_##kernel_name##_##backend##_##layout =                                           \
      ::phi::capi::detail::register_kernels<wherry_kernel_##kernel_name##_##backend##_##layout,                                               \
                                            &wherry_defines_##kernel_name##_##backend##_##layout, __VA_ARGS__>(#kernel_name, #backend,        \
                                                                                                               ::layout, __FILE__, __LINE__); \
  void wherry_defines_##kernel_name##_##backend##_##layout(__attribute__((unused)) const ::phi::capi::KernelKey &kernel_key,                  \
                                                           __attribute__((unused)) ::phi::capi::Kernel *kernel)
