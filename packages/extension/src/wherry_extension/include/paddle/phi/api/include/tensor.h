// paddle::Tensor: what a custom operator receives, computes on and returns.
//
// A tensor that came in as an input, or took the place of an output, borrows memory that the framework lends for one call. If it
// is still held when the call ends, its values are copied first, so that no tensor outlives its memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "paddle/phi/api/ext/exception.h"
#include "paddle/phi/api/ext/host.h"
#include "paddle/phi/common/data_type.h"
#include "paddle/phi/common/int_array.h"
#include "paddle/phi/common/place.h"
#include "paddle/phi/common/scalar.h"
#include "paddle/phi/core/ddim.h"
#include "paddle/phi/core/dense_tensor.h"

#ifdef PADDLE_WITH_CUDA
#include <cuda_runtime.h>
#endif

// Of one library, even where several of them are loaded.
#if defined(_WIN32)
#define WHERRY_OF_LIBRARY
#else
#define WHERRY_OF_LIBRARY __attribute__((visibility("hidden")))
#endif
#ifndef PADDLE_API
#define PADDLE_API
#endif

namespace paddle {

class Tensor;

// What a tensor is to automatic differentiation. The framework keeps none with the tensors of an operator.
class AbstractAutogradMeta {
 public:
  virtual ~AbstractAutogradMeta() = default;
};

namespace detail {

WHERRY_OF_LIBRARY inline const wext_host *&host() {
  static const wext_host *found = nullptr;
  return found;
}

inline int wry_dtype_of(DataType dtype) {
  static const signed char codes[] = {-1, WRY_BOOL, WRY_UINT8, WRY_INT8, -1, WRY_INT16, -1, WRY_INT32, -1, WRY_INT64, WRY_FLOAT32,
                                      WRY_FLOAT64, WRY_COMPLEX64, WRY_COMPLEX128, -1, WRY_FLOAT16, WRY_BFLOAT16};
  const int code = dtype < DataType::NUM_DATA_TYPES ? codes[static_cast<int>(dtype)] : -1;
  if (code < 0) PD_THROW("tensors cannot have elements of type ", ToString(dtype), ", expected one that paddle.Tensor has");
  return code;
}

inline DataType dtype_of(int code) {
  static const DataType types[] = {DataType::BOOL, DataType::UINT8, DataType::INT8, DataType::INT16, DataType::INT32, DataType::INT64,
                                   DataType::FLOAT16, DataType::BFLOAT16, DataType::FLOAT32, DataType::FLOAT64, DataType::COMPLEX64, DataType::COMPLEX128};
  return code >= 0 && code < WRY_NUM_DTYPES ? types[code] : DataType::UNDEFINED;
}

inline Place place_of(int32_t device) {
  if (device == WRY_CPU) return CPUPlace();
  const char *name = host() ? host()->device_name(device) : nullptr;
  const int number = WRY_DEVICE_NUMBER(device);
  if (name && std::strcmp(name, "gpu") == 0) return GPUPlace(number);
  return CustomPlace(name ? name : "unknown", number);
}

inline int32_t device_of(const Place &place) {
  if (place.GetType() == AllocationType::CPU || place.GetType() == AllocationType::UNDEFINED) return WRY_CPU;
  const std::string name = place.GetType() == AllocationType::GPU ? "gpu" : place.GetDeviceType();
  const int32_t code = host() ? host()->device_code(name.c_str(), place.GetDeviceId()) : -1;
  if (code < 0) PD_THROW("there is no device ", place.DebugString(), " in this process");
  return code;
}

inline void copy_memory(void *to, const Place &to_place, const void *from, const Place &from_place, size_t bytes, const char *what) {
  const int32_t to_device = device_of(to_place), from_device = device_of(from_place);
  if (!bytes) return;
  if (to_device == WRY_CPU && from_device == WRY_CPU) {
    std::memmove(to, from, bytes);
    return;
  }
  char error[WRY_ERROR_SIZE] = "";
  if (host()->copy(to, to_device, from, from_device, bytes, error) != WRY_OK) PD_THROW(what, ": ", error);
}

struct Memory {  // that belongs to the library, or that a result of the framework holds
  void *data = nullptr;
  void *owner = nullptr;
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    if (owner)
      host()->release(owner);
    else
      std::free(data);
  }
};

struct Body;

// Counts who holds a Body. Nearly all are held by one thread alone, for the time of one call.
class BodyRef {
 public:
  BodyRef() = default;
  BodyRef(const BodyRef &other);
  BodyRef(BodyRef &&other) noexcept : body_(other.body_) { other.body_ = nullptr; }
  BodyRef &operator=(BodyRef other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~BodyRef();
  static BodyRef make();

  Body *get() const { return body_; }
  Body *operator->() const { return body_; }
  Body &operator*() const { return *body_; }
  explicit operator bool() const { return body_ != nullptr; }
  void reset() { BodyRef().swap(*this); }
  void swap(BodyRef &other) { std::swap(body_, other.body_); }
  int use_count() const;

 private:
  Body *body_ = nullptr;
};

// What few tensors have.
struct Rare {
  std::shared_ptr<phi::TensorBase> impl;  // a DenseTensor, which then says shape, dtype and memory
  std::weak_ptr<phi::Allocation> holder;  // the memory, as DenseTensors share it
  std::shared_ptr<AbstractAutogradMeta> autograd;
  uint32_t version = 0;
};

struct Body {
  std::atomic<int> holders{1};
  void *data = nullptr;
  int64_t dims[WRY_MAX_RANK];  // as many as `rank` says
  int64_t numel = 0;
  int32_t rank = 0;
  DataType dtype = DataType::UNDEFINED;
  Place place;
  void *stream = nullptr;
  std::shared_ptr<Memory> memory;  // null: lent by the framework
  BodyRef base;                    // of a view: who has the memory
  size_t offset = 0;
  Body **lent = nullptr;  // the entry of the call that lends the memory
  std::unique_ptr<Rare> rare;

