// The C functions on tensors, contexts and attributes of a kernel, and what they work on.
//
// Objects belong to the call, but for those of PD_NewTensor. A function that takes a status says C_FAILED there for what it cannot answer;
// one that cannot say so throws, which becomes the error of the call.
#pragma once

#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddle/phi/api/ext/exception.h"
#include "paddle/phi/api/ext/kernel_table.h"
#include "paddle/phi/backends/device_ext.h"
#include "paddle/phi/core/generator.h"

using PD_Status = C_Status;
using PD_DataType = C_DataType;
using PD_DataLayout = C_DataLayout;
using PD_Stream = C_Stream;

struct PD_List {
  size_t size;
  void *data;
};

enum PD_KernelArgumentType {
  PD_ARG_TYPE_CONTEXT = 0,
  PD_ARG_TYPE_TENSOR,
  PD_ARG_TYPE_BOOL,
  PD_ARG_TYPE_BFLOAT16,
  PD_ARG_TYPE_FLOAT16,
  PD_ARG_TYPE_FLOAT32,
  PD_ARG_TYPE_FLOAT64,
  PD_ARG_TYPE_INT32,
  PD_ARG_TYPE_INT64,
  PD_ARG_TYPE_STRING,
  PD_ARG_TYPE_SCALAR,
  PD_ARG_TYPE_INT_ARRAY,
  PD_ARG_TYPE_DATA_TYPE,
  PD_ARG_TYPE_DATA_LAYOUT,
  PD_ARG_TYPE_PLACE,
  PD_ARG_TYPE_LIST_BOOL,
  PD_ARG_TYPE_LIST_INT32,
  PD_ARG_TYPE_LIST_INT64,
  PD_ARG_TYPE_LIST_BFLOAT16,
  PD_ARG_TYPE_LIST_FLOAT16,
  PD_ARG_TYPE_LIST_FLOAT32,
  PD_ARG_TYPE_LIST_FLOAT64,
  PD_ARG_TYPE_LIST_STRING,
  PD_ARG_TYPE_LIST_SCALAR,
  PD_ARG_TYPE_OPTIONAL_TENSOR,
  PD_ARG_TYPE_LIST_TENSOR,
  PD_ARG_TYPE_OPTIONAL_MULTI_TENSOR
};

namespace phi {
namespace capi {
namespace detail {

inline PD_DataType dtype_of_code(int64_t code) {
  static const PD_DataType types[] = {::BOOL, ::UINT8, ::INT8, ::INT16, ::INT32, ::INT64, ::FLOAT16, ::BFLOAT16, ::FLOAT32, ::FLOAT64, ::COMPLEX64, ::COMPLEX128};
  return code >= 0 && code < WRY_NUM_DTYPES ? types[code] : ::UNDEFINED;
}
inline int32_t code_of_dtype(PD_DataType dtype) {
  for (int32_t code = 0; code < WRY_NUM_DTYPES; ++code)
    if (dtype_of_code(code) == dtype) return code;
  return -1;
}
inline size_t size_of(PD_DataType dtype) {
  static const unsigned char sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  return sizes[dtype];
}
inline PD_DataLayout layout_of(const std::string &name) { return name == "NHWC" ? ::NHWC : name == "NCHW" ? ::NCHW
                                                                                       : name == "NCDHW"  ? ::NCDHW
                                                                                       : name == "NDHWC"  ? ::NDHWC
                                                                                                          : ::ALL_LAYOUT; }
inline int64_t product(const std::vector<int64_t> &sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>()); }

struct Memory {
  void *data;
  size_t bytes;
  bool host;
  bool own;
  Memory(void *at, size_t size, bool on_host, bool to_free) : data(at), bytes(size), host(on_host), own(to_free) {}
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    if (own) std::free(data);
  }
};

}  // namespace detail
}  // namespace capi
}  // namespace phi

struct PD_Tensor {
  PD_DataType dtype = UNDEFINED;
  PD_DataLayout layout = NCHW;
  std::vector<int64_t> dims = {0};
  std::vector<int64_t> strides;  // none: those of contiguous memory
  size_t offset = 0;
  std::vector<std::vector<size_t>> lod;
  std::shared_ptr<phi::capi::detail::Memory> holder, lent;  // lent: the memory of an output, which Alloc gives when it suffices
  const wext_tensor *expected = nullptr;                    // an output
};

