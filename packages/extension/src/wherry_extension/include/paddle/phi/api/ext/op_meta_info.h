// PD_BUILD_OP and its two companions: what an operator is made of.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
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

// A list of numbers or texts of an attribute travels as one string: its items, each after its length and a colon.
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
  const int64_t *out_lengths = nullptr;  // of the outputs that the function does not write in place
  size_t at = 0;                         // in tensors
  int input = 0;
};

// What a parameter is. What is written, in place or as an output by its pointer, is appended to what the function returns.
enum class Role { input,
                  in_place,
                  output,
                  attribute };

template <typename T>
struct Param {
  static_assert(always_false<T>::value,
                "a kernel function takes const paddle::Tensor&, const std::vector<paddle::Tensor>&, const paddle::optional of either, "
                "the same without const for what it writes in place, paddle::Tensor* and std::vector<paddle::Tensor*> for outputs "
                "of a function that returns nothing, and the attributes bool, int, float, "
                "int64_t, const std::string&, const std::vector<int>&, const std::vector<float>&, const std::vector<int64_t>& and "
                "const std::vector<std::string>&");
};

template <>
struct Param<const Tensor &> {
  static constexpr Role role = Role::input;
  using Kept = Tensor;
  static Tensor take(Taker &from) {
    ++from.input;
    return from.tensors[from.at++];
  }
};
template <>
struct Param<const std::vector<Tensor> &> {
  static constexpr Role role = Role::input;
  using Kept = std::vector<Tensor>;
  static std::vector<Tensor> take(Taker &from) {
    const size_t n = static_cast<size_t>(from.lengths[from.input++]), begin = from.at;
    from.at += n;
    return std::vector<Tensor>(from.tensors + begin, from.tensors + from.at);
  }
};

template <typename T>
struct Param<const optional<T> &> {
  static constexpr Role role = Role::input;
  using Kept = optional<T>;
  static Kept take(Taker &from) { return from.lengths[from.input] ? Kept(Param<const T &>::take(from)) : (++from.input, Kept()); }
};
// In place: a copy, which becomes the output that SetInplaceMap says. The framework writes it into the tensor, where gradients allow that.
inline void own(Tensor &x) {
  if (x.initialized()) x = x.copy_to(x.place(), true);
}
inline void own(std::vector<Tensor> &xs) {
  for (auto &x : xs) own(x);
}
template <typename T>
void own(optional<T> &x) {
  if (x) own(x.get());
}
template <typename T>
struct InPlace {
  static constexpr Role role = Role::in_place;
  using Kept = T;
  static T take(Taker &from) {
    T given = Param<const T &>::take(from);
    own(given);
    return given;
  }
};
template <>
struct Param<Tensor &> : InPlace<Tensor> {};
template <>
struct Param<std::vector<Tensor> &> : InPlace<std::vector<Tensor>> {};
template <>
struct Param<optional<Tensor> &> : InPlace<optional<Tensor>> {};
template <>
struct Param<optional<std::vector<Tensor>> &> : InPlace<optional<std::vector<Tensor>>> {};

// Outputs of a function that returns nothing: empty tensors, which it gives values.
template <>
struct Param<Tensor *> {
  static constexpr Role role = Role::output;
  using Kept = Tensor;
  static Tensor take(Taker &from) {
    ++from.out_lengths;
    return Tensor();
  }
};
template <>
struct Param<std::vector<Tensor> *> {
  static constexpr Role role = Role::output;
  using Kept = std::vector<Tensor>;
  static Kept take(Taker &from) { return Kept(static_cast<size_t>(*from.out_lengths++)); }
};
template <>
struct Param<std::vector<Tensor *>> : Param<std::vector<Tensor> *> {};

inline void append(std::vector<Tensor> &to, const Tensor &x) { to.push_back(x); }
inline void append(std::vector<Tensor> &to, const std::vector<Tensor> &xs) { to.insert(to.end(), xs.begin(), xs.end()); }
template <typename T>
void append(std::vector<Tensor> &to, const optional<T> &x) {
  if (x) append(to, x.get());
}

