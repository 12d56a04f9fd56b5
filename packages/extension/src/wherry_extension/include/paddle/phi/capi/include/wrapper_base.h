// Tensors, contexts and attributes as C++ objects, which refer to those of C. A copy refers to the same.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paddle/phi/capi/include/c_api.h"
#include "paddle/phi/common/bfloat16.h"
#include "paddle/phi/common/complex.h"
#include "paddle/phi/common/float16.h"

#define PD_CHECK_STATUS(status) PD_CHECK(status == C_SUCCESS)

#define WHERRY_CAPI_DTYPES(_)                \
  _(bool, BOOL)                              \
  _(::phi::dtype::bfloat16, BFLOAT16)        \
  _(::phi::dtype::float16, FLOAT16)          \
  _(float, FLOAT32)                          \
  _(double, FLOAT64)                         \
  _(uint8_t, UINT8)                          \
  _(uint16_t, UINT16)                        \
  _(uint32_t, UINT32)                        \
  _(uint64_t, UINT64)                        \
  _(int8_t, INT8)                            \
  _(int16_t, INT16)                          \
  _(int32_t, INT32)                          \
  _(int64_t, INT64)                          \
  _(::phi::dtype::complex<float>, COMPLEX64) \
  _(::phi::dtype::complex<double>, COMPLEX128)

namespace phi {
namespace capi {

template <typename T>
struct CppTypeToPDType;
template <PD_DataType T>
struct PDTypeToCppType;
#define WHERRY_CAPI_DTYPE(cpp, name)                       \
  template <>                                              \
  struct CppTypeToPDType<cpp> {                            \
    static constexpr PD_DataType Type() { return ::name; } \
  };                                                       \
  template <>                                              \
  struct PDTypeToCppType<::name> {                         \
    using type = cpp;                                      \
  };
WHERRY_CAPI_DTYPES(WHERRY_CAPI_DTYPE)
#undef WHERRY_CAPI_DTYPE

using LoD = std::vector<std::vector<size_t>>;

template <typename T>
PD_List PDListFromVector(std::vector<T> *vec) {
  return detail::list_of(*vec);
}
template <typename T>
std::vector<T> PDListToVector(PD_List list) {
  const T *data = static_cast<const T *>(list.data);
  return std::vector<T>(data, data + list.size);
}

inline std::vector<int64_t> PD_TensorGetDims(PD_Tensor *tensor, PD_Status *status) { return detail::tell(status, tensor) ? tensor->dims : std::vector<int64_t>(); }
inline std::vector<int64_t> PD_TensorGetStrides(PD_Tensor *tensor, PD_Status *status) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < PD_TensorGetNumStrides(tensor, status); ++i) found.push_back(PD_TensorGetStride(tensor, static_cast<size_t>(i), status));
  return found;
}

template <typename T>
class WrapperBase {
 public:
  explicit WrapperBase(T *ptr, bool own = false) : data_(ptr), own_(own) {}
  T *raw_data() const { return data_; }
  bool own_data() const { return own_; }
  void reset(const T *ptr) {
    data_ = const_cast<T *>(ptr);
    own_ = false;
  }

 private:
  T *data_;
  bool own_;
};

class DenseTensor : public WrapperBase<PD_Tensor> {
 public:
  DenseTensor() : DenseTensor(std::make_shared<PD_Tensor>()) {}
  explicit DenseTensor(PD_Tensor *tensor) : WrapperBase<PD_Tensor>(tensor) {}

