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
                       POSITION_OUTSIDE_OF_PLANE };
struct Report {
  int32_t fault, op;        // op: a number that `arm` has given
  int64_t value, size, at;  // an index, label or position, what it should be below, and which of them it is
  int64_t least;            // the smallest that is allowed; of labels the one that counts nothing
};

}  // namespace cuda
}  // namespace wherry

#endif