// What is kept of a parameter, as the function takes it.
template <typename Arg>
struct Pass {
  template <typename Kept>
  static Kept &as(Kept &kept) {
    return kept;
  }
};
template <typename T>
struct Pass<T *> {
  static T *as(T &kept) { return &kept; }
};
template <>
struct Pass<std::vector<Tensor *>> {
  static std::vector<Tensor *> as(std::vector<Tensor> &kept) {
    std::vector<Tensor *> out;
    for (auto &x : kept) out.push_back(&x);
    return out;
  }
};

#define WHERRY_ATTR_PARAM(type, expression)       \
  template <>                                     \
  struct Param<type> {                            \
    static constexpr Role role = Role::attribute; \
    using Kept = std::decay_t<type>;              \
    static Kept take(Taker &from) {               \
      const wry_attr &attr = *from.attrs++;       \
      return expression;                          \
    }                                             \
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

using KernelFunc = std::vector<Tensor> (*)(const Tensor *, const int64_t *, const wry_attr *, const int64_t *);

struct Kernel {
  KernelFunc function;  // gives what it returns, then what it wrote in place, then the outputs that it wrote by their pointers
  int n_tensors, n_attrs, n_in_place, n_outputs;
};

// What a call of `f` gives: its results, or nothing.
template <typename... Args, typename... Kept>
std::vector<Tensor> results_of(std::vector<Tensor> (*f)(Args...), Kept &...kept) {
  return f(Pass<Args>::as(kept)...);
}
template <typename... Args, typename... Kept>
std::vector<Tensor> results_of(void (*f)(Args...), Kept &...kept) {
  f(Pass<Args>::as(kept)...);
  return {};
}

template <typename F, F f>
struct KernelOf;
template <typename Result, typename... Args, Result (*f)(Args...)>
struct KernelOf<Result (*)(Args...), f> {
  static constexpr int count(Role role) { return count_true((Param<Args>::role == role)...); }
  static_assert(std::is_void<Result>::value || std::is_same<Result, std::vector<Tensor>>::value,
                "a kernel function returns std::vector<paddle::Tensor>, or nothing where all outputs are written");
  static_assert(std::is_void<Result>::value || count(Role::output) == 0,
                "a kernel function that takes outputs as pointers returns nothing");
  template <Role wanted, typename Arg, typename Kept>
  static void add(std::vector<Tensor> &to, const Kept &kept) {
    if constexpr (Param<Arg>::role == wanted) append(to, kept);
  }
  template <size_t... I>
  static std::vector<Tensor> apply(std::tuple<typename Param<Args>::Kept...> &kept, std::index_sequence<I...>) {
    std::vector<Tensor> found = results_of(f, std::get<I>(kept)...);
    (add<Role::in_place, Args>(found, std::get<I>(kept)), ...);
    (add<Role::output, Args>(found, std::get<I>(kept)), ...);
    return found;
  }
  static std::vector<Tensor> run(const Tensor *tensors, const int64_t *lengths, const wry_attr *attrs, const int64_t *out_lengths) {
    Taker from{tensors, lengths, attrs, out_lengths};
    std::tuple<typename Param<Args>::Kept...> kept{Param<Args>::take(from)...};  // braces: from left to right
    return apply(kept, std::index_sequence_for<Args...>());
  }
  static Kernel make() {
    return {&run, count(Role::input) + count(Role::in_place), count(Role::attribute), count(Role::in_place), count(Role::output)};
  }
};
// The frequent case, without the copies.
template <std::vector<Tensor> (*f)(const Tensor &)>
struct KernelOf<std::vector<Tensor> (*)(const Tensor &), f> {
  static std::vector<Tensor> run(const Tensor *tensors, const int64_t *, const wry_attr *, const int64_t *) { return f(*tensors); }
  static Kernel make() { return {&run, 1, 0, 0, 0}; }
};

// Shapes or dtypes of inputs, and attributes after shapes.
template <typename Item>
struct MetaTaker {
  const std::vector<Item> *items;
  const int64_t *lengths;
  const wry_attr *attrs;
  size_t n_inputs;
  size_t at = 0;
  size_t input = 0;
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
    if constexpr (!std::is_same<Item, DataType>::value)
      if (from.input == from.n_inputs) {  // a list of numbers after the shapes is an attribute
        Taker attrs{nullptr, nullptr, from.attrs};
        Item value = Param<const Item &>::take(attrs);
        from.attrs = attrs.attrs;
        return value;
      }
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
  std::vector<Item> (*function)(const std::vector<Item> &, const int64_t *, size_t, const wry_attr *);
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
  static std::vector<Item> run(const std::vector<Item> &items, const int64_t *lengths, size_t n_inputs, const wry_attr *attrs) {
    MetaTaker<Item> from{&items, lengths, attrs, n_inputs};
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
  std::unordered_map<std::string, std::string> in_place_names;
  std::vector<int32_t> in_place;  // for each output, the input that becomes it, -1: none; empty where there is none at all
  Kernel kernel{nullptr, 0, 0, 0, 0};
  MetaFunc<Shape> shape{nullptr, 0, 0};
  MetaFunc<DataType> dtype{nullptr, 0, 0};
  bool has_list = false;
  // Of a gradient: the tensor that each output belongs to. Numbers beyond the inputs stand for tensors that the call names for their
  // shapes only, `n_likes` of them.
  std::vector<int32_t> owner;
  size_t n_likes = 0;
  std::vector<int64_t> ones;  // the lengths, where there are no lists
  std::vector<const char *> input_names, output_names, attr_names;
  wext_op entry;

  static bool is_list(const std::string &label) { return label.find("@VECTOR") != std::string::npos; }
  static bool is_open(const std::string &label) { return is_list(label) || label.find("@OPTIONAL") != std::string::npos; }

  // The tensor whose shape and dtype an output has unless a function says otherwise; -1: none.
  int32_t like(size_t output) const {
    if (!in_place.empty() && in_place[output] >= 0) return in_place[output];
    return owner.empty() ? -1 : owner[output];
  }
  // The number of tensors of each output, which are `total` together.
  std::vector<int64_t> counts(const int64_t *lengths, int64_t total) const {
    std::vector<int64_t> found;
    size_t open = outputs.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int32_t from = like(i);
      found.push_back(!is_open(outputs[i]) ? 1 : from >= 0 ? lengths[from]
                                                           : 0);
      if (is_open(outputs[i]) && from < 0) open = i;
      total -= found.back();
    }
    if (open < outputs.size() && total > 0) found[open] = total;
    return found;
  }
};

// What a kernel function gave, in the order of the outputs, where it is not that already.
WHERRY_SELDOM inline std::vector<Tensor> in_order(const OpInfo &op, const std::vector<Tensor> &given, const int64_t *lengths, int64_t total) {
  const std::vector<int64_t> counts = op.counts(lengths, total);
  std::vector<size_t> begin(op.inputs.size() + 1, 0);  // of what was written in place, after what was returned
  for (size_t input = 0; input < op.inputs.size(); ++input) {
    begin[input + 1] = begin[input];
    for (int32_t from : op.in_place)
      if (from == static_cast<int32_t>(input)) begin[input + 1] += static_cast<size_t>(lengths[input]);
  }
  const auto is_plain = [&op](size_t i) { return op.in_place.empty() || op.in_place[i] < 0; };
  size_t n_pointers = 0, plain = 0;  // a pointer to one tensor is there for an output that is left out, too
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!is_plain(i)) continue;
    plain += static_cast<size_t>(counts[i]);
    if (op.kernel.n_outputs) n_pointers += OpInfo::is_list(op.outputs[i]) ? static_cast<size_t>(counts[i]) : 1;
  }
  size_t returned = given.size() - begin.back() - n_pointers;
  std::vector<Tensor> kept(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(returned));
  const size_t written = returned;
  if (op.order && returned > plain) {  // gradients of what was left out
    kept.clear();
    for (size_t i = 0; i < written; ++i)
      if (given[i].initialized()) kept.push_back(given[i]);
    returned = kept.size();
  }
  if (!op.kernel.n_outputs && returned != plain)
    PD_THROW("the kernel function returned ", returned, " tensors, expected ", plain, ", one for each output that it does not write");
  std::vector<Tensor> ordered;
  size_t next = op.kernel.n_outputs ? written + begin.back() : 0;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const size_t n = static_cast<size_t>(counts[i]);
    if (!is_plain(i)) {
      const auto from = given.begin() + static_cast<std::ptrdiff_t>(written + begin[static_cast<size_t>(op.in_place[i])]);
      ordered.insert(ordered.end(), from, from + static_cast<std::ptrdiff_t>(n));
      continue;
    }
    const std::vector<Tensor> &source = op.kernel.n_outputs ? given : kept;
    for (size_t k = 0; k < n; ++k) ordered.push_back(source[next + k]);
    next += op.kernel.n_outputs && !OpInfo::is_list(op.outputs[i]) ? 1 : n;
  }
  return ordered;
}