  ~Body() { let_go(); }
  void let_go() {
    if (lent) *lent = nullptr;
    lent = nullptr;
  }
  Rare &more() {
    if (!rare) rare.reset(new Rare);
    return *rare;
  }
  // Memory of its own, or none, in place of what was lent.
  void move_to(void *to) {
    data = to;
    if (const auto shared = rare ? rare->holder.lock() : nullptr) shared->move_to(to);
  }
  void *address() const { return base ? static_cast<char *>(base->address()) + offset : data; }
  void set_shape(const int64_t *shape, int32_t n) {
    if (n > WRY_MAX_RANK) PD_THROW("a tensor has at most ", WRY_MAX_RANK, " axes, got ", n);
    rank = n;
    numel = 1;
    for (int32_t i = 0; i < n; ++i) {
      if (shape[i] < 0) PD_THROW("sizes of a tensor are not negative, got ", shape[i], " for axis ", i);
      dims[i] = shape[i];
      numel *= shape[i];
    }
  }
};

inline BodyRef::BodyRef(const BodyRef &other) : body_(other.body_) {
  if (body_) body_->holders.fetch_add(1, std::memory_order_relaxed);
}
inline BodyRef::~BodyRef() {
  // The only holder need not write that nobody is left.
  if (body_ && (body_->holders.load(std::memory_order_acquire) == 1 || body_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)) delete body_;
}
inline BodyRef BodyRef::make() {
  BodyRef out;
  out.body_ = new Body;
  return out;
}
inline int BodyRef::use_count() const { return body_ ? body_->holders.load(std::memory_order_acquire) : 0; }

// The call that runs in this thread: its outputs lend their memory to the first tensors that fit them.
struct Frame {
  enum { FEW = 8 };  // calls with so many tensors need no memory for the list of them
  const wry_call *call;
  Frame *outer;
  uint32_t taken = 0;
  uint32_t n_lent = 0;
  Body *few[FEW];
  std::unique_ptr<Body *[]> many;
  Body **lent = few;  // an entry becomes null when its Body ends