struct PD_DeviceContext {
  wext_launch *launch = nullptr;
  phi::Generator generator;
};

struct PD_Scalar {
  PD_DataType dtype = FLOAT64;
  int64_t whole = 0;
  double real = 0;
  template <typename T>
  T to() const {
    return dtype == INT64 ? static_cast<T>(whole) : static_cast<T>(real);
  }
};

struct PD_IntArray {
  std::vector<int64_t> values;
};

struct PD_Place {
  bool host = false;
  int8_t device = 0;
};

struct PD_TensorArgDef {
  PD_DataLayout layout = ALL_LAYOUT;
  PD_DataType dtype = UNDEFINED;
};
struct PD_KernelArgsDef {
  std::deque<PD_TensorArgDef> inputs, outputs;
};
struct PD_Kernel {
  PD_KernelArgsDef defs;
};
struct PD_KernelKey {
  PD_DataLayout layout;
  PD_DataType dtype;
};

namespace phi {
namespace capi {
namespace detail {

// An attribute, in each form that it may be asked for.
struct Attr {
  const wext_value *value;
  std::string text;
  PD_Scalar scalar;
  PD_IntArray array;
  PD_Place place;
  std::vector<uint8_t> bools;
  std::vector<int32_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<PD_Scalar> scalars;
  std::vector<void *> pointers;
};

// An input or an output: one tensor, none, or a list.
struct Slot {
  std::deque<PD_Tensor> tensors;
  std::vector<void *> pointers;
};

template <typename T>
PD_List list_of(std::vector<T> &values) {
  return PD_List{values.size(), values.data()};
}
template <typename T>
PD_List pointers_to(T &items, std::vector<void *> *pointers) {
  pointers->clear();
  for (auto &item : items) pointers->push_back(&item);
  return list_of(*pointers);
}

// For PD_DeletePointerList.
template <typename T>
PD_List new_pointers_to(T &items) {
  void **to = new void *[items.size()];
  PD_List found{items.size(), to};
  for (auto &item : items) *to++ = &item;
  return found;
}

inline bool tell(PD_Status *status, bool good) {
  if (status) *status = good ? C_SUCCESS : C_FAILED;
  return good;
}

}  // namespace detail
}  // namespace capi
}  // namespace phi

// What a kernel is called with: its inputs, attributes and outputs, each numbered from 0.
struct PD_KernelContext {
  PD_DeviceContext device;
  std::deque<phi::capi::detail::Slot> inputs, outputs;
  std::deque<phi::capi::detail::Attr> attrs;

  explicit PD_KernelContext(wext_launch *launch) {
    device.launch = launch;
    device.generator = phi::Generator(launch->seed, launch->offset);
    for (int32_t i = 0; i < launch->count; ++i) {
      const wext_value &value = launch->values[i];
      if (value.kind == WEXT_P_OUTPUT || value.kind == WEXT_P_OUTPUTS)
        add(&outputs, value, true);
      else if (value.kind <= WEXT_P_TENSORS)
        add(&inputs, value, false);
      else
        attrs.push_back(phi::capi::detail::Attr{&value, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}});
    }
  }

  template <typename Items>
  auto &at(Items &items, size_t index, const char *what) {
    if (index >= items.size()) PD_THROW("the kernel asks for ", what, " ", index, ", and has ", items.size());
    return items[index];
  }
  phi::capi::detail::Attr &attr(size_t index) { return at(attrs, index, "attribute"); }
  const wext_value &value(size_t index) { return *attr(index).value; }
  template <typename T>
  PD_List list(size_t index, std::vector<T> phi::capi::detail::Attr::*field) {
    phi::capi::detail::Attr &found = attr(index);
    const wext_value &given = *found.value;
    auto &to = found.*field;
    if (std::is_floating_point<T>::value)
      to.assign(given.floats, given.floats + given.count);
    else
      to.assign(given.ints, given.ints + given.count);
    return phi::capi::detail::list_of(to);
  }

 private:
  static void add(std::deque<phi::capi::detail::Slot> *slots, const wext_value &value, bool output) {
    slots->emplace_back();
    for (int32_t i = 0; i < value.count; ++i) {
      const wext_tensor &given = value.tensors[i];
      slots->back().tensors.emplace_back();
      PD_Tensor &made = slots->back().tensors.back();
      made.dtype = phi::capi::detail::dtype_of_code(given.dtype);
      made.dims.assign(given.shape, given.shape + given.rank);
      const size_t bytes = static_cast<size_t>(phi::capi::detail::product(made.dims)) * phi::capi::detail::size_of(made.dtype);
      (output ? made.lent : made.holder) = std::make_shared<phi::capi::detail::Memory>(given.data, bytes, given.device == WRY_CPU, false);
      if (output) made.expected = &given;
    }
  }
};

