// PD_BUILD_OP and its two companions: what an operator is made of.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paddle/phi/api/include/tensor.h"
#include "paddle/utils/optional.h"

namespace paddle {

// Names of tensors. A gradient belongs to the tensor that it is named after; a list may have any number of tensors; what is
// optional may be left out, and counts as a list of none or one.
inline std::string Grad(const std::string &name) { return name + "@GRAD"; }
inline std::string Vec(const std::string &name) { return name + "@VECTOR"; }
inline std::string Optional(const std::string &name) { return name + "@OPTIONAL"; }
inline std::string New(const std::string &name) { return name + "@NEW"; }

namespace detail {

// A list of numbers or texts of an attribute travels as one string: its items, each behind its length and a colon.
inline std::vector<std::string> unpack(const wry_attr &attr) {
  std::vector<std::string> items;
  const char *at = attr.value.s, *end = at + attr.length;
  while (at < end) {
    char *colon = nullptr;
    const size_t length = std::strtoul(at, &colon, 10);
    items.emplace_back(colon + 1, length);
    at = colon + 1 + length;
  }
  return items;
}

template <typename T>
struct always_false : std::false_type {};

// How a parameter is taken out of a call. `count` says what it uses up: a declared tensor or an attribute.
struct Taker {
  const Tensor *tensors;
  const int64_t *lengths;
  const wry_attr *attrs;
  size_t at = 0;  // in tensors
  int input = 0;
};

template <typename T>
struct Param {
  static_assert(always_false<T>::value,
                "a kernel function takes const paddle::Tensor&, const std::vector<paddle::Tensor>&, const paddle::optional of either, "
                "paddle::Tensor& for what it writes in place, and the attributes bool, int, float, "
                "int64_t, const std::string&, const std::vector<int>&, const std::vector<float>&, const std::vector<int64_t>& and "
                "const std::vector<std::string>&");
};

template <>
struct Param<const Tensor &> {
  static constexpr bool is_tensor = true;
  using Kept = Tensor;
  static Tensor take(Taker &from) {
    ++from.input;
    return from.tensors[from.at++];
  }
};
template <>
struct Param<const std::vector<Tensor> &> {
  static constexpr bool is_tensor = true;
  using Kept = std::vector<Tensor>;
  static std::vector<Tensor> take(Taker &from) {
    const size_t n = static_cast<size_t>(from.lengths[from.input++]), begin = from.at;
    from.at += n;
    return std::vector<Tensor>(from.tensors + begin, from.tensors + from.at);
  }
};

template <typename T>
struct Param<const optional<T> &> {
  static constexpr bool is_tensor = true;
  using Kept = optional<T>;
  static Kept take(Taker &from) { return from.lengths[from.input] ? Kept(Param<const T &>::take(from)) : (++from.input, Kept()); }
};
// In place: a copy, which becomes the output that SetInplaceMap says. The framework writes it into the tensor, where gradients allow that.
template <>
struct Param<Tensor &> {
  static constexpr bool is_tensor = true;
  using Kept = Tensor;
  static Tensor take(Taker &from) {
    const Tensor given = Param<const Tensor &>::take(from);
    return given.initialized() ? given.copy_to(given.place(), true) : given;
  }
};

#define WHERRY_ATTR_PARAM(type, expression)  \
  template <>                                \
  struct Param<type> {                       \
    static constexpr bool is_tensor = false; \
    using Kept = std::decay_t<type>;         \
    static Kept take(Taker &from) {          \
      const wry_attr &attr = *from.attrs++;  \
      return expression;                     \
    }                                        \
  };
inline std::vector<float> floats_of(const wry_attr &attr) {
  std::vector<float> out;
  for (const auto &item : unpack(attr)) out.push_back(std::strtof(item.c_str(), nullptr));
  return out;
}
inline std::vector<double> doubles_of(const wry_attr &attr) {
  std::vector<double> out;
  for (const auto &item : unpack(attr)) out.push_back(std::strtod(item.c_str(), nullptr));
  return out;
}
template <typename T>
std::vector<T> ints_of(const wry_attr &attr) {
  return attr.length ? std::vector<T>(attr.value.ints, attr.value.ints + attr.length) : std::vector<T>{};
}
inline std::string string_of(const wry_attr &attr) { return std::string(attr.value.s, static_cast<size_t>(attr.length)); }

#define WHERRY_ATTR_PARAMS(type, expression) \
  WHERRY_ATTR_PARAM(type, expression)        \
  WHERRY_ATTR_PARAM(const type &, expression)
WHERRY_ATTR_PARAMS(bool, attr.value.i != 0)
WHERRY_ATTR_PARAMS(int, static_cast<int>(attr.value.i))
WHERRY_ATTR_PARAMS(int64_t, attr.value.i)
WHERRY_ATTR_PARAMS(float, static_cast<float>(attr.value.f))
WHERRY_ATTR_PARAMS(double, attr.value.f)
WHERRY_ATTR_PARAMS(std::string, string_of(attr))
WHERRY_ATTR_PARAMS(std::vector<int>, ints_of<int>(attr))
WHERRY_ATTR_PARAMS(std::vector<int64_t>, ints_of<int64_t>(attr))
WHERRY_ATTR_PARAMS(std::vector<float>, floats_of(attr))
WHERRY_ATTR_PARAMS(std::vector<double>, doubles_of(attr))
WHERRY_ATTR_PARAMS(std::vector<std::string>, unpack(attr))
#undef WHERRY_ATTR_PARAMS
#undef WHERRY_ATTR_PARAM

constexpr int count_true() { return 0; }
template <typename... Rest>
constexpr int count_true(bool first, Rest... rest) {
  return (first ? 1 : 0) + count_true(rest...);
}

using KernelFunc = std::vector<Tensor> (*)(const Tensor *, const int64_t *, const wry_attr *);

struct Kernel {
  KernelFunc function;  // gives what it returns, then what it wrote in place
  int n_tensors, n_attrs, n_in_place;
};

// What a call of `f` gives: its results, or nothing.
template <typename... Args, typename... Kept>
std::vector<Tensor> results_of(std::vector<Tensor> (*f)(Args...), Kept &...kept) {
  return f(kept...);
}
template <typename... Args, typename... Kept>
std::vector<Tensor> results_of(void (*f)(Args...), Kept &...kept) {
  f(kept...);
  return {};
}

template <typename F, F f>
struct KernelOf;
template <typename Result, typename... Args, Result (*f)(Args...)>
struct KernelOf<Result (*)(Args...), f> {
  static_assert(std::is_void<Result>::value || std::is_same<Result, std::vector<Tensor>>::value,
                "a kernel function returns std::vector<paddle::Tensor>, or nothing where all outputs are written in place");
  template <typename Arg, typename Kept>
  static void add(std::vector<Tensor> &to, Kept &kept, std::true_type) {
    to.push_back(kept);
  }
  template <typename Arg, typename Kept>
  static void add(std::vector<Tensor> &, Kept &, std::false_type) {}
  template <size_t... I>
  static std::vector<Tensor> apply(std::tuple<typename Param<Args>::Kept...> &kept, std::index_sequence<I...>) {
    std::vector<Tensor> found = results_of(f, std::get<I>(kept)...);
    (void)std::initializer_list<int>{(add<Args>(found, std::get<I>(kept), std::is_same<Args, Tensor &>()), 0)...};
    return found;
  }
  static std::vector<Tensor> run(const Tensor *tensors, const int64_t *lengths, const wry_attr *attrs) {
    Taker from{tensors, lengths, attrs};
    std::tuple<typename Param<Args>::Kept...> kept{Param<Args>::take(from)...};  // braces: from left to right
    return apply(kept, std::index_sequence_for<Args...>());
  }
  static Kernel make() {
    constexpr int n = count_true(Param<Args>::is_tensor...);
    return {&run, n, static_cast<int>(sizeof...(Args)) - n, count_true(std::is_same<Args, Tensor &>::value...)};
  }
};
// The frequent case, without the copies.
template <std::vector<Tensor> (*f)(const Tensor &)>
struct KernelOf<std::vector<Tensor> (*)(const Tensor &), f> {
  static std::vector<Tensor> run(const Tensor *tensors, const int64_t *, const wry_attr *) { return f(*tensors); }
  static Kernel make() { return {&run, 1, 0, 0}; }
};

// Shapes or dtypes of inputs, and attributes behind shapes.
template <typename Item>
struct MetaTaker {
  const std::vector<Item> *items;
  const int64_t *lengths;
  const wry_attr *attrs;
  size_t at = 0;
  int input = 0;
};

template <typename Item, typename T, typename = void>
struct MetaParam {  // an attribute
  static constexpr bool is_input = false;
  static std::decay_t<T> take(MetaTaker<Item> &from) {
    Taker attrs{nullptr, nullptr, from.attrs};
    auto value = Param<T>::take(attrs);
    from.attrs = attrs.attrs;
    return value;
  }
};
template <typename Item, typename T>
struct MetaParam<Item, T, std::enable_if_t<std::is_same<std::decay_t<T>, Item>::value>> {
  static constexpr bool is_input = true;
  static Item take(MetaTaker<Item> &from) {
    ++from.input;
    return (*from.items)[from.at++];
  }
};
template <typename Item, typename T>
struct MetaParam<Item, T, std::enable_if_t<std::is_same<std::decay_t<T>, std::vector<Item>>::value>> {
  static constexpr bool is_input = true;
  static std::vector<Item> take(MetaTaker<Item> &from) {
    const size_t n = static_cast<size_t>(from.lengths[from.input++]);
    std::vector<Item> out;
    for (size_t i = 0; i < n; ++i) out.push_back((*from.items)[from.at++]);
    return out;
  }
};

template <typename Item, typename T>
struct MetaParam<Item, T, std::enable_if_t<std::is_same<std::decay_t<T>, optional<Item>>::value || std::is_same<std::decay_t<T>, optional<std::vector<Item>>>::value>> {
  static constexpr bool is_input = true;
  using Kept = std::decay_t<T>;
  static Kept take(MetaTaker<Item> &from) {
    return from.lengths[from.input] ? Kept(MetaParam<Item, typename Kept::value_type>::take(from)) : (++from.input, Kept());
  }
};

using Shape = std::vector<int64_t>;

template <typename Item>
struct MetaFunc {
  std::vector<Item> (*function)(const std::vector<Item> &, const int64_t *, const wry_attr *);
  int n_inputs, n_attrs;
};

template <typename Item, typename F, F f>
struct MetaOf;
template <typename Item, typename... Args, std::vector<Item> (*f)(Args...)>
struct MetaOf<Item, std::vector<Item> (*)(Args...), f> {
  template <size_t... I>
  static std::vector<Item> apply(std::tuple<std::decay_t<Args>...> &kept, std::index_sequence<I...>) {
    return f(std::get<I>(kept)...);
  }
  static std::vector<Item> run(const std::vector<Item> &items, const int64_t *lengths, const wry_attr *attrs) {
    MetaTaker<Item> from{&items, lengths, attrs};
    std::tuple<std::decay_t<Args>...> kept{MetaParam<Item, Args>::take(from)...};
    return apply(kept, std::index_sequence_for<Args...>());
  }
  static MetaFunc<Item> make() {
    constexpr int n = count_true(MetaParam<Item, Args>::is_input...);
    return {&run, n, static_cast<int>(sizeof...(Args)) - n};
  }
};

inline void write_error(char *error, const std::string &op, const char *what) {
  const std::string tail = "\n  [operator < " + op + " > error]";
  std::string text = std::string("(External) ") + what;
  const size_t room = WRY_ERROR_SIZE - 1 - tail.size();
  if (text.size() > room) {  // the end says where it was, the beginning what
    const size_t keep = room / 3;
    text = text.substr(0, room - keep - 3) + "..." + text.substr(text.size() - keep);
  }
  std::snprintf(error, WRY_ERROR_SIZE, "%s%s", text.c_str(), tail.c_str());
}

struct OpInfo {
  std::string name, file, problem;
  int line = 0;
  int32_t order = 0;
  std::vector<std::string> inputs, outputs, attrs;
  std::vector<int32_t> in_place;  // for each output, the input that becomes it; -1: none
  Kernel kernel{nullptr, 0, 0, 0};
  MetaFunc<Shape> shape{nullptr, 0, 0};
  MetaFunc<DataType> dtype{nullptr, 0, 0};
  bool has_list = false;
  std::vector<const char *> input_names, output_names, attr_names;
  wext_op entry;
};

// What a kernel function gave, in the order of the outputs, where it is not that already.
WHERRY_SELDOM inline std::vector<Tensor> in_order(const OpInfo &op, std::vector<Tensor> given, size_t n_outputs) {
  if (!op.in_place.empty()) {
    const size_t returned = given.size() - static_cast<size_t>(op.kernel.n_in_place);
    std::vector<Tensor> ordered;
    size_t next = 0;
    for (size_t i = 0; i < op.in_place.size(); ++i) {
      if (op.in_place[i] < 0) {
        if (next == returned) PD_THROW("the kernel function returned ", returned, " tensors, expected one for each output that is not written in place");
        ordered.push_back(given[next++]);
        continue;
      }
      size_t at = returned;  // behind what it returns stand its in-place parameters, in their order
      for (int32_t input : op.in_place) at += input >= 0 && input < op.in_place[i] ? 1 : 0;
      ordered.push_back(given[at]);
    }
    return ordered;
  }
  if (op.order && given.size() > n_outputs) {  // gradients of what was left out
    std::vector<Tensor> there;
    for (auto &tensor : given)
      if (tensor.initialized()) there.push_back(tensor);
    return there;
  }
  return given;
}

inline void lend(const wry_call *call, const wry_tensor *x, Frame *to, Tensor *into) {
  BodyRef body = BodyRef::make();
  body->data = x->data;
  body->rank = x->rank;
  body->numel = x->size;
  for (int32_t k = 0; k < x->rank; ++k) body->dims[k] = x->shape[k];
  body->dtype = dtype_of(x->dtype);
  if (x->device == WRY_CPU)
    body->place.Reset(AllocationType::CPU);
  else
    body->place = place_of(x->device);
  body->stream = call->context->stream;
  to->lend(body.get());
  *into = Tensor(std::move(body));
}

// A result whose shape, or dtype where the shape is right, is not that of the output.
[[noreturn]] WHERRY_SELDOM inline void refuse_result(const OpInfo &op, const Body &body, const wry_tensor &out, int32_t i, bool same_shape) {
  if (same_shape)
    PD_THROW("the kernel function returned ", ToString(body.dtype), " for output ", i, ", expected ", ToString(dtype_of(out.dtype)), ", which ",
             op.order ? "is the dtype of the tensor that the gradient belongs to" : "the dtype function says: see SetInferDtypeFn");
  std::string got, expected;
  for (int32_t k = 0; k < body.rank; ++k) got += (k ? ", " : "") + std::to_string(body.dims[k]);
  for (int32_t k = 0; k < out.rank; ++k) expected += (k ? ", " : "") + std::to_string(out.shape[k]);
  PD_THROW("the kernel function returned shape [", got, "] for output ", i, ", expected [", expected, "], which ",
           op.order ? "is the shape of the tensor that the gradient belongs to" : "the shape function says: see SetInferShapeFn");
}

// What each call does: lends the memory of inputs and outputs, runs the function, and sees that the results are in place.
inline int run_kernel(const wry_call *call) {
  const OpInfo &op = *static_cast<const OpInfo *>(call->data);
  Frame *&current = frame();
  Frame here(call, current);
  try {
    struct Entered {
      Frame *&slot;
      Entered(Frame *&at, Frame *to) : slot(at) { slot = to; }
      ~Entered() { slot = slot->outer; }
    } entered(current, &here);
    Tensor few[Frame::FEW];
    std::vector<Tensor> many;
    Tensor *inputs = few;
    if (call->n_inputs > Frame::FEW) {
      many.resize(static_cast<size_t>(call->n_inputs));
      inputs = many.data();
    }
    const wry_attr *attrs = call->attrs;
    const int64_t *lengths = nullptr;
    if (op.has_list) {
      lengths = attrs->value.ints;
      ++attrs;
    }
    for (int32_t i = 0; i < call->n_inputs; ++i)
      if (call->inputs[i]) lend(call, call->inputs[i], &here, inputs + i);
    std::vector<Tensor> results = op.kernel.function(inputs, lengths, attrs);
    const size_t expected = static_cast<size_t>(call->n_outputs);
    if (!op.in_place.empty() || (op.order && results.size() > expected)) results = in_order(op, std::move(results), expected);
    if (results.size() != static_cast<size_t>(call->n_outputs))
      PD_THROW("the kernel function returned ", results.size(), " tensors, expected ", call->n_outputs, ", one for each of Outputs");
    for (int32_t i = 0; i < call->n_outputs; ++i) {
      const Tensor &result = results[static_cast<size_t>(i)];
      if (!result.initialized()) PD_THROW("the kernel function returned no values for output ", i, ", '", op.outputs[static_cast<size_t>(i) < op.outputs.size() ? static_cast<size_t>(i) : op.outputs.size() - 1], "'");
      const Body &body = *result.body();
      wry_tensor *out = call->outputs[i];
      void *to = out ? out->data : nullptr;
      if (!out) {
        to = call->context->allocate_output(call->context, i, body.rank, body.dims);
        if (!to) {
          std::snprintf(call->context->error, WRY_ERROR_SIZE, "%s: there is no memory for output %d.", op.name.c_str(), int(i));
          return WRY_OUT_OF_MEMORY;
        }
        out = call->outputs[i];
      }
      bool same = out->rank == body.rank;
      for (int32_t k = 0; same && k < body.rank; ++k) same = out->shape[k] == body.dims[k];
      if (!same || out->dtype != wry_dtype_of(body.dtype)) refuse_result(op, body, *out, i, same);
      if (body.address() != to) {
        const size_t bytes = static_cast<size_t>(body.numel) * phi::SizeOf(body.dtype);
        const int32_t from = device_of(body.place);
        if (out->device == WRY_CPU && from == WRY_CPU) {
          if (bytes) std::memmove(to, body.address(), bytes);
        } else if (bytes && host()->copy(to, out->device, body.address(), from, bytes, call->context->error) != WRY_OK) {
          return WRY_INTERNAL;
        }
      }
    }
    results.clear();
    many.clear();
    for (int32_t i = 0; i < call->n_inputs && i < Frame::FEW; ++i) few[i].reset();
    for (uint32_t i = 0; i < here.n_lent; ++i) {
      Body *body = here.lent[i];
      if (!body) continue;  // held beyond this call: it gets memory of its own
      body->lent = nullptr;
      if (body->place.GetType() == AllocationType::CPU) {
        const size_t bytes = static_cast<size_t>(body->numel) * phi::SizeOf(body->dtype);
        auto memory = std::make_shared<Memory>();
        memory->data = ::aligned_alloc(64, (bytes + 64) / 64 * 64);
        if (memory->data && bytes) std::memcpy(memory->data, body->data, bytes);
        body->data = memory->data;
        body->memory = std::move(memory);
      } else {
        body->data = nullptr;
      }
    }
    return WRY_OK;
  } catch (const std::exception &problem) {
    write_error(call->context->error, op.name, problem.what());
  } catch (...) {
    write_error(call->context->error, op.name, "an exception that is no std::exception");
  }
  for (uint32_t i = 0; i < here.n_lent; ++i)
    if (here.lent[i]) {  // it holds nothing from now on
      here.lent[i]->data = nullptr;
      here.lent[i]->lent = nullptr;
    }
  return WRY_INTERNAL;
}

inline int run_infer(const void *data, const wry_meta *inputs, const int64_t *lengths, const wry_attr *attrs, wry_meta *results, int32_t room,
                     char *error) {
  const OpInfo &op = *static_cast<const OpInfo *>(data);
  try {
    size_t n = 0;
    for (size_t i = 0; i < op.inputs.size(); ++i) n += static_cast<size_t>(lengths[i]);
    std::vector<Shape> shapes, found;
    std::vector<DataType> dtypes, types;
    for (size_t i = 0; i < n; ++i) {
      shapes.emplace_back(inputs[i].shape, inputs[i].shape + inputs[i].rank);
      dtypes.push_back(dtype_of(inputs[i].dtype));
    }
    std::vector<size_t> becomes;  // the first tensor of the input that each output is written in place of
    for (int32_t input : op.in_place) {
      size_t at = 0;
      for (int32_t i = 0; i < input; ++i) at += static_cast<size_t>(lengths[i]);
      if (input >= 0) becomes.push_back(at);
    }
    const bool whole = !op.in_place.empty() && becomes.size() == op.in_place.size();
    if (op.shape.function)
      found = op.shape.function(shapes, lengths, attrs);
    else if (whole)
      for (size_t at : becomes) found.push_back(shapes[at]);
    else
      found = shapes;
    if (op.dtype.function)
      types = op.dtype.function(dtypes, lengths, attrs);
    else if (whole)
      for (size_t at : becomes) types.push_back(dtypes[at]);
    else
      types = dtypes;
    if (!op.dtype.function && !whole && !types.empty()) types.resize(found.size(), types[0]);
    if (found.size() != types.size())
      PD_THROW("the shape function gives ", found.size(), " shapes and the dtype function ", types.size(), " dtypes, expected one of each for each output");
    if (found.size() > static_cast<size_t>(room)) PD_THROW("there are ", found.size(), " outputs, expected at most ", room);
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].size() > WRY_MAX_RANK) PD_THROW("the shape function gives ", found[i].size(), " axes, expected at most ", WRY_MAX_RANK);
      results[i].dtype = wry_dtype_of(types[i]);
      results[i].rank = static_cast<int32_t>(found[i].size());
      for (size_t k = 0; k < found[i].size(); ++k) results[i].shape[k] = found[i][k];
    }
    return static_cast<int>(found.size());
  } catch (const std::exception &problem) {
    write_error(error, op.name, problem.what());
  } catch (...) {
    write_error(error, op.name, "an exception that is no std::exception");
  }
  return -1;
}