  Frame(const wry_call *now, Frame *before) : call(now), outer(before) {
    const int32_t n = now->n_inputs + now->n_outputs;
    if (n > FEW) {
      many.reset(new Body *[static_cast<size_t>(n)]);
      lent = many.get();
    }
  }
  void lend(Body *body) {
    lent[n_lent] = body;
    body->lent = lent + n_lent++;
  }
};

WHERRY_OF_LIBRARY inline Frame *&frame() {
  static thread_local Frame *current = nullptr;
  return current;
}

inline void allocate(const BodyRef &body) {
  body->let_go();
  body->base.reset();
  body->memory.reset();
  body->offset = 0;
  const size_t bytes = static_cast<size_t>(body->numel) * phi::SizeOf(body->dtype);
  const int32_t device = device_of(body->place);
  Frame *at = frame();
  if (at) {
    for (int32_t i = 0; i < at->call->n_outputs && i < 32; ++i) {
      const wry_tensor *out = at->call->outputs[i];
      if (!out || at->taken >> i & 1u || out->device != device || out->rank != body->rank || out->dtype != wry_dtype_of(body->dtype) ||
          (body->rank && std::memcmp(out->shape, body->dims, sizeof(int64_t) * static_cast<size_t>(body->rank)) != 0))
        continue;
      at->taken |= 1u << i;
      body->data = out->data;
      at->lend(body.get());
      return;
    }
  }
  if (device == WRY_CPU) {
    body->memory = std::make_shared<Memory>();
    body->memory->data = ::aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!body->memory->data) PD_THROW("there is no memory for ", bytes, " bytes");
    body->data = body->memory->data;
    return;
  }
  if (!at || at->call->context->device != device)
    PD_THROW("memory of ", body->place.DebugString(), " is given only within a call that runs there");
  body->data = at->call->context->workspace(at->call->context, bytes ? bytes : 1);  // lives until the work of this call is done
  if (!body->data) PD_THROW("there is no memory for ", bytes, " bytes on ", body->place.DebugString());
}

struct Arg;

// Memory of a Body, which DenseTensors share.
class OfBody : public phi::Allocation {
 public:
  OfBody(BodyRef body, size_t bytes) : phi::Allocation(body->data, bytes, body->place), body_(std::move(body)) {}

 private:
  BodyRef body_;
};

// A DenseTensor of the same memory. That gets a Body of its own, so that neither of the two keeps itself alive.
inline phi::DenseTensor dense_of(const BodyRef &body) {
  phi::DenseTensorMeta meta(body->dtype, phi::DDim(body->dims, body->rank));
  if (!body->address()) {
    phi::DenseTensor none;
    none.set_meta(meta);
    return none;
  }
  if (!body->base) {
    BodyRef memory = BodyRef::make();
    memory->dtype = body->dtype;
    memory->place = body->place;
    memory->stream = body->stream;
    memory->set_shape(body->dims, body->rank);
    memory->data = body->data;
    memory->memory = std::move(body->memory);
    std::swap(memory->lent, body->lent);
    if (memory->lent) *memory->lent = memory.get();
    if (body->rare) memory->more().holder = body->rare->holder;
    body->data = nullptr;
    body->base = memory;
  }
  size_t offset = body->offset;
  BodyRef root = body->base;
  for (; root->base; root = root->base) offset += root->offset;
  auto holder = root->more().holder.lock();
  if (!holder) root->more().holder = holder = std::make_shared<OfBody>(root, static_cast<size_t>(root->numel) * phi::SizeOf(root->dtype));
  meta.offset = offset;
  return phi::DenseTensor(holder, meta);
}

// What a DenseTensor says of its shape, dtype and memory becomes true of the Body that it belongs to.
inline void pull(Body *body) {
  auto &dense = static_cast<phi::DenseTensor &>(*body->rare->impl);
  void *at = dense.initialized() ? dense.data() : nullptr;
  body->set_shape(dense.dims().Get(), dense.dims().size());
  body->dtype = dense.dtype();
  if (at == body->address()) return;
  body->let_go();
  body->base.reset();
  body->memory.reset();
  body->offset = 0;
  body->data = at;
  if (at) body->place = dense.place();
}

// The name of a tensor, which most do not have: a copy has its own.
class Name {
 public:
  Name() = default;
  Name(const Name &other) : text_(other.text_ ? new std::string(*other.text_) : nullptr) {}
  Name(Name &&) noexcept = default;
  Name &operator=(Name other) noexcept {
    text_.swap(other.text_);
    return *this;
  }
  void set(const std::string &text) { text_.reset(new std::string(text)); }
  const std::string &get() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }

 private:
  std::unique_ptr<std::string> text_;
};

}  // namespace detail

class Tensor final {
 public:
  Tensor() = default;
  Tensor(const Tensor &) = default;
  Tensor(Tensor &&) = default;
  Tensor &operator=(const Tensor &) = default;
  Tensor &operator=(Tensor &&) = default;

  // Incomplete constructors of 2.0 to 2.2: shape and memory come later, with reshape and mutable_data.
  [[deprecated("use paddle::empty or paddle::full")]] explicit Tensor(const Place &place) : Tensor(place, std::vector<int64_t>{}, 0) {
    body()->numel = 0;
  }
  [[deprecated("use paddle::empty or paddle::full")]] Tensor(const Place &place, const std::vector<int64_t> &shape) : Tensor(place, shape, 0) {}
  [[deprecated("use paddle::empty or paddle::full")]] explicit Tensor(const PlaceType &place) : Tensor(of(place), std::vector<int64_t>{}, 0) {
    body()->numel = 0;
  }
  [[deprecated("use paddle::empty or paddle::full")]] Tensor(const PlaceType &place, const std::vector<int64_t> &shape)
      : Tensor(of(place), shape, 0) {}
  explicit Tensor(const std::string &name) { name_.set(name); }
  explicit Tensor(detail::BodyRef body) : body_(std::move(body)) {}

  // Of a phi::DenseTensor: what is done to one is done to the other.
  explicit Tensor(std::shared_ptr<phi::TensorBase> tensor_impl) { set_impl(std::move(tensor_impl)); }
  Tensor(std::shared_ptr<phi::TensorBase> tensor_impl, const std::string &name) : Tensor(std::move(tensor_impl)) { name_.set(name); }
  Tensor(std::shared_ptr<phi::TensorBase> tensor_impl, std::shared_ptr<AbstractAutogradMeta> autograd_meta) : Tensor(std::move(tensor_impl)) {
    set_autograd_meta(std::move(autograd_meta));
  }
  const std::shared_ptr<phi::TensorBase> &impl() const {
    static const std::shared_ptr<phi::TensorBase> none;
    if (!body()) return none;
    auto &found = body_->more().impl;
    if (!found) found = std::make_shared<phi::DenseTensor>(detail::dense_of(body_));
    return found;
  }
  void set_impl(std::shared_ptr<phi::TensorBase> impl) {
    body_.reset();
    if (!impl) return;
    if (!dynamic_cast<phi::DenseTensor *>(impl.get())) PD_THROW("a tensor is a phi::DenseTensor here, got another phi::TensorBase");
    body_ = detail::BodyRef::make();
    body_->more().impl = std::move(impl);
    body();
  }
  AbstractAutogradMeta *get_autograd_meta() const { return mutable_autograd_meta().get(); }
  const std::shared_ptr<AbstractAutogradMeta> &mutable_autograd_meta() const {
    static const std::shared_ptr<AbstractAutogradMeta> none;
    return body_ && body_->rare ? body_->rare->autograd : none;
  }
  void set_autograd_meta(std::shared_ptr<AbstractAutogradMeta> autograd_meta) {
    need("set_autograd_meta").more().autograd = std::move(autograd_meta);
  }
  void bump_inplace_version() { ++need("bump_inplace_version").more().version; }
  uint32_t current_inplace_version() { return need("current_inplace_version").more().version; }
  void reset_inplace_version(bool set_to_zero = false) {
    if (set_to_zero) need("reset_inplace_version").more().version = 0;
  }
  // What is sparse does not reach an operator.
  Tensor to_dense() const { return *this; }
  Tensor to_sparse_coo(const int64_t) const { PD_THROW("to_sparse_coo: an operator in C++ has dense tensors only. Make it sparse outside of the operator."); }
  Tensor to_sparse_csr() const { PD_THROW("to_sparse_csr: an operator in C++ has dense tensors only. Make it sparse outside of the operator."); }