extern "C" {

inline void PD_DeletePointerList(PD_List list) { delete[] static_cast<void **>(list.data); }
inline void PD_DeleteUInt8List(PD_List list) { delete[] static_cast<uint8_t *>(list.data); }
inline void PD_DeleteInt64List(PD_List list) { delete[] static_cast<int64_t *>(list.data); }
inline void PD_DeleteInt32List(PD_List list) { delete[] static_cast<int32_t *>(list.data); }
inline void PD_DeleteFloat64List(PD_List list) { delete[] static_cast<double *>(list.data); }
inline void PD_DeleteFloat32List(PD_List list) { delete[] static_cast<float *>(list.data); }

// Tensors.
inline PD_Tensor *PD_NewTensor() { return new PD_Tensor(); }
inline void PD_DeleteTensor(PD_Tensor *tensor) { delete tensor; }
inline PD_DataType PD_TensorGetPDDataType(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? tensor->dtype : UNDEFINED; }
inline PD_DataLayout PD_TensorGetDataLayout(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? tensor->layout : ALL_LAYOUT; }
inline int64_t PD_TensorGetByteSize(const PD_Tensor *tensor, PD_Status *status) {
  return phi::capi::detail::tell(status, tensor) && tensor->holder ? static_cast<int64_t>(tensor->holder->bytes) : 0;
}
inline void *PD_TensorGetDataPointer(const PD_Tensor *tensor, PD_Status *status) {
  return phi::capi::detail::tell(status, tensor && tensor->holder) ? static_cast<char *>(tensor->holder->data) + tensor->offset : nullptr;
}
inline int64_t PD_TensorGetElementCount(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? phi::capi::detail::product(tensor->dims) : 0; }
inline int64_t PD_TensorGetNumDims(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? static_cast<int64_t>(tensor->dims.size()) : 0; }
inline int64_t PD_TensorGetDim(const PD_Tensor *tensor, size_t index, PD_Status *status) {
  return phi::capi::detail::tell(status, tensor && index < tensor->dims.size()) ? tensor->dims[index] : 0;
}
inline int64_t PD_TensorGetNumStrides(const PD_Tensor *tensor, PD_Status *status) { return PD_TensorGetNumDims(tensor, status); }
inline int64_t PD_TensorGetStride(const PD_Tensor *tensor, size_t index, PD_Status *status) {
  if (!phi::capi::detail::tell(status, tensor && index < tensor->dims.size())) return 0;
  if (!tensor->strides.empty()) return tensor->strides[index];
  return phi::capi::detail::product({tensor->dims.begin() + static_cast<std::ptrdiff_t>(index) + 1, tensor->dims.end()});
}
inline bool PD_TensorIsInitialized(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) && tensor->holder; }
inline bool PD_TensorIsValid(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) && tensor->dtype != UNDEFINED; }
inline void *PD_TensorGetHolder(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? tensor->holder.get() : nullptr; }
inline size_t PD_TensorGetOffset(const PD_Tensor *tensor, PD_Status *status) { return phi::capi::detail::tell(status, tensor) ? tensor->offset : 0; }
inline void PD_TensorSetDims(PD_Tensor *tensor, int64_t ndims, const int64_t *dims, PD_Status *status) {
  if (!phi::capi::detail::tell(status, tensor && ndims >= 0)) return;
  tensor->dims.assign(dims, dims + ndims);
  tensor->strides.clear();
}
inline void PD_TensorSetOffset(PD_Tensor *tensor, const int64_t offset, PD_Status *status) {
  if (phi::capi::detail::tell(status, tensor && offset >= 0)) tensor->offset = static_cast<size_t>(offset);
}
inline void PD_TensorSetStrides(PD_Tensor *tensor, int64_t nstrides, const int64_t *strides, PD_Status *status) {
  if (phi::capi::detail::tell(status, tensor && nstrides == static_cast<int64_t>(tensor->dims.size()))) tensor->strides.assign(strides, strides + nstrides);
}
inline void PD_TensorSetDataType(PD_Tensor *tensor, PD_DataType dtype, PD_Status *status) {
  if (phi::capi::detail::tell(status, tensor)) tensor->dtype = dtype;
}
inline void PD_TensorSetDataLayout(PD_Tensor *tensor, PD_DataLayout layout, PD_Status *status) {
  if (phi::capi::detail::tell(status, tensor)) tensor->layout = layout;
}
// `offset` has the number of entries of each level, `data` all entries.
inline void PD_TensorResetLoD(PD_Tensor *tensor, PD_List data, PD_List offset, PD_Status *status) {
  if (!phi::capi::detail::tell(status, tensor)) return;
  tensor->lod.clear();
  const size_t *next = static_cast<const size_t *>(data.data);
  for (size_t i = 0; i < offset.size; ++i) {
    const size_t n = static_cast<const size_t *>(offset.data)[i];
    tensor->lod.emplace_back(next, next + n);
    next += n;
  }
}
// Gives two new arrays in the form of PD_TensorResetLoD.
inline void PD_TensorGetLoD(const PD_Tensor *tensor, PD_List *data, PD_List *offset, PD_Status *status) {
  if (!phi::capi::detail::tell(status, tensor && data && offset)) return;
  std::vector<size_t> all, counts;
  for (const auto &level : tensor->lod) {
    all.insert(all.end(), level.begin(), level.end());
    counts.push_back(level.size());
  }
  for (auto &pair : {std::make_pair(data, &all), std::make_pair(offset, &counts)}) {
    int64_t *copy = new int64_t[pair.second->size()];
    std::copy(pair.second->begin(), pair.second->end(), copy);
    *pair.first = PD_List{pair.second->size(), copy};
  }
}
inline void PD_TensorShareDataWith(PD_Tensor *dst, const PD_Tensor *src, PD_Status *status) {
  if (!phi::capi::detail::tell(status, dst && src)) return;
  dst->dtype = src->dtype, dst->layout = src->layout, dst->dims = src->dims, dst->strides = src->strides, dst->offset = src->offset, dst->holder = src->holder;
}
inline void PD_TensorShareLoDWith(PD_Tensor *dst, const PD_Tensor *src, PD_Status *status) {
  if (phi::capi::detail::tell(status, dst && src)) dst->lod = src->lod;
}

