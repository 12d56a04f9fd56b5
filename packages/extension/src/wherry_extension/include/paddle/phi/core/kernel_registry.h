// PD_REGISTER_PLUGIN_KERNEL: makes functions of DenseTensors kernels of a device that comes as a library.
//
// The parameters of the function are taken apart at compile time. The framework reads what they are from a table and hands over
// values of these kinds; `detail::KernelRun` makes C++ objects of them, calls, and sees to it that outputs lie where they belong.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddle/phi/api/ext/kernel_table.h"
#include "paddle/phi/backends/custom/custom_context.h"
#include "paddle/phi/common/backend.h"
#include "paddle/phi/common/int_array.h"
#include "paddle/phi/common/scalar.h"
#include "paddle/phi/core/selected_rows.h"
#include "paddle/phi/core/sparse_coo_tensor.h"
#include "paddle/phi/core/sparse_csr_tensor.h"
#include "paddle/utils/optional.h"

namespace phi {

class KernelKey {
 public:
  KernelKey(Backend backend, DataLayout layout, DataType dtype) : backend_(backend), layout_(layout), dtype_(dtype) {}
  Backend backend() const { return backend_; }
  DataLayout layout() const { return layout_; }
  DataType dtype() const { return dtype_; }

 private:
  Backend backend_;
  DataLayout layout_;
  DataType dtype_;
};

// What the body after PD_REGISTER_PLUGIN_KERNEL may say of one input or output.
class TensorArgDef {
 public:
  TensorArgDef &SetBackend(Backend backend) {
    backend_ = backend;
    return *this;
  }
  TensorArgDef &SetDataLayout(DataLayout layout) {
    layout_ = layout;
    return *this;
  }
  TensorArgDef &SetDataType(DataType dtype) {
    dtype_ = dtype;
    return *this;
  }
  Backend backend() const { return backend_; }

 private:
  Backend backend_ = Backend::CUSTOM;
  DataLayout layout_ = DataLayout::ALL_LAYOUT;
  DataType dtype_ = DataType::UNDEFINED;
};

class Kernel {
 public:
  TensorArgDef &InputAt(size_t i) { return at(&inputs_, i); }
  TensorArgDef &OutputAt(size_t i) { return at(&outputs_, i); }
  const std::deque<TensorArgDef> &inputs() const { return inputs_; }
  const std::deque<TensorArgDef> &outputs() const { return outputs_; }

 private:
  static TensorArgDef &at(std::deque<TensorArgDef> *defs, size_t i) {
    if (defs->size() <= i) defs->resize(i + 1);
    return (*defs)[i];
  }
  std::deque<TensorArgDef> inputs_, outputs_;
};

using KernelArgsDefFn = void (*)(const KernelKey &, Kernel *);

namespace detail {

inline DataType dtype_of_code(int64_t code) {
  static const DataType types[] = {DataType::BOOL, DataType::UINT8, DataType::INT8, DataType::INT16, DataType::INT32, DataType::INT64,
                                   DataType::FLOAT16, DataType::BFLOAT16, DataType::FLOAT32, DataType::FLOAT64, DataType::COMPLEX64, DataType::COMPLEX128};
  return code >= 0 && code < WRY_NUM_DTYPES ? types[code] : DataType::UNDEFINED;
}
inline int32_t code_of_dtype(DataType dtype) {
  for (int32_t code = 0; code < WRY_NUM_DTYPES; ++code)
    if (dtype_of_code(code) == dtype) return code;
  return -1;
}

// What a call is made from; `at` is the next value.
struct Values {
  wext_launch *launch;
  Place place;
  int at = 0;
  const wext_value &next() { return launch->values[at++]; }

  DenseTensor tensor(const wext_tensor &given, bool output) const {
    DenseTensor made;
    made.set_meta(DenseTensorMeta(dtype_of_code(given.dtype), DDim(given.shape, given.rank)));
    const size_t bytes = static_cast<size_t>(made.numel()) * SizeOf(made.dtype());
    const Place where = given.device == WRY_CPU ? Place(CPUPlace()) : place;
    auto memory = std::make_shared<Allocation>(given.data, bytes, where);
    if (output)
      made.lend(std::move(memory));
    else
      made = DenseTensor(memory, made.meta());
    return made;
  }
};

// An output, and whether its values are where the framework looks for them.
struct Output {
  DenseTensor tensor;
  const wext_tensor *expected = nullptr;