// In the order of definition; the elements stay where they are.
WHERRY_OF_LIBRARY inline std::vector<std::unique_ptr<OpInfo>> &operators() {
  static std::vector<std::unique_ptr<OpInfo>> all;
  return all;
}

}  // namespace detail

class OpMetaInfoBuilder {
 public:
  OpMetaInfoBuilder(const char *name, int32_t order, const char *file, int line) : op_(new detail::OpInfo) {
    op_->name = name;
    op_->order = order;
    op_->file = file;
    op_->line = line;
    detail::operators().emplace_back(op_);
  }
  OpMetaInfoBuilder &Inputs(std::vector<std::string> &&names) {
    op_->inputs = std::move(names);
    return *this;
  }
  OpMetaInfoBuilder &Outputs(std::vector<std::string> &&names) {
    op_->outputs = std::move(names);
    return *this;
  }
  OpMetaInfoBuilder &Attrs(std::vector<std::string> &&declarations) {
    op_->attrs = std::move(declarations);
    return *this;
  }
  template <typename... Texts>
  OpMetaInfoBuilder &Attrs(const char *first, const Texts &...rest) {  // several strings without braces
    op_->attrs = {first, rest...};
    return *this;
  }
  // Outputs that are inputs, written in place. Call it behind Inputs and Outputs.
  OpMetaInfoBuilder &SetInplaceMap(std::unordered_map<std::string, std::string> &&map) {
    op_->in_place.assign(op_->outputs.size(), -1);
    for (const auto &pair : map) {
      size_t from = 0, to = 0;
      while (from < op_->inputs.size() && op_->inputs[from] != pair.first) ++from;
      while (to < op_->outputs.size() && op_->outputs[to] != pair.second) ++to;
      if (from == op_->inputs.size() || to == op_->outputs.size()) {
        op_->problem = "SetInplaceMap names '" + pair.first + "' and '" + pair.second + "'";
        continue;
      }
      op_->in_place[to] = static_cast<int32_t>(from);
    }
    return *this;
  }
  OpMetaInfoBuilder &SetKernelFn(detail::Kernel kernel) {
    op_->kernel = kernel;
    return *this;
  }
  OpMetaInfoBuilder &SetInferShapeFn(detail::MetaFunc<detail::Shape> function) {
    op_->shape = function;
    return *this;
  }
  OpMetaInfoBuilder &SetInferDtypeFn(detail::MetaFunc<DataType> function) {
    op_->dtype = function;
    return *this;
  }