// The lengths of the outputs that a function takes as pointers.
WHERRY_SELDOM inline std::vector<int64_t> plain_counts(const OpInfo &op, const int64_t *lengths, int64_t total) {
  const std::vector<int64_t> counts = op.counts(lengths, total);
  std::vector<int64_t> found;
  for (size_t i = 0; i < counts.size(); ++i)
    if (op.in_place.empty() || op.in_place[i] < 0) found.push_back(counts[i]);
  return found;
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
             op.order && !op.dtype.function ? "is the dtype of the tensor that the gradient belongs to" : "the dtype function says: see SetInferDtypeFn");
  std::string got, expected;
  for (int32_t k = 0; k < body.rank; ++k) got += (k ? ", " : "") + std::to_string(body.dims[k]);
  for (int32_t k = 0; k < out.rank; ++k) expected += (k ? ", " : "") + std::to_string(out.shape[k]);
  PD_THROW("the kernel function returned shape [", got, "] for output ", i, ", expected [", expected, "], which ",
           op.order && !op.shape.function ? "is the shape of the tensor that the gradient belongs to" : "the shape function says: see SetInferShapeFn");
}

// What each call does: lends the memory of inputs and outputs, runs the function, and sees that the results are in place.
// In one piece: what was lent is given back at every way out, which one frame does.
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
    const int64_t *lengths = op.ones.data();
    if (op.has_list) {
      lengths = attrs->value.ints;
      ++attrs;
    }
    for (int32_t i = 0; i < call->n_inputs; ++i)
      if (call->inputs[i]) lend(call, call->inputs[i], &here, inputs + i);
    std::vector<int64_t> out_lengths;
    if (op.kernel.n_outputs) out_lengths = plain_counts(op, lengths, call->n_outputs);
    std::vector<Tensor> results = op.kernel.function(inputs, lengths, attrs, out_lengths.data());
    if (!op.in_place.empty() || op.kernel.n_outputs || (op.order && results.size() > static_cast<size_t>(call->n_outputs)))
      results = in_order(op, results, lengths, call->n_outputs);
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
        body->move_to(memory->data);
        body->memory = std::move(memory);
      } else {
        body->move_to(nullptr);
      }
    }
    return WRY_OK;
  } catch (const std::exception &problem) {
    write_error(call->context->error, op.name, problem.what());
  } catch (...) {
    write_error(call->context->error, op.name, "an exception that is not a std::exception");
  }
  for (uint32_t i = 0; i < here.n_lent; ++i)
    if (here.lent[i]) {  // it holds nothing from now on
      here.lent[i]->move_to(nullptr);
      here.lent[i]->lent = nullptr;
    }
  return WRY_INTERNAL;
}

