// Movement: values change their place and nothing else. (sum_like, which adds, is in reduction.cc.)
//
// Most kernels describe the destination as one or a few parts of a tensor and leave the moving to
// copy.h. They serve every dtype (row -1), because only the size of an element matters to them.
#include "copy.h"

#include <wherry/kernels/indices.h>

namespace WRY_NAMESPACE {

// x    any strides, broadcast to the shape of out
// out  may be strided (x[...] = y writes through here); must not overlap x
static int copy(const wry_call *call) {
  copy_tensor(call, output(call, 0), input(call, 0));
  return WRY_OK;
}

static int concat(const wry_call *call) {
  const wry_tensor *out = output(call, 0);
  const int axis = int(attr_int(call, 0));
  int64_t at = 0;
  for (int k = 0; k < call->n_inputs; ++k) {
    const wry_tensor *x = input(call, k);
    // Paddle's concat takes empty 1-D inputs of shape [0] beside others.
    if (x->rank <= axis) continue;
    const int64_t n = x->shape[axis];
    if (x->size != 0) {
      View part(out);
      part.narrow(axis, at, n);
      copy_strided(call, &part.tensor, x);
    }
    at += n;
  }
  return WRY_OK;
}

template <typename W>
static void fill_tensor(const wry_call *call, const wry_tensor *to, W value) {
  if (to->size == 0) return;
  const StridedLoop<1> loop = make_loop<1>(to, {to});
  parallel_strided(call, loop, bytes_per_thread / int64_t(sizeof(W)), [=](char *const *at, const int64_t *step, int64_t n) {
    W *out = (W *)at[0];
    if (step[0] == 1) {
      for (int64_t i = 0; i < n; ++i) out[i] = value;
    } else {
      for (int64_t i = 0; i < n; ++i) out[i * step[0]] = value;
    }
  });
}

// The constant as a value of `dtype`, in the first bytes of a word.
static word16 constant(int32_t dtype, double value) {
  word16 word = {0, 0};
  dispatch<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128>(
      dtype, [&](auto tag) {
        using T = decltype(tag);
        T typed;
        if constexpr (is_complex<T>::value) {
          typed = T(typename is_complex<T>::real(value));
        } else {
          typed = T(arithmetic_t<T>(value));
        }
        memcpy(&word, &typed, sizeof(T));
      });
  return word;
}

// Fills `out` outside of the box that x will be copied to: axis by axis the slabs before and after
// the box, then on with what is left between them, so that every element is written once.
static int pad(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Ints paddings = attr_ints(call, 0);
  const word16 value = constant(out->dtype, attr_float(call, 1));
  if (out->size == 0) return WRY_OK;
  View source(x), target(out);
  for (int axis = 0; axis < out->rank; ++axis) {
    if (paddings[2 * axis] == 0 && paddings[2 * axis + 1] == 0) continue;
    const PaddedAxis p = padded_axis(x->shape[axis], out->shape[axis], paddings[2 * axis], paddings[2 * axis + 1]);
    source.narrow(axis, p.begin, p.n);
    dispatch_size(item_size(out), [&](auto tag) {
      using W = decltype(tag);
      W word;
      memcpy(&word, &value, sizeof(W));
      View slab(target);
      slab.narrow(axis, 0, p.before);
      fill_tensor<W>(call, &slab.tensor, word);
      View other(target);
      other.narrow(axis, out->shape[axis] - p.after, p.after);
      fill_tensor<W>(call, &other.tensor, word);
    });
    target.narrow(axis, p.before, p.n);
  }
  copy_strided(call, &target.tensor, &source.tensor);
  return WRY_OK;
}

static int flip(const wry_call *call) {
  View source(input(call, 0));
  if (source.tensor.size == 0) return WRY_OK;
  for (const int64_t axis : attr_ints(call, 0)) source.narrow(int(axis), source.shape[axis] - 1, source.shape[axis], -1);
  copy_strided(call, output(call, 0), &source.tensor);
  return WRY_OK;
}

// Rows from the innermost rolled axis on are cut in two and swapped; the axes before it only say
// which row of x comes where.
static int roll(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const Ints shifts = attr_ints(call, 0), axes = attr_ints(call, 1);
  if (x->size == 0) return WRY_OK;
  int64_t shift[WRY_MAX_RANK] = {0};
  int last = 0;
  roll_shifts(x, shifts, axes, shift);
  for (int axis = 0; axis < x->rank; ++axis)
    if (shift[axis] != 0) last = axis;
  const wry_tensor *source = x;
  View contiguous(out);
  if (!is_contiguous(x)) {
    contiguous.tensor.data = call->context->workspace(call->context, size_t(x->size * item_size(x)));
    if (!contiguous.tensor.data) return fail_memory(call, "roll", x->size * item_size(x));
    copy_strided(call, &contiguous.tensor, x);
    source = &contiguous.tensor;
  }
  int64_t row = item_size(x), rows = 1;
  for (int axis = x->rank - 1; axis >= last && axis >= 0; --axis) row *= x->shape[axis];
  for (int axis = 0; axis < last; ++axis) rows *= x->shape[axis];
  const int64_t cut = x->rank == 0 ? 0 : row / x->shape[last] * shift[last];
  parallel_for(call, rows, max_of<int64_t>(1, bytes_per_thread / row), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, from_row = 0, pace = 1;
      for (int axis = last - 1; axis >= 0; --axis) {
        const int64_t n = x->shape[axis], at = rest % n - shift[axis];
        from_row += (at < 0 ? at + n : at) * pace;
        rest /= n, pace *= n;
      }
      char *to = data<char>(out) + r * row;
      const char *from = data<char>(source) + from_row * row;
      copy_row(to, from + row - cut, cut);
      copy_row(to + cut, from, row - cut);
    }
  });
  return WRY_OK;
}