 private:
  detail::OpInfo *op_;
};

namespace detail {

inline const wext_library *describe(const wext_host *offered) {
  static std::vector<const wext_op *> entries;
  static wext_library library;
  host() = offered;
  entries.clear();
  for (auto &op : operators()) {
    op->input_names.clear();
    op->output_names.clear();
    op->attr_names.clear();
    op->has_list = false;
    for (const auto *names : {&op->inputs, &op->outputs})
      for (const auto &name : *names) op->has_list = op->has_list || name.find("@VECTOR") != std::string::npos || name.find("@OPTIONAL") != std::string::npos;
    for (const auto &name : op->inputs) op->input_names.push_back(name.c_str());
    for (const auto &name : op->outputs) op->output_names.push_back(name.c_str());
    for (const auto &name : op->attrs) op->attr_names.push_back(name.c_str());
    wext_op &entry = op->entry;
    entry = wext_op();
    entry.size = sizeof(wext_op);
    entry.name = op->name.c_str();
    entry.order = op->order;
    entry.n_inputs = static_cast<int32_t>(op->inputs.size());
    entry.n_outputs = static_cast<int32_t>(op->outputs.size());
    entry.n_attrs = static_cast<int32_t>(op->attrs.size());
    entry.inputs = op->input_names.data();
    entry.outputs = op->output_names.data();
    entry.attrs = op->attr_names.data();
    entry.kernel = op->kernel.function ? &run_kernel : nullptr;
    entry.data = op.get();
    entry.has_shape = op->shape.function != nullptr;
    entry.has_dtype = op->dtype.function != nullptr;
    entry.n_params = op->kernel.n_tensors;
    entry.n_attr_params = op->kernel.n_attrs;
    entry.takes_attrs = op->shape.n_attrs;
    entry.file = op->file.c_str();
    entry.line = op->line;
    entry.infer = &run_infer;
    entry.in_place = op->in_place.empty() ? nullptr : op->in_place.data();
    entry.n_in_place_params = op->kernel.n_in_place;
    entry.problem = op->problem.empty() ? nullptr : op->problem.c_str();
    entries.push_back(&entry);
  }
  library.version = WEXT_VERSION;
  library.abi = WRY_ABI_VERSION;
  library.count = static_cast<int32_t>(entries.size());
  library.ops = entries.data();
  return &library;
}

}  // namespace detail
}  // namespace paddle