// The context. Memory is that of the device, for the time of the call; without a context that of the host.
inline PD_Stream PD_DeviceContextGetStream(const PD_DeviceContext *ctx, PD_Status *status) {
  return phi::capi::detail::tell(status, ctx) ? static_cast<PD_Stream>(ctx->launch->stream) : nullptr;
}
inline void *PD_DeviceContextAllocateTensor(const PD_DeviceContext *ctx, PD_Tensor *tensor, size_t size, PD_DataType dtype, PD_Status *status) {
  if (!phi::capi::detail::tell(status, tensor)) return nullptr;
  if (dtype != UNDEFINED) tensor->dtype = dtype;
  const size_t wanted = static_cast<size_t>(phi::capi::detail::product(tensor->dims)) * phi::capi::detail::size_of(tensor->dtype);
  const size_t bytes = wanted > size ? wanted : size;
  auto &holder = tensor->holder;
  if (ctx && tensor->lent && bytes <= tensor->lent->bytes && (!holder || holder == tensor->lent)) {
    holder = tensor->lent;
    tensor->offset = 0;
  } else if (!holder || holder->host == (ctx != nullptr) || holder->bytes < bytes + tensor->offset) {
    void *data = ctx ? ctx->launch->allocate(ctx->launch, bytes) : std::malloc(bytes ? bytes : 1);
    if (!data) PADDLE_THROW(phi::errors::ResourceExhausted("there are no %d bytes left for a kernel", bytes));
    holder = std::make_shared<phi::capi::detail::Memory>(data, bytes, !ctx, !ctx);
    tensor->offset = 0;
  }
  return static_cast<char *>(holder->data) + tensor->offset;
}
inline void PD_DeviceContextSetSeed(const PD_DeviceContext *ctx, uint64_t seed, PD_Status *status) {
  if (phi::capi::detail::tell(status, ctx)) const_cast<PD_DeviceContext *>(ctx)->generator.SetCurrentSeed(seed);
}
inline uint64_t PD_DeviceContextGetSeed(const PD_DeviceContext *ctx, PD_Status *status) { return phi::capi::detail::tell(status, ctx) ? ctx->generator.GetCurrentSeed() : 0; }
inline uint64_t PD_DeviceContextGetRandom(const PD_DeviceContext *ctx, PD_Status *status) {
  return phi::capi::detail::tell(status, ctx) ? const_cast<PD_DeviceContext *>(ctx)->generator.Random64() : 0;
}

