/* Loads a saved program, answers for an input of ones, and prints the outputs.
 *
 *     ./predict net.pdmodel net.pdiparams 1,3
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "wherry_infer.h"

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, PD_GetLastError());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s program.pdmodel params.pdiparams sizes, as in 1,3,224,224\n", argv[0]);
    return 2;
  }
  int32_t shape[8];
  size_t rank = 0, count = 1;
  for (char *at = argv[3], *end; *at && rank < 8; rank++, at = end + (*end == ',')) {
    const long size = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || size < 1 || size > INT32_MAX || count > SIZE_MAX / sizeof(float) / (size_t)size) {
      fprintf(stderr, "sizes do not fit. Got %s, expected numbers from 1 on with commas between, as in 1,3,224,224\n", argv[3]);
      return 2;
    }
    shape[rank] = (int32_t)size;
    count *= (size_t)size;
  }

  PD_Config *config = PD_ConfigCreate();
  if (!config || !PD_ConfigSetModel(config, argv[1], argv[2])) return fail("config");
  PD_Predictor *predictor = PD_PredictorCreate(config);
  PD_ConfigDestroy(config);
  if (!predictor) return fail("create");

  PD_OneDimArrayCstr *inputs = PD_PredictorGetInputNames(predictor);
  PD_Tensor *input = PD_PredictorGetInputHandle(predictor, inputs->data[0]);
  float *ones = malloc(count * sizeof *ones);
  if (!ones) {
    fprintf(stderr, "no memory for %zu numbers\n", count);
    return 1;
  }
  for (size_t i = 0; i < count; i++) ones[i] = 1.0f;
  if (!PD_TensorReshape(input, rank, shape) || !PD_TensorCopyFromCpuFloat(input, ones)) return fail("input");
  if (!PD_PredictorRun(predictor)) return fail("run");

  PD_OneDimArrayCstr *outputs = PD_PredictorGetOutputNames(predictor);
  PD_Tensor *output = PD_PredictorGetOutputHandle(predictor, outputs->data[0]);
  PD_OneDimArrayInt32 *sizes = PD_TensorGetShape(output);
  size_t n = 1;
  for (size_t i = 0; i < sizes->size; i++) n *= (size_t)sizes->data[i];
  float *values = malloc((n ? n : 1) * sizeof *values);
  if (!values) {
    fprintf(stderr, "no memory for %zu numbers\n", n);
    return 1;
  }
  if (!PD_TensorCopyToCpuFloat(output, values)) return fail("output");
  for (size_t i = 0; i < n; i++) printf("%s%.6f", i ? " " : "", (double)values[i]);
  printf("\n");

  free(values);
  free(ones);
  PD_OneDimArrayInt32Destroy(sizes);
  PD_OneDimArrayCstrDestroy(outputs);
  PD_OneDimArrayCstrDestroy(inputs);
  PD_TensorDestroy(output);
  PD_TensorDestroy(input);
  PD_PredictorDestroy(predictor);
  return 0;
}