  bool valid() const { return ask(PD_TensorIsValid); }
  bool initialized() const { return ask(PD_TensorIsInitialized); }
  void *Holder() const { return ask(PD_TensorGetHolder); }
  size_t offset() const { return ask(PD_TensorGetOffset); }
  std::vector<int64_t> dims() const { return there()->dims; }
  std::vector<int64_t> strides() const { return PD_TensorGetStrides(there(), nullptr); }
  PD_DataType dtype() const { return ask(PD_TensorGetPDDataType); }
  PD_DataLayout layout() const { return ask(PD_TensorGetDataLayout); }
  int64_t numel() const { return ask(PD_TensorGetElementCount); }
  int64_t memory_size() const { return ask(PD_TensorGetByteSize); }
  LoD lod() const { return there()->lod; }
  void ResetLoD(const LoD &lod) { there()->lod = lod; }
  void Resize(const std::vector<int64_t> &dims) { PD_TensorSetDims(there(), static_cast<int64_t>(dims.size()), dims.data(), nullptr); }
  void set_offset(const int64_t &offset) { PD_TensorSetOffset(there(), offset, nullptr); }
  void set_strides(const std::vector<int64_t> &strides) {
    PD_Status status;
    PD_TensorSetStrides(there(), static_cast<int64_t>(strides.size()), strides.data(), &status);
    PD_CHECK(status == C_SUCCESS, "set_strides: got ", strides.size(), " strides, expected ", there()->dims.size());
  }
  void set_dtype(PD_DataType data_type) { there()->dtype = data_type; }
  void set_layout(PD_DataLayout data_layout) { there()->layout = data_layout; }

  template <typename T>
  T *data() const {
    return static_cast<T *>(data());
  }
  void *data() const {
    PD_Status status;
    void *found = PD_TensorGetDataPointer(there(), &status);
    PD_CHECK(status == C_SUCCESS, "a DenseTensor has no memory yet: call dev_ctx.Alloc first");
    return found;
  }
  DenseTensor &ShareDataWith(const DenseTensor &src) {
    PD_TensorShareDataWith(there(), src.there(), nullptr);
    return *this;
  }
  void share_lod(const DenseTensor &src) { PD_TensorShareLoDWith(there(), src.there(), nullptr); }

 private:
  explicit DenseTensor(std::shared_ptr<PD_Tensor> made) : WrapperBase<PD_Tensor>(made.get(), true), made_(std::move(made)) {}
  PD_Tensor *there() const {
    PD_CHECK(raw_data(), "a DenseTensor refers to nothing: the input or output was left out");
    return raw_data();
  }
  template <typename R>
  R ask(R (*question)(const PD_Tensor *, PD_Status *)) const {
    return question(there(), nullptr);
  }

  std::shared_ptr<PD_Tensor> made_;
};

class DeviceContext : public WrapperBase<PD_DeviceContext> {
 public:
  explicit DeviceContext(PD_DeviceContext *context) : WrapperBase<PD_DeviceContext>(context) {}
  void *stream() const { return PD_DeviceContextGetStream(raw_data(), nullptr); }
  void *Alloc(DenseTensor *tensor, PD_DataType dtype, int64_t requested_size = 0) const { return allocate(raw_data(), tensor, dtype, requested_size); }
  template <typename T>
  T *Alloc(DenseTensor *tensor, int64_t requested_size = 0) const {
    return static_cast<T *>(Alloc(tensor, CppTypeToPDType<T>::Type(), requested_size));
  }
  void *HostAlloc(DenseTensor *tensor, PD_DataType dtype, int64_t requested_size = 0) const { return allocate(nullptr, tensor, dtype, requested_size); }
  template <typename T>
  T *HostAlloc(DenseTensor *tensor, int64_t requested_size = 0) const {
    return static_cast<T *>(HostAlloc(tensor, CppTypeToPDType<T>::Type(), requested_size));
  }
  uint64_t seed() const { return PD_DeviceContextGetSeed(raw_data(), nullptr); }
  void seed(uint64_t seed_val) const { PD_DeviceContextSetSeed(raw_data(), seed_val, nullptr); }
  uint64_t random() const { return PD_DeviceContextGetRandom(raw_data(), nullptr); }

