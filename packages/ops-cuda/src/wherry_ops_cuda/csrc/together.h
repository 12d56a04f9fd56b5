// Calls that are kept back to become one launch: those of an op on many groups of tensors, as a step of an optimizer makes them.
//
// Between keep_together(true) and keep_together(false) a kernel may keep what it was asked for. The runtime settles before anything else that the
// thread asks of a device, so that the order of the stream is that of the calls. All of it belongs to one thread. (optimizer.cu)
#ifndef WHERRY_CUDA_TOGETHER_H
#define WHERRY_CUDA_TOGETHER_H

#include "common.h"

namespace wherry {
namespace cuda {

// Begins, or ends and puts what is kept on the stream.
int keep_together(bool begin, char *error);
// Puts what is kept on the stream, unless it is of `op`, which may keep on. `op` null: in any case.
int settle(const char *op, char *error);
// The same where nobody can be told; the next to settle, or the end, tells.
void settle_quietly();

// Keeps a call of `op` whose output is x times a number (null: 1). False where it has to be launched by itself, after those before it: tensors that are not
// contiguous, other dtypes than those of gradients and of their copies, a call that is not one of many.
bool keep_scaled(const wry_call *call, const char *op, const wry_tensor *x, const wry_tensor *number);

// Memory for what is kept, which has no call to ask; null when there is none. (runtime.cc)
void *take_scratch(int number, size_t bytes, cudaStream_t stream);
void give_scratch(int number, void *data, cudaStream_t stream);

}  // namespace cuda
}  // namespace wherry

#endif