// Every source file of a library has it; the linker keeps one.
#if defined(_MSC_VER)
extern "C" __declspec(dllexport) inline const wext_library *wherry_extension(const wext_host *host) { return paddle::detail::describe(host); }
#else
extern "C" __attribute__((weak, used, visibility("default"))) const wext_library *wherry_extension(const wext_host *host) {
  return paddle::detail::describe(host);
}
#endif

#define PD_KERNEL(...) ::paddle::detail::KernelOf<decltype(&__VA_ARGS__), &__VA_ARGS__>::make()
#define PD_INFER_SHAPE(...) ::paddle::detail::MetaOf<::paddle::detail::Shape, decltype(&__VA_ARGS__), &__VA_ARGS__>::make()
#define PD_INFER_DTYPE(...) ::paddle::detail::MetaOf<::paddle::DataType, decltype(&__VA_ARGS__), &__VA_ARGS__>::make()

#define PD_BUILD_OP(op_name) static ::paddle::OpMetaInfoBuilder wherry_op_##op_name = ::paddle::OpMetaInfoBuilder(#op_name, 0, __FILE__, __LINE__)
#define PD_BUILD_GRAD_OP(op_name) \
  static ::paddle::OpMetaInfoBuilder wherry_op_##op_name##_grad = ::paddle::OpMetaInfoBuilder(#op_name, 1, __FILE__, __LINE__)
#define PD_BUILD_DOUBLE_GRAD_OP(op_name) \
  static ::paddle::OpMetaInfoBuilder wherry_op_##op_name##_grad_grad = ::paddle::OpMetaInfoBuilder(#op_name, 2, __FILE__, __LINE__)