  int64_t numel() const { return body() ? body()->numel : 0; }
  [[deprecated("use numel")]] int64_t size() const { return numel(); }
  std::vector<int64_t> shape() const { return body() ? std::vector<int64_t>(body()->dims, body()->dims + body()->rank) : std::vector<int64_t>{}; }
  phi::DDim dims() const { return body() ? phi::DDim(body()->dims, body()->rank) : phi::DDim(); }
  phi::DDim strides() const { return phi::stride(dims()); }  // in elements
  DataType dtype() const { return body() ? body()->dtype : DataType::UNDEFINED; }
  DataType type() const { return dtype(); }
  DataLayout layout() const { return DataLayout::NCHW; }
  const Place &place() const { return need("place").place; }
  bool is_cpu() const { return body() && body()->place.GetType() == AllocationType::CPU; }
  bool is_gpu() const { return body() && body()->place.GetType() == AllocationType::GPU; }
  bool is_gpu_pinned() const { return body() && body()->place.GetType() == AllocationType::GPUPINNED; }
  bool is_custom_device() const { return body() && body()->place.GetType() == AllocationType::CUSTOM; }
  bool is_xpu() const { return body() && body()->place.GetType() == AllocationType::XPU; }
  // Operators are given dense tensors only: what is sparse, of texts or spread over processes does not reach them.
  bool is_dense_tensor() const { return defined(); }
  bool is_selected_rows() const { return false; }
  bool is_sparse_coo_tensor() const { return false; }
  bool is_sparse_csr_tensor() const { return false; }
  bool is_string_tensor() const { return false; }
  bool is_dist_tensor() const { return false; }
  bool defined() const { return static_cast<bool>(body_); }
  bool initialized() const { return body() && body()->address() != nullptr; }
  bool is_initialized() const { return initialized(); }
  const std::string &name() const { return name_.get(); }
  void set_name(const std::string &name) { name_.set(name); }

  template <typename T>
  const T *data() const {
    return static_cast<const T *>(address<T>());
  }
  template <typename T>
  T *data() {
    return static_cast<T *>(address<T>());
  }
  const void *data() const { return need("data").address(); }
  void *data() { return need("data").address(); }

  template <typename T>
  [[deprecated("use paddle::empty and data")]] T *mutable_data() {
    detail::Body &body = need("mutable_data");
    if (!body.address() || body.dtype != phi::CppTypeToDataType<T>::Type()) {
      body.dtype = phi::CppTypeToDataType<T>::Type();
      detail::allocate(body_);
      push();
    }
    return static_cast<T *>(body.address());
  }
  template <typename T>
  [[deprecated("use paddle::empty and data")]] T *mutable_data(const Place &place) {
    need("mutable_data").place = place;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return mutable_data<T>();
#pragma GCC diagnostic pop
  }
  template <typename T>
  [[deprecated("use paddle::empty and data")]] T *mutable_data(const PlaceType &place) {
    need("mutable_data").place = of(place);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return mutable_data<T>();
#pragma GCC diagnostic pop
  }
  [[deprecated("use paddle::reshape")]] void reshape(const std::vector<int64_t> &shape) {
    if (!body_) body_ = detail::BodyRef::make();
    const int64_t before = body()->numel;
    body_->set_shape(shape.data(), static_cast<int32_t>(shape.size()));
    if (body_->address() && body_->numel > before) PD_THROW("reshape: the tensor has ", before, " elements, got a shape with ", body_->numel);
    push();
  }