// Shapes or dtypes of all outputs: what the function says, and those of the tensors that the others are like.
template <typename Item>
std::vector<Item> said(const OpInfo &op, const MetaFunc<Item> &says, const std::vector<Item> &items, const int64_t *lengths, const wry_attr *attrs) {
  std::vector<Item> found = says.function ? says.function(items, lengths, op.inputs.size(), attrs) : std::vector<Item>();
  if (op.in_place.empty() && (says.function || op.owner.empty())) return says.function ? found : items;
  const std::vector<int64_t> counts = op.counts(lengths, 0);
  size_t whole = 0;
  for (int64_t n : counts) whole += static_cast<size_t>(n);
  if (says.function && found.size() == whole) return found;  // of what is written in place, too
  std::vector<Item> out;
  size_t next = 0;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const int32_t from = op.like(i);
    const bool asked = says.function && (op.in_place.empty() || op.in_place[i] < 0);
    if (from >= 0 && !asked) {
      size_t at = 0;
      for (int32_t k = 0; k < from; ++k) at += static_cast<size_t>(lengths[k]);
      for (int64_t k = 0; k < counts[i]; ++k) out.push_back(items[at + static_cast<size_t>(k)]);
      continue;
    }
    if (!says.function) {
      out.push_back(items[0]);
      continue;
    }
    for (int64_t k = 0; k < counts[i]; ++k) {
      if (next == found.size())
        PD_THROW("the shape and dtype functions give ", found.size(), " values, expected one for each output that is not written in place");
      out.push_back(found[next++]);
    }
  }
  return out;
}