  int settle(wext_launch *launch, int which) const {
    if (!expected) return WRY_OK;
    const int64_t wanted = product(DDim(expected->shape, expected->rank));
    if (wanted == 0) return WRY_OK;
    std::string wrong;
    if (!tensor.initialized())
      wrong = ::phi::detail::printed("it was given no memory: the kernel has to call dev_ctx.Alloc");
    else if (code_of_dtype(tensor.dtype()) != expected->dtype)
      wrong = ::phi::detail::printed("it has another dtype than it should. Got %s, expected %s", DataTypeToString(tensor.dtype()),
                                     DataTypeToString(dtype_of_code(expected->dtype)));
    else if (tensor.numel() != wanted)
      wrong = ::phi::detail::printed("it has another size than it should. Got [%s], expected [%s]", tensor.dims().to_str(),
                                     DDim(expected->shape, expected->rank).to_str());
    if (!wrong.empty()) {
      const std::string text = "output " + std::to_string(which) + " of the kernel: " + wrong;
      std::strncpy(launch->error, text.c_str(), WRY_ERROR_SIZE - 1);
      return WRY_INTERNAL;
    }
    if (tensor.data() == expected->data) return WRY_OK;
    const int32_t kind = tensor.place().GetType() == AllocationType::CPU ? WEXT_TO_DEVICE : WEXT_WITHIN_DEVICE;
    return launch->copy(launch, kind, expected->data, tensor.data(), static_cast<size_t>(wanted) * SizeOf(tensor.dtype()));
  }
};

// How a parameter is taken: its kind, what is kept for the time of the call, and what of that is handed over.
template <typename P>
struct Param {
  static constexpr int32_t kind = WEXT_P_OTHER;
  using Kept = std::nullptr_t;
  static Kept take(Values &from) {
    from.next();
    return nullptr;
  }
  static P pass(Kept &) { PADDLE_THROW(errors::Unimplemented("a parameter of this kernel is of a type that is not supported")); }
};

template <>
struct Param<const DenseTensor &> {
  static constexpr int32_t kind = WEXT_P_TENSOR;
  using Kept = DenseTensor;
  static Kept take(Values &from) { return from.tensor(*from.next().tensors, false); }
  static const DenseTensor &pass(Kept &kept) { return kept; }
};

template <>
struct Param<const paddle::optional<DenseTensor> &> {
  static constexpr int32_t kind = WEXT_P_OPTIONAL;
  using Kept = paddle::optional<DenseTensor>;
  static Kept take(Values &from) {
    const wext_value &value = from.next();
    return value.count ? Kept(from.tensor(*value.tensors, false)) : Kept();
  }
  static const Kept &pass(Kept &kept) { return kept; }
};
template <>
struct Param<paddle::optional<const DenseTensor &>> {
  static constexpr int32_t kind = WEXT_P_OPTIONAL;
  using Kept = paddle::optional<DenseTensor>;
  static Kept take(Values &from) { return Param<const paddle::optional<DenseTensor> &>::take(from); }
  static paddle::optional<const DenseTensor &> pass(Kept &kept) {
    return kept ? paddle::optional<const DenseTensor &>(*kept) : paddle::optional<const DenseTensor &>();
  }
};
template <>
struct Param<const paddle::optional<const DenseTensor &> &> {
  static constexpr int32_t kind = WEXT_P_OPTIONAL;
  struct Kept {
    paddle::optional<DenseTensor> value;
    paddle::optional<const DenseTensor &> reference;
  };
  static Kept take(Values &from) { return {Param<const paddle::optional<DenseTensor> &>::take(from), {}}; }
  static const paddle::optional<const DenseTensor &> &pass(Kept &kept) {
    if (kept.value) kept.reference = paddle::optional<const DenseTensor &>(*kept.value);
    return kept.reference;
  }
};

template <typename Pointer>
struct Tensors {
  std::deque<DenseTensor> tensors;
  std::vector<Pointer> pointers;
};
template <typename Pointer>
struct TensorsParam {
  static constexpr int32_t kind = WEXT_P_TENSORS;
  using Kept = Tensors<Pointer>;
  static Kept take(Values &from) {
    Kept kept;
    const wext_value &value = from.next();
    for (int32_t i = 0; i < value.count; ++i) kept.tensors.push_back(from.tensor(value.tensors[i], false));
    return kept;
  }
  static const std::vector<Pointer> &pass(Kept &kept) {
    for (DenseTensor &tensor : kept.tensors) kept.pointers.push_back(&tensor);
    return kept.pointers;
  }
};
template <>
struct Param<const std::vector<const DenseTensor *> &> : TensorsParam<const DenseTensor *> {};
template <>
struct Param<const std::vector<DenseTensor *> &> : TensorsParam<DenseTensor *> {};
template <>
struct Param<const paddle::optional<std::vector<const DenseTensor *>> &> {
  static constexpr int32_t kind = WEXT_P_OTHER;
  using Kept = paddle::optional<std::vector<const DenseTensor *>>;
  static Kept take(Values &from) {
    from.next();
    return Kept();
  }
  static const Kept &pass(Kept &kept) { return kept; }
};

template <>
struct Param<DenseTensor *> {
  static constexpr int32_t kind = WEXT_P_OUTPUT;
  using Kept = Output;
  static Kept take(Values &from) {
    const wext_value &value = from.next();
    return value.count ? Output{from.tensor(*value.tensors, true), value.tensors} : Output();
  }
  static DenseTensor *pass(Kept &kept) { return kept.expected ? &kept.tensor : nullptr; }
};
template <>
struct Param<std::vector<DenseTensor *>> {
  static constexpr int32_t kind = WEXT_P_OUTPUTS;
  using Kept = std::deque<Output>;
  static Kept take(Values &from) {
    Kept kept;
    const wext_value &value = from.next();
    for (int32_t i = 0; i < value.count; ++i) kept.push_back(Output{from.tensor(value.tensors[i], true), &value.tensors[i]});
    return kept;
  }
  static std::vector<DenseTensor *> pass(Kept &kept) {
    std::vector<DenseTensor *> pointers;
    for (Output &output : kept) pointers.push_back(&output.tensor);
    return pointers;
  }
};

#define WHERRY_PARAM(TYPE, KIND, ...)                    \
  template <>                                            \
  struct Param<TYPE> {                                   \
    static constexpr int32_t kind = KIND;                \
    using Kept = std::decay_t<TYPE>;                     \
    static Kept take(Values &from) {                     \
      const wext_value &value = from.next();             \
      (void)value;                                       \
      return __VA_ARGS__;                                \
    }                                                    \
    static const Kept &pass(Kept &kept) { return kept; } \
  };
#define WHERRY_PARAMS(TYPE, KIND, ...)  \
  WHERRY_PARAM(TYPE, KIND, __VA_ARGS__) \
  WHERRY_PARAM(const TYPE &, KIND, __VA_ARGS__)

WHERRY_PARAMS(bool, WEXT_P_BOOL, value.i != 0)
WHERRY_PARAMS(int32_t, WEXT_P_INT32, static_cast<int32_t>(value.i))
WHERRY_PARAMS(int64_t, WEXT_P_INT64, value.i)
WHERRY_PARAMS(float, WEXT_P_FLOAT, static_cast<float>(value.f))
WHERRY_PARAMS(double, WEXT_P_DOUBLE, value.f)
WHERRY_PARAMS(phi::dtype::float16, WEXT_P_FLOAT, phi::dtype::float16(static_cast<float>(value.f)))
WHERRY_PARAMS(std::string, WEXT_P_STRING, std::string(value.s ? value.s : ""))
WHERRY_PARAMS(Scalar, WEXT_P_SCALAR, value.count ? Scalar(value.f) : Scalar(value.i))
WHERRY_PARAMS(IntArray, WEXT_P_INT_ARRAY, IntArray(value.ints, value.count))
WHERRY_PARAMS(DataType, WEXT_P_DTYPE, dtype_of_code(value.i))
WHERRY_PARAMS(DataLayout, WEXT_P_LAYOUT, StringToDataLayout(value.s ? value.s : ""))
WHERRY_PARAMS(Place, WEXT_P_PLACE, from.place)
WHERRY_PARAMS(std::vector<bool>, WEXT_P_BOOLS, std::vector<bool>(value.ints, value.ints + value.count))
WHERRY_PARAMS(std::vector<int32_t>, WEXT_P_INTS, std::vector<int32_t>(value.ints, value.ints + value.count))
WHERRY_PARAMS(std::vector<int64_t>, WEXT_P_INT64S, std::vector<int64_t>(value.ints, value.ints + value.count))
WHERRY_PARAMS(std::vector<float>, WEXT_P_FLOATS, std::vector<float>(value.floats, value.floats + value.count))
WHERRY_PARAMS(std::vector<double>, WEXT_P_DOUBLES, std::vector<double>(value.floats, value.floats + value.count))
WHERRY_PARAMS(std::vector<std::string>, WEXT_P_STRINGS, std::vector<std::string>(value.strings, value.strings + value.count))
WHERRY_PARAMS(std::vector<Scalar>, WEXT_P_SCALARS, std::vector<Scalar>(value.floats, value.floats + value.count))
#undef WHERRY_PARAMS
#undef WHERRY_PARAM

inline int settle(const Output &output, wext_launch *launch, int *which) { return output.settle(launch, (*which)++); }
inline int settle(const std::deque<Output> &outputs, wext_launch *launch, int *which) {
  for (const Output &output : outputs)
    if (const int status = output.settle(launch, (*which)++)) return status;
  return WRY_OK;
}
template <typename T>
int settle(const T &, wext_launch *, int *) {
  return WRY_OK;
}

template <typename F, F f>
struct KernelRun;
template <typename... Args, void (*f)(const CustomContext &, Args...)>
struct KernelRun<void (*)(const CustomContext &, Args...), f> {
  static const int32_t *params() {
    static const int32_t kinds[] = {Param<Args>::kind..., 0};
    return kinds;
  }
  static constexpr int32_t n_params = static_cast<int32_t>(sizeof...(Args));