  // A copy on another device, or on the same one.
  Tensor copy_to(const Place &place, bool blocking = true) const {
    (void)blocking;
    const detail::Body &from = need("copy_to");
    Tensor out(place, shape(), 0);
    out.body()->dtype = from.dtype;
    detail::allocate(out.body_);
    detail::copy_memory(out.body()->data, place, from.address(), from.place, static_cast<size_t>(from.numel) * phi::SizeOf(from.dtype), "copy_to");
    return out;
  }
  template <typename T>
  [[deprecated("use copy_to without a type")]] Tensor copy_to(const Place &place) const {
    return copy_to(place, true);
  }

  // The values of another tensor, in the memory of this one where it has some.
  void copy_(const Tensor &src, const Place &target_place, bool blocking) {
    const detail::Body &from = src.need("copy_");
    const Place place = target_place.GetType() == AllocationType::UNDEFINED ? from.place : target_place;
    if (!initialized()) {
      *this = src.copy_to(place, blocking);
      return;
    }
    detail::Body &to = *body();
    if (to.dtype != from.dtype || to.numel != from.numel)
      PD_THROW("copy_: the tensor has ", to.numel, " elements of ", ToString(to.dtype), ", got ", from.numel, " of ", ToString(from.dtype));
    if (to.place != place) PD_THROW("copy_: the tensor is on ", to.place.DebugString(), ", got ", place.DebugString(), " as the place of the copy");
    to.set_shape(from.dims, from.rank);
    detail::copy_memory(to.address(), to.place, from.address(), from.place, static_cast<size_t>(from.numel) * phi::SizeOf(from.dtype), "copy_");
    push();
  }

  // Functions of the framework, as members.
  Tensor abs() const;
  Tensor add(const Tensor &y) const;
  Tensor add(const Scalar &y) const;
  Tensor assign() const;
  Tensor bitwise_and(const Tensor &y) const;
  Tensor bitwise_not() const;
  Tensor bitwise_or(const Tensor &y) const;
  Tensor bitwise_xor(const Tensor &y) const;
  Tensor cast(DataType target_type) const;
  Tensor divide(const Tensor &y) const;
  Tensor divide(const Scalar &y) const;
  Tensor elementwise_pow(const Tensor &y) const;
  Tensor equal(const Tensor &y) const;
  Tensor exp() const;
  Tensor expand(const IntArray &shape) const;
  Tensor floor() const;
  Tensor gather_nd(const Tensor &index) const;
  Tensor greater_equal(const Tensor &y) const;
  Tensor greater_than(const Tensor &y) const;
  Tensor less_equal(const Tensor &y) const;
  Tensor less_than(const Tensor &y) const;
  Tensor log() const;
  Tensor matmul(const Tensor &y, bool transpose_x = false, bool transpose_y = false) const;
  Tensor max(const IntArray &axis = {}, bool keepdim = false) const;
  Tensor maximum(const Tensor &y) const;
  Tensor minimum(const Tensor &y) const;
  Tensor multiply(const Tensor &y) const;
  Tensor multiply(const Scalar &y) const;
  Tensor not_equal(const Tensor &y) const;
  Tensor pow(const Tensor &y) const;
  Tensor pow(const Scalar &y) const;
  Tensor roll(const IntArray &shifts = {}, const std::vector<int64_t> &axis = {}) const;
  Tensor scale(const Scalar &scale = 1.0, float bias = 0.0f, bool bias_after_scale = true) const;
  Tensor scatter(const Tensor &index, const Tensor &updates, bool overwrite = true) const;
  Tensor scatter_nd_add(const Tensor &index, const Tensor &updates) const;
  Tensor subtract(const Tensor &y) const;
  Tensor subtract(const Scalar &y) const;
  Tensor sum(const IntArray &axis = {}, DataType dtype = DataType::UNDEFINED, bool keepdim = false) const;
  Tensor tile(const IntArray &repeat_times = {}) const;

