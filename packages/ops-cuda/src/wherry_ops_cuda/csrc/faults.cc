// What is said of data that a kernel refused.
#include "faults.h"

#include <stdio.h>
#include <wherry/abi.h>

#include <string>

namespace wherry {
namespace cuda {

// An index that is out of range, of an axis whose tensor may be known.
static int describe_index(const Report &r, const char *op, char *error) {
  std::string where = "an axis of " + std::to_string((long long)r.size);
  if (r.rank) {
    where = "axis " + std::to_string(r.axis) + " of shape [";
    for (int32_t i = 0; i < r.rank; ++i) where += (i ? ", " : "") + std::to_string((long long)r.shape[i]);
    where += "]";
  }
  snprintf(error, WRY_ERROR_SIZE, "%s: index %lld (element %lld of the indices) is out of range for %s. Got %lld, expected each index in [%lld, %lld). %s", op,
           (long long)r.value, (long long)r.at, where.c_str(), (long long)r.value, (long long)r.least, (long long)r.size,
           r.size == 0 ? "The axis is empty, so there is nothing to index."
           : r.least   ? "Indices count from 0; negative ones count from the end."
           : r.rank    ? "Check the ids, or use a table with more rows."
                       : "Indices count from 0.");
  return WRY_OUT_OF_RANGE;
}

// One case a fault, its text beside its numbers.
int describe(const Report &r, const char *op, char *error) {
  const long long value = r.value, size = r.size, at = r.at, least = r.least;
  const auto say = [&](int status, const char *format, auto... arguments) {
    snprintf(error, WRY_ERROR_SIZE, format, op, arguments...);
    return status;
  };
  switch (r.fault) {
    case DIVISION_BY_ZERO:
      return say(WRY_INVALID,
                 "%s: integer division by zero. Got a divisor `y` that holds a 0, expected none. Mask the zeros first (for example with where), or "
                 "divide floats.");
    case POSITION_OUTSIDE_OF_PLANE:
      return say(WRY_INVALID,
                 "%s: position %lld lies outside of its plane. Got it at flat place %lld, expected positions in [%lld, %lld). Give the mask of the "
                 "pooling that made the input, or a larger output_size.",
                 value, at, least, size);
    case LABEL_OUT_OF_RANGE:
      return say(WRY_OUT_OF_RANGE,
                 "%s: label %lld (element %lld) is out of range. Got %lld, expected each label in [0, %lld) or ignore_index=%lld. Check the number of "
                 "classes, or mark the element as ignored.",
                 value, at, value, size, least);
    case VALUE_NOT_A_CLASS:
      return say(WRY_INVALID,
                 "%s: value %lld (element %lld of x) is not a class. Got %lld, expected each in [0, %lld). Raise num_classes, or check the labels.", value,
                 at, value, size);
    case VALUE_NEGATIVE:
      return say(WRY_INVALID, "%s: value %lld is negative. Got %lld as a value of x, expected values of 0 or more. Subtract the minimum first.", value,
                 value);
    case VALUE_OUTSIDE_OF_TABLE:
      return say(WRY_INVALID,
                 "%s: value %lld (element %lld of x) is out of range. Got %lld, expected each in [0, %lld). index_num must be the size of the whole table.",
                 value, at, value, size);
    case NOT_A_PROBABILITY:
      return say(WRY_INVALID,
                 "%s: element %lld is not a probability. Got %g, expected numbers in [0, 1]. Apply sigmoid first, or pass logits to "
                 "binary_cross_entropy_with_logits.",
                 at, r.number);
    case LENGTH_OUT_OF_RANGE:
      return say(WRY_INVALID,
                 "%s: length %lld (of sequence %lld) is not possible. Got a length of %lld for sequences of %lld steps, expected each in [0, %lld]. Check "
                 "sequence_length, or the axis that is the time.",
                 value, at, value, size, size);
    case PROBABILITY_OUT_OF_RANGE:
      return say(WRY_OUT_OF_RANGE,
                 "%s: a probability is out of range. Got x[%lld] = %g in memory order, expected each in [0, 1]. Clip x, or divide it by its sum.", at, r.number);
    case RATE_OUT_OF_RANGE:
      return say(WRY_INVALID,
                 "%s: a rate is not a finite number from 0 on. Got x[%lld] = %g in memory order, expected each >= 0. Clip x at 0 first.", at, r.number);
    case SHAPE_OUT_OF_RANGE:
      return say(WRY_INVALID, "%s: a shape is not a finite number above 0. Got x[%lld] = %g in memory order. Clip x first.", at, r.number);
    case WEIGHT_OUT_OF_RANGE:
      return say(WRY_INVALID,
                 "%s: a weight is not a finite number from 0 on. Got %g in row %lld at %lld, expected each >= 0. Clip the weights, or take their "
                 "exponentials.",
                 r.number, value, at);
    case TOO_FEW_WEIGHTS:
      return say(WRY_INVALID,
                 "%s: not enough categories to draw from. Got %lld weights above 0 in row %lld for %lld samples, expected at least %lld. Draw fewer "
                 "samples, or with replacement.",
                 value, at, size, least);
    case NOT_POSITIVE_DEFINITE:
      return say(WRY_INVALID,
                 "%s: a matrix is not positive definite. Got matrix %lld of the batch with a leading minor of order %lld that is not positive, expected a "
                 "Hermitian matrix whose eigenvalues are all above 0. Add a small multiple of the identity, or use eigh.",
                 at, value);
    case MATRIX_IS_SINGULAR:
      return say(WRY_INVALID,
                 "%s: a matrix is singular. Got matrix %lld of the batch, whose pivot %lld is 0, expected one that has an inverse. Use pinv or lstsq for such "
                 "a matrix.",
                 at, value);
    case PIVOT_IS_NO_ROW:
      return say(WRY_INVALID, "%s: a pivot is not a row. Got %lld at position %lld of %lld, expected one in [1, %lld]. Pass the pivots that lu gave.", value, at,
                 least, size);
    case COUNT_DIFFERS:
      return say(WRY_INVALID,
                 "%s: the cotangent does not fit the mask. Got %lld values, expected %lld, the number of true elements. Do not change the mask between the "
                 "forward and the backward pass.",
                 value, size);
    case STEPS_OUT_OF_RANGE:
      return say(WRY_INVALID,
                 "%s: input_lengths[%lld] is not a number of steps. Got %lld, expected one in [0, %lld], the size of axis 0 of log_probs. Each says how "
                 "many steps of its example are used.",
                 at, value, size);
    case SYMBOLS_OUT_OF_RANGE:
      return say(WRY_INVALID,
                 "%s: label_lengths[%lld] is not a number of symbols. Got %lld, expected one in [0, %lld], the size of axis 1 of labels. Each says how "
                 "many symbols of its example are used.",
                 at, value, size);
    case NOT_A_SYMBOL:
      return say(WRY_INVALID,
                 "%s: labels[%lld, %lld] is not a symbol. Got %lld, expected one in [0, %lld) other than blank=%lld. What lies beyond label_lengths is "
                 "not looked at.",
                 at, (long long)r.axis, value, size, least);
    case BOX_IN_NO_IMAGE:
      return say(WRY_OUT_OF_RANGE, "%s: box %lld lies in no image. Got image %lld, expected one in [0, %lld). Count images from 0.", at, value, size);
    case SOURCE_OUT_OF_RANGE:
      return say(WRY_OUT_OF_RANGE, "%s: source %lld (element %lld) is out of range. Got %lld, expected each in [0, %lld). Check the indices.", value, at,
                 value, size);
    case TARGET_OUT_OF_RANGE:
      return say(WRY_OUT_OF_RANGE, "%s: target %lld (element %lld) is out of range. Got %lld, expected each in [0, %lld). Check the indices.", value, at,
                 value, size);
    case TARGETS_NOT_SORTED:
      return say(WRY_INVALID,
                 "%s: the targets are not sorted. Got %lld after %lld at element %lld, expected none smaller than the one before.", value, least, at);
    case COLUMN_OUT_OF_RANGE:
      return say(WRY_OUT_OF_RANGE, "%s: column %lld (element %lld) is out of range. Got %lld, expected each in [0, %lld). Check the indices.", value, at,
                 value, size);
    case ROWS_DO_NOT_DIVIDE:
      return say(WRY_INVALID,
                 "%s: crows does not divide the elements among rows. Got %lld to %lld for row %lld of %lld elements, expected to begin with 0, never to "
                 "fall, and to end with their number.",
                 value, least, at, size);
    case HOLDS_NO_NUMBER:
    case DOES_NOT_CONVERGE:
      return say(WRY_INVALID,
                 "%s: the iteration did not converge. Got matrix %lld of the batch %s, expected finite values of moderate size. %s.", at,
                 r.fault == DOES_NOT_CONVERGE ? "whose values are all finite" : "with values that are not finite",
                 r.fault == DOES_NOT_CONVERGE ? "Scale it, or use float64" : "Look for NaN and infinity before the call");
    default: return describe_index(r, op, error);
  }
}

}  // namespace cuda
}  // namespace wherry
