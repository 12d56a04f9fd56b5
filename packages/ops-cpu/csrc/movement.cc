// Movement: values change their place and nothing else, except in sum_like.
//
// Most kernels describe the destination as one or a few parts of a tensor and leave the moving to
// copy.h. They serve every dtype (row -1), because only the size of an element matters to them.
#include "copy.h"

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
    int64_t before = paddings[2 * axis], after = paddings[2 * axis + 1];
    if (before == 0 && after == 0) continue;
    // Negative paddings cut x: that makes the gradient of padding a padding.
    const int64_t cut_before = before < 0 ? -before : 0, cut_after = after < 0 ? -after : 0;
    const int64_t n = max_of<int64_t>(x->shape[axis] - cut_before - cut_after, 0);
    before = min_of(max_of<int64_t>(before, 0), out->shape[axis]);
    after = out->shape[axis] - before - min_of(n, out->shape[axis] - before);
    source.narrow(axis, min_of(cut_before, x->shape[axis]), out->shape[axis] - before - after);
    dispatch_size(item_size(out), [&](auto tag) {
      using W = decltype(tag);
      W word;
      memcpy(&word, &value, sizeof(W));
      View slab(target);
      slab.narrow(axis, 0, before);
      fill_tensor<W>(call, &slab.tensor, word);
      View other(target);
      other.narrow(axis, out->shape[axis] - after, after);
      fill_tensor<W>(call, &other.tensor, word);
    });
    target.narrow(axis, before, out->shape[axis] - before - after);
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
  for (int i = 0; i < axes.length; ++i) {  // an axis may be named twice
    const int axis = int(axes[i]);
    const int64_t n = x->shape[axis];
    shift[axis] = (shift[axis] + shifts[i] % n + n) % n;
  }
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
    const int64_t n = part.shape[axis], step = steps[i];
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

// ---- sum_like -----------------------------------------------------------------------------------

// The type a sum grows in: wider than T, as a float total stops growing at 2^24.
template <typename T> struct total_of { using type = int64_t; };
template <> struct total_of<float16> { using type = float; };
template <> struct total_of<bfloat16> { using type = float; };
template <> struct total_of<float> { using type = double; };
template <> struct total_of<double> { using type = double; };
template <typename R> struct total_of<complex<R>> { using type = complex<double>; };