static int repeat_interleave(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t repeats = attr_int(call, 0);
  const int axis = int(attr_int(call, 1));
  if (out->size == 0) return WRY_OK;
  View target(out);
  if (x->rank == WRY_MAX_RANK) {  // no room for one more axis
    for (int64_t k = 0; k < repeats; ++k) {
      View part(out);
      part.narrow(axis, k, x->shape[axis], repeats);
      copy_strided(call, &part.tensor, x);
    }
    return WRY_OK;
  }
  // [..., n * repeats, ...] as [..., n, repeats, ...]; x does not move along the new axis.
  View source(x);
  View *const views[] = {&target, &source};
  for (View *view : views) {
    for (int i = x->rank; i > axis + 1; --i)
      view->shape[i] = view->shape[i - 1], view->strides[i] = view->strides[i - 1];
    view->shape[axis] = x->shape[axis];
    view->shape[axis + 1] = view == &target ? repeats : 1;
    view->strides[axis + 1] = view->strides[axis];
    view->tensor.rank = x->rank + 1;
    view->measure();
  }
  target.strides[axis] *= repeats;
  copy_strided(call, &target.tensor, &source.tensor);
  return WRY_OK;
}

// Keeps columns c of row r with c - r <= diagonal (lower) or c - r >= diagonal; zero elsewhere.
template <typename W>
static void keep_triangle(const wry_call *call, bool lower) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  const int64_t diagonal = attr_int(call, 0);
  const int last = x->rank - 1;
  const int64_t rows = x->shape[last - 1], columns = x->shape[last];
  const int64_t row_step = x->strides[last - 1], step = x->strides[last];
  const int64_t lines = out->size / columns;
  parallel_for(call, lines, max_of<int64_t>(1, bytes_per_thread / (columns * int64_t(sizeof(W)))), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t rest = line / rows;
      const int64_t row = line % rows;
      const W *from = data<W>(x) + row * row_step;
      for (int a = last - 2; a >= 0; --a) {
        from += rest % x->shape[a] * x->strides[a];
        rest /= x->shape[a];
      }
      W *to = data<W>(out) + line * columns;
      // Both operands are bounded by the sizes first: a diagonal may be as large as int64 is.
      const int64_t bounded = min_of(max_of(diagonal, -rows), columns);
      const int64_t cut = min_of(max_of<int64_t>(row + bounded + (lower ? 1 : 0), 0), columns);
      const int64_t first = lower ? 0 : cut, kept = lower ? cut : columns - cut;
      if (first != 0) memset((void *)to, 0, size_t(first) * sizeof(W));
      copy_run(to + first, 1, from + first * step, step, kept);
      if (first + kept != columns) memset((void *)(to + first + kept), 0, size_t(columns - first - kept) * sizeof(W));
    }
  });
}