// Attributes that are objects.
inline bool PD_ScalarGetBoolData(PD_Scalar *scalar) { return scalar->to<bool>(); }
inline int8_t PD_ScalarGetInt8Data(PD_Scalar *scalar) { return scalar->to<int8_t>(); }
inline int16_t PD_ScalarGetInt16Data(PD_Scalar *scalar) { return scalar->to<int16_t>(); }
inline int32_t PD_ScalarGetInt32Data(PD_Scalar *scalar) { return scalar->to<int32_t>(); }
inline int64_t PD_ScalarGetInt64Data(PD_Scalar *scalar) { return scalar->to<int64_t>(); }
inline uint8_t PD_ScalarGetUInt8Data(PD_Scalar *scalar) { return scalar->to<uint8_t>(); }
inline uint16_t PD_ScalarGetUInt16Data(PD_Scalar *scalar) { return scalar->to<uint16_t>(); }
inline uint32_t PD_ScalarGetUInt32Data(PD_Scalar *scalar) { return scalar->to<uint32_t>(); }
inline uint64_t PD_ScalarGetUInt64Data(PD_Scalar *scalar) { return scalar->to<uint64_t>(); }
inline float PD_ScalarGetFloat32Data(PD_Scalar *scalar) { return scalar->to<float>(); }
inline double PD_ScalarGetFloat64Data(PD_Scalar *scalar) { return scalar->to<double>(); }
inline PD_DataType PD_ScalarGetDataType(PD_Scalar *scalar) { return scalar->dtype; }
inline PD_List PD_IntArrayGetDataPointer(PD_IntArray *int_array) { return phi::capi::detail::list_of(int_array->values); }
inline size_t PD_IntArrayGetElementCount(PD_IntArray *int_array) { return int_array->values.size(); }
inline bool PD_PlaceIsHost(PD_Place *place) { return place->host; }
inline int8_t PD_PlaceGetDeviceId(PD_Place *place) { return place->device; }

