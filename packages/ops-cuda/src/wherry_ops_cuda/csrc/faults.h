// What a kernel finds wrong in data: one record for each device, read and cleared when somebody waits; the first fault stays.
#ifndef WHERRY_CUDA_FAULTS_H
#define WHERRY_CUDA_FAULTS_H

#include <stdint.h>

namespace wherry {
namespace cuda {

enum Fault : int32_t { NO_FAULT,
                       DIVISION_BY_ZERO,
                       INDEX_OUT_OF_RANGE,
                       LABEL_OUT_OF_RANGE,
                       POSITION_OUTSIDE_OF_PLANE,
                       VALUE_NOT_A_CLASS,
                       VALUE_NEGATIVE,
                       VALUE_OUTSIDE_OF_TABLE,
                       NOT_A_PROBABILITY,
                       LENGTH_OUT_OF_RANGE,
                       PROBABILITY_OUT_OF_RANGE,
                       RATE_OUT_OF_RANGE,
                       SHAPE_OUT_OF_RANGE,
                       WEIGHT_OUT_OF_RANGE,
                       TOO_FEW_WEIGHTS,
                       NOT_POSITIVE_DEFINITE,
                       MATRIX_IS_SINGULAR,
                       PIVOT_IS_NO_ROW,
                       COUNT_DIFFERS,
                       STEPS_OUT_OF_RANGE,
                       SYMBOLS_OUT_OF_RANGE,
                       NOT_A_SYMBOL,
                       BOX_IN_NO_IMAGE,
                       SOURCE_OUT_OF_RANGE,
                       TARGET_OUT_OF_RANGE,
                       TARGETS_NOT_SORTED,
                       COLUMN_OUT_OF_RANGE,
                       ROWS_DO_NOT_DIVIDE,
                       HOLDS_NO_NUMBER,
                       DOES_NOT_CONVERGE };
constexpr int32_t most_axes = 12;
struct Report {
  int32_t fault, op;        // op: a number that `arm` has given
  int64_t value, size, at;  // an index, label or position, what it should be below, and which of them it is
  int64_t least;            // the smallest that is allowed; of labels the one that counts nothing
  double number;            // a value that is not an integer
  int32_t axis, rank;       // of an index: the axis it stands for and the shape of the tensor; rank 0: they are not known
  int64_t shape[most_axes];
};

// The text and the status of what was found. (faults.cc)
int describe(const Report &report, const char *op, char *error);

}  // namespace cuda
}  // namespace wherry

#endif