  Tensor operator+(const Tensor &other) const { return add(other); }
  Tensor operator-(const Tensor &other) const { return subtract(other); }
  Tensor operator*(const Tensor &other) const { return multiply(other); }
  Tensor operator/(const Tensor &other) const { return divide(other); }
  Tensor operator+(const Scalar &other) const { return add(other); }
  Tensor operator-(const Scalar &other) const { return subtract(other); }
  Tensor operator*(const Scalar &other) const { return multiply(other); }
  Tensor operator/(const Scalar &other) const { return divide(other); }
  Tensor operator==(const Tensor &other) const { return equal(other); }
  Tensor operator!=(const Tensor &other) const { return not_equal(other); }
  Tensor operator<(const Tensor &other) const { return less_than(other); }
  Tensor operator<=(const Tensor &other) const { return less_equal(other); }
  Tensor operator>(const Tensor &other) const { return greater_than(other); }
  Tensor operator>=(const Tensor &other) const { return greater_equal(other); }
  Tensor operator&(const Tensor &other) const { return bitwise_and(other); }
  Tensor operator|(const Tensor &other) const { return bitwise_or(other); }
  Tensor operator^(const Tensor &other) const { return bitwise_xor(other); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor operator-() const { return scale(-1.0); }

  // Rows [begin_idx, end_idx) of the first axis. They share the memory.
  Tensor slice(int64_t begin_idx, int64_t end_idx) const {
    const detail::Body &from = need("slice");
    if (from.rank < 1 || begin_idx < 0 || end_idx > from.dims[0] || begin_idx >= end_idx)
      PD_THROW("slice: rows [", begin_idx, ", ", end_idx, ") are not rows of the tensor, which has ", from.rank < 1 ? 0 : from.dims[0]);
    auto body = detail::BodyRef::make();
    body->dtype = from.dtype;
    body->place = from.place;
    body->stream = from.stream;
    int64_t dims[WRY_MAX_RANK];
    std::memcpy(dims, from.dims, sizeof dims);
    dims[0] = end_idx - begin_idx;
    body->set_shape(dims, from.rank);
    body->base = body_;
    body->offset = static_cast<size_t>(from.numel / from.dims[0] * begin_idx) * phi::SizeOf(from.dtype);
    return Tensor(std::move(body));
  }

  void reset() { body_.reset(); }

#ifdef PADDLE_WITH_CUDA
  cudaStream_t stream() const { return static_cast<cudaStream_t>(need("stream").stream); }
#endif

  const detail::BodyRef &body() const {
    if (body_ && body_->rare && body_->rare->impl) detail::pull(body_.get());
    return body_;
  }

 private:
  friend Tensor empty_of(const int64_t *shape, int32_t rank, DataType dtype, const Place &place);

  Tensor(const Place &place, const std::vector<int64_t> &shape, int) : body_(detail::BodyRef::make()) {
    body()->place = place;
    body()->set_shape(shape.data(), static_cast<int32_t>(shape.size()));
  }
  static Place of(PlaceType place) { return place == PlaceType::kGPU ? Place(GPUPlace()) : Place(CPUPlace()); }

  // A DenseTensor that was asked for follows.
  void push() const {
    if (!body_->rare || !body_->rare->impl) return;
    auto &dense = static_cast<phi::DenseTensor &>(*body_->rare->impl);
    if (dense.initialized() && dense.data() == body_->address()) {
      phi::DenseTensorMeta meta = dense.meta();
      meta.dtype = body_->dtype;
      meta.dims = phi::DDim(body_->dims, body_->rank);
      dense.set_meta(meta);
    } else {
      dense = detail::dense_of(body_);
    }
  }
  detail::Body &need(const char *what) const {
    if (!body_) PD_THROW(what, ": the tensor is empty: it was never given a value");
    return *body();
  }
  template <typename T>
  void *address() const {
    const detail::Body &body = need("data");
    if (phi::CppTypeToDataType<T>::Type() != body.dtype)
      PD_THROW("data: the tensor holds ", ToString(body.dtype), ", and it is asked for ", ToString(phi::CppTypeToDataType<T>::Type()));
    return body.address();
  }

  detail::BodyRef body_;
  detail::Name name_;
};

inline Tensor empty_of(const int64_t *shape, int32_t rank, DataType dtype, const Place &place) {
  auto body = detail::BodyRef::make();
  if (place.GetType() == AllocationType::UNDEFINED || place.GetType() == AllocationType::CPU)
    body->place.Reset(AllocationType::CPU);
  else
    body->place = place;
  body->set_shape(shape, rank);
  body->dtype = dtype;
  detail::allocate(body);
  return Tensor(std::move(body));
}

namespace experimental {
using Tensor = paddle::Tensor;
using phi::AllocationType;
using phi::CPUPlace;
using phi::DataLayout;
using phi::DataType;
using phi::GPUPinnedPlace;
using phi::GPUPlace;
using phi::Place;
using phi::XPUPlace;
}  // namespace experimental

}  // namespace paddle