// Parameters of a kernel. What a list points to belongs to the call.
inline PD_DeviceContext *PD_KernelContextGetDeviceContext(PD_KernelContext *ctx) { return &ctx->device; }
inline PD_Tensor *PD_KernelContextInputAt(PD_KernelContext *ctx, size_t index) {
  auto &slot = ctx->at(ctx->inputs, index, "input");
  return slot.tensors.empty() ? nullptr : &slot.tensors[0];
}
inline PD_Tensor *PD_KernelContextOutputAt(PD_KernelContext *ctx, size_t index) {
  auto &slot = ctx->at(ctx->outputs, index, "output");
  return slot.tensors.empty() ? nullptr : &slot.tensors[0];
}
inline PD_List PD_KernelContextMultiInputAt(PD_KernelContext *ctx, size_t index) {
  auto &slot = ctx->at(ctx->inputs, index, "input");
  return phi::capi::detail::pointers_to(slot.tensors, &slot.pointers);
}
inline PD_List PD_KernelContextMultiOutputAt(PD_KernelContext *ctx, size_t index) {
  auto &slot = ctx->at(ctx->outputs, index, "output");
  return phi::capi::detail::pointers_to(slot.tensors, &slot.pointers);
}
inline bool PD_KernelContextBoolAttrAt(PD_KernelContext *ctx, size_t index) { return ctx->value(index).i != 0; }
inline int32_t PD_KernelContextInt32AttrAt(PD_KernelContext *ctx, size_t index) { return static_cast<int32_t>(ctx->value(index).i); }
inline int64_t PD_KernelContextInt64AttrAt(PD_KernelContext *ctx, size_t index) { return ctx->value(index).i; }
inline float PD_KernelContextFloatAttrAt(PD_KernelContext *ctx, size_t index) { return static_cast<float>(ctx->value(index).f); }
inline double PD_KernelContextDoubleAttrAt(PD_KernelContext *ctx, size_t index) { return ctx->value(index).f; }
inline PD_Scalar *PD_KernelContextScalarAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.scalar = PD_Scalar{attr.value->count ? FLOAT64 : INT64, attr.value->i, attr.value->f};
  return &attr.scalar;
}
inline PD_IntArray *PD_KernelContextIntArrayAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.array.values.assign(attr.value->ints, attr.value->ints + attr.value->count);
  return &attr.array;
}
inline PD_DataType PD_KernelContextDataTypeAttrAt(PD_KernelContext *ctx, size_t index) { return phi::capi::detail::dtype_of_code(ctx->value(index).i); }
inline PD_DataLayout PD_KernelContextDataLayoutAttrAt(PD_KernelContext *ctx, size_t index) {
  const char *name = ctx->value(index).s;
  return phi::capi::detail::layout_of(name ? name : "");
}
inline char *PD_KernelContextStringAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.text = attr.value->s ? attr.value->s : "";
  return &attr.text[0];
}
inline PD_List PD_KernelContextListBoolAttrAt(PD_KernelContext *ctx, size_t index) { return ctx->list(index, &phi::capi::detail::Attr::bools); }
inline PD_List PD_KernelContextListInt32AttrAt(PD_KernelContext *ctx, size_t index) { return ctx->list(index, &phi::capi::detail::Attr::ints); }
inline PD_List PD_KernelContextListInt64AttrAt(PD_KernelContext *ctx, size_t index) {
  return phi::capi::detail::list_of(PD_KernelContextIntArrayAttrAt(ctx, index)->values);
}
inline PD_List PD_KernelContextListFloatAttrAt(PD_KernelContext *ctx, size_t index) { return ctx->list(index, &phi::capi::detail::Attr::floats); }
inline PD_List PD_KernelContextListDoubleAttrAt(PD_KernelContext *ctx, size_t index) { return ctx->list(index, &phi::capi::detail::Attr::doubles); }
inline PD_List PD_KernelContextListStringAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.pointers.clear();
  for (int32_t i = 0; i < attr.value->count; ++i) attr.pointers.push_back(const_cast<char *>(attr.value->strings[i]));
  return phi::capi::detail::list_of(attr.pointers);
}
inline PD_List PD_KernelContextListScalarAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.scalars.clear();
  for (int32_t i = 0; i < attr.value->count; ++i) attr.scalars.push_back(PD_Scalar{FLOAT64, 0, attr.value->floats[i]});
  return phi::capi::detail::pointers_to(attr.scalars, &attr.pointers);
}
inline PD_Place *PD_KernelContextPlaceAttrAt(PD_KernelContext *ctx, size_t index) {
  auto &attr = ctx->attr(index);
  attr.place.device = static_cast<int8_t>(WRY_DEVICE_NUMBER(ctx->device.launch->device));
  return &attr.place;
}

// What is special of the inputs and outputs of a kernel. Lists are for PD_DeletePointerList.
inline void PD_TensorArgDefSetDataLayout(PD_TensorArgDef *def, PD_DataLayout layout, PD_Status *status) {
  if (phi::capi::detail::tell(status, def)) def->layout = layout;
}
inline void PD_TensorArgDefSetDataType(PD_TensorArgDef *def, PD_DataType dtype, PD_Status *status) {
  if (phi::capi::detail::tell(status, def)) def->dtype = dtype;
}
inline PD_List PD_KernelArgsDefGetInputArgDefs(PD_KernelArgsDef *def, PD_Status *status) {
  return phi::capi::detail::tell(status, def) ? phi::capi::detail::new_pointers_to(def->inputs) : PD_List{0, nullptr};
}
inline PD_List PD_KernelArgsDefGetOutputArgDefs(PD_KernelArgsDef *def, PD_Status *status) {
  return phi::capi::detail::tell(status, def) ? phi::capi::detail::new_pointers_to(def->outputs) : PD_List{0, nullptr};
}
inline PD_DataLayout PD_KernelKeyGetLayout(PD_KernelKey *key, PD_Status *status) { return phi::capi::detail::tell(status, key) ? key->layout : ALL_LAYOUT; }
inline PD_DataType PD_KernelKeyGetDataType(PD_KernelKey *key, PD_Status *status) { return phi::capi::detail::tell(status, key) ? key->dtype : UNDEFINED; }
inline PD_KernelArgsDef *PD_KernelGetArgsDef(PD_Kernel *kernel, PD_Status *status) { return phi::capi::detail::tell(status, kernel) ? &kernel->defs : nullptr; }

}  // extern "C"