static int tril(const wry_call *call) {
  if (output(call, 0)->size != 0)
    dispatch_size(item_size(output(call, 0)), [&](auto word) { keep_triangle<decltype(word)>(call, true); });
  return WRY_OK;
}

static int triu(const wry_call *call) {
  if (output(call, 0)->size != 0)
    dispatch_size(item_size(output(call, 0)), [&](auto word) { keep_triangle<decltype(word)>(call, false); });
  return WRY_OK;
}

// ---- adjoints of views --------------------------------------------------------------------------

// The whole of out is zeroed and then partly written: a second pass over the part is cheaper than
// finding out what the part leaves.
static int write_part(const wry_call *call, const View &part) {
  const wry_tensor *out = output(call, 0);
  if (part.tensor.size != out->size) zero_bytes(call, out->data, out->size * item_size(out));
  copy_strided(call, &part.tensor, input(call, 0));
  return WRY_OK;
}

// Cuts `part` down to the slice that the attributes (axes, starts, ends, steps) name.
static void narrow_to_slice(const wry_call *call, View &part) {
  const Ints axes = attr_ints(call, 0), starts = attr_ints(call, 1), ends = attr_ints(call, 2), steps = attr_ints(call, 3);
  for (int i = 0; i < axes.length; ++i) {
    const int axis = int(axes[i]);
    const int64_t n = part.shape[axis], step = max_of<int64_t>(steps[i], -INT64_MAX);  // its negative must exist
    // Bounds mean what they mean in Python.
    int64_t start = starts[i], end = ends[i];
    const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? n - 1 : n;
    start = start < 0 ? max_of(start + n, lowest) : min_of(start, highest);
    end = end < 0 ? max_of(end + n, lowest) : min_of(end, highest);
    const int64_t span = step < 0 ? start - end : end - start;
    const int64_t pace = step < 0 ? -step : step;
    const int64_t count = span <= 0 ? 0 : (span - 1) / pace + 1;
    part.narrow(axis, count == 0 ? 0 : start, count, count <= 1 ? 1 : step);
  }
}

// ct    the cotangent of the slice
// like  only its shape counts, which is that of out
static int slice_vjp(const wry_call *call) {
  View part(output(call, 0));
  narrow_to_slice(call, part);
  return write_part(call, part);
}

// x      what out is outside of the slice; out may be its memory
// value  of the shape of the slice, any strides; must not overlap out
static int slice_put(const wry_call *call) {
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  if (x->data != out->data) copy_strided(call, out, x);
  View part(out);
  narrow_to_slice(call, part);
  copy_strided(call, &part.tensor, input(call, 1));
  return WRY_OK;
}

static int select_vjp(const wry_call *call) {
  View part(output(call, 0));
  const int axis = int(attr_int(call, 0));
  const int64_t index = attr_int(call, 1);
  part.drop(axis, index < 0 ? index + part.shape[axis] : index);
  return write_part(call, part);
}

static int diagonal_vjp(const wry_call *call) {
  View part(output(call, 0));
  const int64_t offset = attr_int(call, 0);
  const int axis1 = int(attr_int(call, 1)), axis2 = int(attr_int(call, 2));
  const int64_t rows = part.shape[axis1], columns = part.shape[axis2];
  const int64_t count = offset >= 0 ? min_of(rows, columns - offset) : min_of(rows + offset, columns);
  const int64_t step1 = part.strides[axis1], step2 = part.strides[axis2];
  if (count > 0) part.advance(offset >= 0 ? offset * step2 : -offset * step1);
  part.remove(max_of(axis1, axis2));
  part.remove(min_of(axis1, axis2));
  part.shape[part.tensor.rank] = max_of<int64_t>(count, 0);
  part.strides[part.tensor.rank] = step1 + step2;
  ++part.tensor.rank;
  part.measure();
  return write_part(call, part);
}

// ---- shapes as data -----------------------------------------------------------------------------

static int shape_of(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  for (int axis = 0; axis < x->rank; ++axis) data<int32_t>(output(call, 0))[axis] = int32_t(x->shape[axis]);
  return WRY_OK;
}

#include <wherry/kernels/rows/movement.h>
WRY_TABLE(movement, table)

}  // namespace WRY_NAMESPACE