 private:
  static void *allocate(const PD_DeviceContext *context, DenseTensor *tensor, PD_DataType dtype, int64_t size) {
    PD_CHECK(tensor && tensor->raw_data(), "Alloc: got no tensor");
    return PD_DeviceContextAllocateTensor(context, tensor->raw_data(), static_cast<size_t>(size), dtype, nullptr);
  }
};

class Scalar : public WrapperBase<PD_Scalar> {
 public:
  explicit Scalar(PD_Scalar *scalar) : WrapperBase<PD_Scalar>(scalar) {}
  PD_DataType dtype() const { return raw_data()->dtype; }
  template <typename T>
  T to() const {
    return raw_data()->template to<T>();
  }
};

class IntArray : public WrapperBase<PD_IntArray> {
 public:
  explicit IntArray(PD_IntArray *int_array) : WrapperBase<PD_IntArray>(int_array) {}
  size_t size() const { return raw_data()->values.size(); }
  std::vector<int64_t> GetData() const { return raw_data()->values; }
};

class Place : public WrapperBase<PD_Place> {
 public:
  explicit Place(PD_Place *place) : WrapperBase<PD_Place>(place) {}
  bool is_host() { return raw_data()->host; }
  int8_t GetDeviceID() { return raw_data()->device; }
};

class TensorArgDef : public WrapperBase<PD_TensorArgDef> {
 public:
  explicit TensorArgDef(PD_TensorArgDef *tensor_arg_def) : WrapperBase<PD_TensorArgDef>(tensor_arg_def) {}
  TensorArgDef &SetDataLayout(PD_DataLayout in_layout) {
    raw_data()->layout = in_layout;
    return *this;
  }
  TensorArgDef &SetDataType(PD_DataType in_dtype) {
    raw_data()->dtype = in_dtype;
    return *this;
  }
};

class KernelArgsDef : public WrapperBase<PD_KernelArgsDef> {
 public:
  explicit KernelArgsDef(PD_KernelArgsDef *kernel_args_def) : WrapperBase<PD_KernelArgsDef>(kernel_args_def) {}
  std::vector<TensorArgDef> input_defs() { return each(raw_data()->inputs); }
  std::vector<TensorArgDef> output_defs() { return each(raw_data()->outputs); }

 private:
  static std::vector<TensorArgDef> each(std::deque<PD_TensorArgDef> &defs) {
    std::vector<TensorArgDef> found;
    for (auto &def : defs) found.emplace_back(&def);
    return found;
  }
};

class KernelKey : public WrapperBase<PD_KernelKey> {
 public:
  explicit KernelKey(PD_KernelKey *kernel_key) : WrapperBase<PD_KernelKey>(kernel_key) {}
  PD_DataLayout layout() const { return raw_data()->layout; }
  PD_DataType dtype() const { return raw_data()->dtype; }
};

class Kernel : public WrapperBase<PD_Kernel> {
 public:
  explicit Kernel(PD_Kernel *kernel) : WrapperBase<PD_Kernel>(kernel) {}
  KernelArgsDef args_def() const { return KernelArgsDef(&raw_data()->defs); }
  TensorArgDef InputAt(size_t idx) { return at(args_def().input_defs(), idx, "input"); }
  TensorArgDef OutputAt(size_t idx) { return at(args_def().output_defs(), idx, "output"); }

 private:
  static TensorArgDef at(const std::vector<TensorArgDef> &defs, size_t index, const char *what) {
    PD_CHECK(index < defs.size(), "the kernel has ", defs.size(), " of them, and is asked for ", what, " ", index);
    return defs[index];
  }
};

}  // namespace capi

using LoD = capi::LoD;
using Context = capi::DeviceContext;
using DenseTensor = capi::DenseTensor;
using Scalar = capi::Scalar;
using IntArray = capi::IntArray;
using Place = capi::Place;
using DataType = ::PD_DataType;
using DataLayout = ::PD_DataLayout;

}  // namespace phi