// Sums x over the axes where out has size 1 or no axis at all.
//
// The axes of x fall into kept and summed ones. Pieces of outputs are independent of each other,
// each adds in the order of x's memory, and a sum longer than a block is made of the sums of fixed
// blocks: the result does not depend on the number of threads.
template <typename T>
static int sum_like(const wry_call *call) {
  using Total = typename total_of<T>::type;
  using A = arithmetic_t<T>;
  const wry_tensor *x = input(call, 0), *out = output(call, 0);
  T *to = data<T>(out);
  if (x->size == out->size) {
    copy_tensor(call, out, x);
    return WRY_OK;
  }
  if (x->size == 0) {
    memset((void *)to, 0, size_t(out->size) * sizeof(T));
    return WRY_OK;
  }
  // out as an operand of x's shape: stride 0 along summed axes.
  int64_t kept_shape[WRY_MAX_RANK], summed_shape[WRY_MAX_RANK], kept_steps[WRY_MAX_RANK], summed_steps[WRY_MAX_RANK];
  wry_tensor kept = *x, summed = *x;
  kept.shape = kept_shape, kept.strides = kept_steps, kept.rank = 0, kept.size = 1;
  summed.shape = summed_shape, summed.strides = summed_steps, summed.rank = 0, summed.size = 1;
  bool inner_is_kept = true;
  for (int axis = 0; axis < x->rank; ++axis) {
    const int64_t n = x->shape[axis];
    if (n == 1) continue;
    const int at = axis - (x->rank - out->rank);
    inner_is_kept = at >= 0 && out->shape[at] == n;
    wry_tensor &side = inner_is_kept ? kept : summed;
    const_cast<int64_t *>(side.shape)[side.rank] = n;
    const_cast<int64_t *>(side.strides)[side.rank] = x->strides[axis];
    ++side.rank;
    side.size *= n;
  }
  const StridedLoop<1> outputs = make_loop<1>(&kept, {&kept}, true);
  const StridedLoop<1> terms = make_loop<1>(&summed, {&summed}, true);
  const int64_t item = int64_t(sizeof(T));

  if (!inner_is_kept) {
    // One output is the sum of runs: four partial sums hide the latency of the addition.
    const auto sum_range = [&](const char *base, int64_t begin, int64_t end) {
      StridedLoop<1> own = terms;
      own.base[0] = const_cast<char *>(base);
      Total total = Total(0);
      strided_range(own, begin, end, [&](char *const *at, const int64_t *step, int64_t n) {
        const T *from = (const T *)at[0];
        const int64_t s = step[0];
        Total part[4] = {Total(0), Total(0), Total(0), Total(0)};
        int64_t i = 0;
        if (s == 1) {
          for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; ++k) part[k] += Total(A(from[i + k]));
        }
        for (; i < n; ++i) part[0] += Total(A(from[i * s]));
        total += (part[0] + part[1]) + (part[2] + part[3]);
      });
      return total;
    };
    constexpr int64_t block = 1 << 15;
    if (kept.size < 8 && summed.size > 2 * block) {
      const int64_t blocks = (summed.size + block - 1) / block;
      Total *partial = workspace<Total>(call, blocks);
      if (!partial) return fail_memory(call, "sum_like", blocks * int64_t(sizeof(Total)));
      int64_t at = 0;
      for_each_strided(outputs, [&](char *const *base, const int64_t *step, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          parallel_blocks(call, summed.size, block, [&](int64_t b, int64_t begin, int64_t end) {
            partial[b] = sum_range(base[0] + i * step[0] * item, begin, end);
          });
          Total total = Total(0);
          for (int64_t b = 0; b < blocks; ++b) total += partial[b];
          to[at++] = T(A(total));
        }
      });
      return WRY_OK;
    }
    parallel_for(call, kept.size, max_of<int64_t>(1, 32768 / summed.size), [&](int64_t begin, int64_t end) {
      int64_t at = begin;
      strided_range(outputs, begin, end, [&](char *const *base, const int64_t *step, int64_t n) {
        for (int64_t i = 0; i < n; ++i) to[at++] = T(A(sum_range(base[0] + i * step[0] * item, 0, summed.size)));
      });
    });
    return WRY_OK;
  }

  // The inner axis is kept: whole rows are added into a buffer of totals.
  constexpr int64_t width = 256;
  const int64_t run = outputs.shape[outputs.rank - 1];
  const int64_t chunks = (run + width - 1) / width;
  const int64_t step = outputs.strides[outputs.rank - 1][0];
  StridedLoop<1> rows = outputs;  // the outputs without their inner axis
  rows.shape[rows.rank - 1] = 1;
  rows.size = outputs.size / run;
  const auto add_rows = [&](int64_t piece, int64_t first, int64_t last, Total *totals) {
    const int64_t column = piece % chunks * width, n = min_of(width, run - column);
    for (int64_t i = 0; i < n; ++i) totals[i] = Total(0);
    const char *base = rows.base[0];
    int64_t rest = piece / chunks;
    for (int a = rows.rank - 2; a >= 0; --a) {
      base += rest % rows.shape[a] * rows.strides[a][0] * item;
      rest /= rows.shape[a];
    }
    StridedLoop<1> own = terms;
    own.base[0] = const_cast<char *>(base) + column * step * item;
    strided_range(own, first, last, [&](char *const *at, const int64_t *down, int64_t count) {
      const T *from = (const T *)at[0];
      for (int64_t r = 0; r < count; ++r, from += down[0]) {
        if (step == 1) {
          for (int64_t i = 0; i < n; ++i) totals[i] += Total(A(from[i]));
        } else {
          for (int64_t i = 0; i < n; ++i) totals[i] += Total(A(from[i * step]));
        }
      }
    });
    return n;
  };
  const int64_t pieces = rows.size * chunks;
  // Few outputs and many rows: the rows are cut into fixed blocks, too.
  const int64_t block = max_of<int64_t>(64, 32768 / min_of(run, width));
  if (pieces < 16 && summed.size > 2 * block) {
    const int64_t blocks = min_of<int64_t>(64, (summed.size + block - 1) / block);
    Total *partial = workspace<Total>(call, pieces * blocks * width);
    if (!partial) return fail_memory(call, "sum_like", pieces * blocks * width * int64_t(sizeof(Total)));
    parallel_for(call, pieces * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t b = p / pieces;
        add_rows(p % pieces, summed.size * b / blocks, summed.size * (b + 1) / blocks, partial + p * width);
      }
    });
    for (int64_t p = 0; p < pieces; ++p) {
      const int64_t column = p % chunks * width, n = min_of(width, run - column);
      for (int64_t i = 0; i < n; ++i) {
        Total total = Total(0);
        for (int64_t b = 0; b < blocks; ++b) total += partial[(b * pieces + p) * width + i];
        to[p / chunks * run + column + i] = T(A(total));
      }
    }
    return WRY_OK;
  }
  parallel_for(call, pieces, max_of<int64_t>(1, 32768 / (summed.size * min_of(run, width))), [&](int64_t begin, int64_t end) {
    Total totals[width];
    for (int64_t p = begin; p < end; ++p) {
      const int64_t n = add_rows(p, 0, summed.size, totals);
      T *row = to + p / chunks * run + p % chunks * width;
      for (int64_t i = 0; i < n; ++i) row[i] = T(A(totals[i]));
    }
  });
  return WRY_OK;
}

static int shape_of(const wry_call *call) {
  const wry_tensor *x = input(call, 0);
  for (int axis = 0; axis < x->rank; ++axis) data<int32_t>(output(call, 0))[axis] = int32_t(x->shape[axis]);
  return WRY_OK;
}

static const wry_kernel_entry table[] = {
    {"copy", -1, WRY_STRIDED_OUTPUT, copy},
    {"concat", -1, 0, concat},
    {"pad", -1, 0, pad},
    {"flip", -1, 0, flip},
    {"roll", -1, 0, roll},
    {"repeat_interleave", -1, 0, repeat_interleave},
    {"tril", -1, 0, tril},
    {"triu", -1, 0, triu},
    {"slice_put", -1, WRY_MAY_ALIAS | WRY_STRIDED_OUTPUT, slice_put},
    {"slice_vjp", -1, 0, slice_vjp},
    {"select_vjp", -1, 0, select_vjp},
    {"diagonal_vjp", -1, 0, diagonal_vjp},
    {"shape_of", -1, 0, shape_of},
    WRY_NUMBER_ROWS("sum_like", 0, sum_like),
};
WRY_TABLE(movement, table)

}  // namespace WRY_NAMESPACE