  template <size_t... I>
  static int apply(wext_launch *launch, std::index_sequence<I...>) {
    const CustomPlace place(launch->device_type, WRY_DEVICE_NUMBER(launch->device));
    CustomContext context(place, launch);
    Values from{launch, place};
    std::tuple<typename Param<Args>::Kept...> kept{Param<Args>::take(from)...};  // braces: from left to right
    f(context, Param<Args>::pass(std::get<I>(kept))...);
    int which = 0, status = WRY_OK;
    using swallow = int[];
    (void)swallow{0, (status = status ? status : settle(std::get<I>(kept), launch, &which))...};
    return status;
  }
  static int run(wext_launch *launch) {
    return guarded(launch, [launch] { return apply(launch, std::index_sequence_for<Args...>()); });
  }
};

template <template <typename> class Function, typename T>
void register_one(const char *name, const char *device, DataLayout layout, KernelArgsDefFn define, const char *file, int line) {
  using Run = typename Function<T>::Run;
  Kernel kernel;
  define(KernelKey(Backend::CUSTOM, layout, CppTypeToDataType<T>::Type()), &kernel);
  registered().push_back(Registered{name, device, std::vector<int32_t>(Run::params(), Run::params() + Run::n_params), wext_kernel()});
  Registered &row = registered().back();
  size_t input = 0;
  for (int32_t &kind : row.params)
    if (kind <= WEXT_P_TENSORS && input++ < kernel.inputs().size() && kernel.inputs()[input - 1].backend() == Backend::CPU) kind |= WEXT_P_HOST;
  row.entry = wext_kernel{sizeof(wext_kernel), row.name.c_str(), row.device.c_str(), code_of_dtype(CppTypeToDataType<T>::Type()),
                          static_cast<int32_t>(layout), Run::n_params, line, row.params.data(), &Run::run, file};
}

template <template <typename> class Function, typename... Types>
int register_kernels(const char *name, const char *device, DataLayout layout, KernelArgsDefFn define, const char *file, int line) {
  using swallow = int[];
  (void)swallow{0, (register_one<Function, Types>(name, device, layout, define, file, line), 0)...};
  return 0;
}

}  // namespace detail
}  // namespace phi