namespace phi {

inline IntArray::IntArray(const paddle::Tensor &tensor) : from_tensor_(true) {
  const paddle::Tensor here = tensor.is_cpu() ? tensor : tensor.copy_to(CPUPlace(), true);
  for (int64_t i = 0; i < here.numel(); ++i)
    values_.push_back(here.dtype() == DataType::INT32 ? here.data<int32_t>()[i] : here.data<int64_t>()[i]);
}

inline IntArray::IntArray(const std::vector<paddle::Tensor> &tensors) : from_tensor_(true) {
  for (const auto &tensor : tensors) values_.push_back(IntArray(tensor)[0]);
}

inline Scalar::Scalar(const paddle::Tensor &tensor) : from_tensor_(true) {
  const paddle::Tensor here = tensor.is_cpu() ? tensor : tensor.copy_to(CPUPlace(), true);
  if (here.numel() != 1) PD_THROW("Scalar: the tensor has ", here.numel(), " elements, expected one");
  dtype_ = here.dtype();
  whole_ = true;
  switch (dtype_) {
    case DataType::BOOL: int_ = here.data<bool>()[0]; return;
    case DataType::INT8: int_ = here.data<int8_t>()[0]; return;
    case DataType::UINT8: int_ = here.data<uint8_t>()[0]; return;
    case DataType::INT16: int_ = here.data<int16_t>()[0]; return;
    case DataType::INT32: int_ = here.data<int32_t>()[0]; return;
    case DataType::INT64: int_ = here.data<int64_t>()[0]; return;
    default: whole_ = false;
  }
  switch (dtype_) {
    case DataType::FLOAT16: float_ = here.data<dtype::float16>()[0]; return;
    case DataType::BFLOAT16: float_ = here.data<dtype::bfloat16>()[0]; return;
    case DataType::FLOAT32: float_ = here.data<float>()[0]; return;
    case DataType::FLOAT64: float_ = here.data<double>()[0]; return;
    case DataType::COMPLEX64:
      float_ = here.data<dtype::complex<float>>()[0].real;
      imag_ = here.data<dtype::complex<float>>()[0].imag;
      return;
    case DataType::COMPLEX128:
      float_ = here.data<dtype::complex<double>>()[0].real;
      imag_ = here.data<dtype::complex<double>>()[0].imag;
      return;
    default: PD_THROW("Scalar: a tensor of ", paddle::ToString(dtype_), " is not a number");
  }
}

}  // namespace phi
