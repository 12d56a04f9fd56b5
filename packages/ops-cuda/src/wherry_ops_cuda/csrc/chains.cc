// Element-wise chains that were compiled at run time (chains.py): loading and launching them.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

#include "tables.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace wherry {
namespace cuda {

int check(const wry_call *call, cudaError_t error);

struct Module {
  cudaLibrary_t library;
  cudaKernel_t wide, plain;
};
struct Pointer {
  int32_t at, alignment;  // in the parameters; what `wide` needs of it
};
struct Chain {
  Row row;  // first: `dispatch` looks at it
  std::string name;
  Module *module;
  std::vector<char> parameters;
  std::vector<Pointer> outputs, inputs;
  int64_t size;
  int width;
};

static int run_chain(const wry_call *call) {
  const Chain *chain = static_cast<const Chain *>(call->data);
  if (chain->size == 0) return WRY_OK;
  alignas(16) char parameters[4096];
  memcpy(parameters, chain->parameters.data(), chain->parameters.size());
  bool aligned = true;
  const auto enter = [&](const Pointer &p, const wry_tensor *t) {
    if (p.at < 0) return;
    memcpy(parameters + p.at, &t->data, sizeof t->data);
    aligned = aligned && reinterpret_cast<uintptr_t>(t->data) % uintptr_t(p.alignment) == 0;
  };
  for (size_t i = 0; i < chain->outputs.size(); ++i) enter(chain->outputs[i], call->outputs[i]);
  for (size_t i = 0; i < chain->inputs.size(); ++i) enter(chain->inputs[i], call->inputs[i]);
  constexpr int block = 256;
  const int64_t threads = aligned ? (chain->size + chain->width - 1) / chain->width : chain->size;
  const int64_t blocks = (threads + block - 1) / block;
  void *arguments[] = {parameters};
  const cudaKernel_t kernel = aligned ? chain->module->wide : chain->module->plain;
  return check(call, cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(unsigned(blocks < 65536 ? blocks : 65536)), dim3(block), arguments, 0,
                                      static_cast<cudaStream_t>(call->context->stream)));
}

}  // namespace cuda
}  // namespace wherry

using namespace wherry::cuda;

// The kernels of an image; NULL, and a text, where the device does not take it.
EXPORT void *wry_cuda_chain_load(const void *image, char *error) {
  Module m = {};
  cudaError_t code = cudaLibraryLoadData(&m.library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code == cudaSuccess) code = cudaLibraryGetKernel(&m.wide, m.library, "wide");
  if (code == cudaSuccess) code = cudaLibraryGetKernel(&m.plain, m.library, "plain");
  if (code == cudaSuccess) return new Module(m);
  snprintf(error, WRY_ERROR_SIZE, "CUDA says '%s'", cudaGetErrorString(code));
  cudaGetLastError();
  return nullptr;
}

// `outputs` and `inputs`: a Pointer each.
EXPORT void *wry_cuda_chain_make(void *module, const char *parameters, int32_t bytes, int32_t n_outputs, const int32_t *outputs, int32_t n_inputs,
                                 const int32_t *inputs, int64_t size, int32_t width, const char *name) {
  auto *chain = new Chain{{}, name, static_cast<Module *>(module), {parameters, parameters + bytes}, {}, {}, size, width};
  for (int i = 0; i < n_outputs; ++i) chain->outputs.push_back({outputs[2 * i], outputs[2 * i + 1]});
  for (int i = 0; i < n_inputs; ++i) chain->inputs.push_back({inputs[2 * i], inputs[2 * i + 1]});
  chain->row = {run_chain, chain->name.c_str()};
  return chain;
}
EXPORT void wry_cuda_chain_free(void *chain) { delete static_cast<Chain *>(chain); }

// A wry_kernel, whose `data` is what `wry_cuda_chain_make` gave.
EXPORT int wry_cuda_chain_kernel(const wry_call *call) { return dispatch(call); }

static const char *functor_of(const char *op, int32_t dtype) {
  const wry_kernel_entry *any = nullptr;
  for (Family family : families) {
    size_t count = 0;
    const wry_kernel_entry *rows = family(&count);
    for (size_t i = 0; i < count; ++i) {
      if (strcmp(rows[i].op, op) != 0) continue;
      if (rows[i].dtype == dtype) return static_cast<const char *>(rows[i].data);
      if (rows[i].dtype == -1) any = rows + i;
    }
  }
  if (any) return static_cast<const char *>(any->data);
#ifdef WRY_FEW_DTYPES  // which left out what is computed as one of these
  if (dtype == WRY_BFLOAT16) return functor_of(op, WRY_FLOAT16);
  if (dtype == WRY_INT8 || dtype == WRY_INT16 || dtype == WRY_INT32) return functor_of(op, WRY_INT64);
#endif
  return nullptr;
}
// The functor in the row that serves `op` for a first input of this dtype, as the row spells it; null where no chain takes it.
EXPORT const char *wry_cuda_functor(const char *op, int32_t dtype) { return functor_of(op, dtype); }