// Stands in the global namespace, before a body that may set what is special of the kernel's inputs and outputs.
#define PD_REGISTER_PLUGIN_KERNEL(kernel_name, backend, layout, meta_kernel_fn, ...)                                                                    \
  static void __PD_KERNEL_args_def_FN_##kernel_name##_##backend##_##layout(const ::phi::KernelKey &, ::phi::Kernel *);                                  \
  template <typename wherry_t_>                                                                                                                         \
  struct wherry_kernel_##kernel_name##_##backend##_##layout {                                                                                           \
    using Run = ::phi::detail::KernelRun<decltype(&meta_kernel_fn<wherry_t_, ::phi::CustomContext>), &meta_kernel_fn<wherry_t_, ::phi::CustomContext>>; \
  };                                                                                                                                                    \
  __attribute__((unused)) static const int wherry_registered_##kernel_name##_##backend##_##layout =                                                     \
      ::phi::detail::register_kernels<wherry_kernel_##kernel_name##_##backend##_##layout, __VA_ARGS__>(                                                 \
          #kernel_name, #backend, ::phi::DataLayout::layout, &__PD_KERNEL_args_def_FN_##kernel_name##_##backend##_##layout, __FILE__, __LINE__);        \
  void __PD_KERNEL_args_def_FN_##kernel_name##_##backend##_##layout(__attribute__((unused)) const ::phi::KernelKey &kernel_key,                         \
                                                                    __attribute__((unused)) ::phi::Kernel *kernel)