inline int run_infer(const void *data, const wry_meta *inputs, const int64_t *lengths, const wry_attr *attrs, wry_meta *results, int32_t room,
                     char *error) {
  const OpInfo &op = *static_cast<const OpInfo *>(data);
  try {
    size_t n = 0;
    for (size_t i = 0; i < op.inputs.size() + op.n_likes; ++i) n += static_cast<size_t>(lengths[i]);
    std::vector<Shape> shapes;
    std::vector<DataType> dtypes;
    for (size_t i = 0; i < n; ++i) {
      shapes.emplace_back(inputs[i].shape, inputs[i].shape + inputs[i].rank);
      dtypes.push_back(dtype_of(inputs[i].dtype));
    }
    const std::vector<Shape> found = said(op, op.shape, shapes, lengths, attrs);
    std::vector<DataType> types = said(op, op.dtype, dtypes, lengths, attrs);
    if (!op.dtype.function && op.in_place.empty() && !op.order && !types.empty()) types.resize(found.size(), types[0]);
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
    write_error(error, op.name, "an exception that is not a std::exception");
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
  // Outputs that are inputs, written in place.
  OpMetaInfoBuilder &SetInplaceMap(std::unordered_map<std::string, std::string> &&map) {
    op_->in_place_names = std::move(map);
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

// What follows from names, once all of an operator is declared.
inline void resolve(OpInfo &op) {
  op.in_place.clear();
  op.owner.clear();
  op.problem.clear();
  const auto place = [](const std::vector<std::string> &names, const std::string &name) {
    size_t at = 0;
    while (at < names.size() && names[at] != name) ++at;
    return at;
  };
  if (!op.in_place_names.empty()) op.in_place.assign(op.outputs.size(), -1);
  for (const auto &pair : op.in_place_names) {
    const size_t from = place(op.inputs, pair.first), to = place(op.outputs, pair.second);
    if (from == op.inputs.size() || to == op.outputs.size())
      op.problem = "SetInplaceMap names '" + pair.first + "' and '" + pair.second + "'";
    else
      op.in_place[to] = static_cast<int32_t>(from);
  }
  std::vector<std::string> known = op.inputs;
  if (op.order)
    for (std::string name : op.outputs) {
      for (const char *suffix : {"@NEW", "@GRAD"}) {
        const size_t n = std::strlen(suffix);
        if (name.size() > n && name.compare(name.size() - n, n, suffix) == 0) name.resize(name.size() - n);
      }
      const size_t at = place(known, name);
      if (at == known.size()) known.push_back(name);
      op.owner.push_back(static_cast<int32_t>(at));
    }
  op.n_likes = known.size() - op.inputs.size();
  op.ones.assign(known.size() + 1, 1);
}

inline const wext_library *describe(const wext_host *offered) {
  static std::vector<const wext_op *> entries;
  static wext_library library;
  host() = offered;
  entries.clear();
  std::vector<std::string> listed;  // names of operators with lists, whose gradients are called in the same way
  for (auto &op : operators()) {
    resolve(*op);
    for (const auto *names : {&op->inputs, &op->outputs})
      for (const auto &name : *names)
        if (OpInfo::is_open(name)) listed.push_back(op->name + std::to_string(op->order));
  }
  const auto lists = [&listed](const std::string &name, int32_t order) {
    for (int32_t i = order; i >= 0; --i)
      for (const auto &one : listed)
        if (one == name + std::to_string(i)) return true;
    return false;
  };
  for (auto &op : operators()) {
    op->input_names.clear();
    op->output_names.clear();
    op->attr_names.clear();
    op->has_list = lists(op->name, op->order);
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
    // Lists of numbers after the shapes of all inputs are attributes.
    entry.takes_attrs = std::max(op->shape.n_attrs + (op->shape.function ? std::max(0, op->shape.n_inputs - entry.n_inputs) : 0), op->dtype.n_attrs);
    entry.file = op->file.c_str();
    entry.line = op->line;
    entry.infer = &run_infer;
    entry.in_place = op->in_place.empty() ? nullptr : op->in_place.data();
    entry.n_in_place_params = op->kernel.n_in_place;
    entry.n_output_params = op->kernel.n_outputs;
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
