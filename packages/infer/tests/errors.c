/* What the C interface says of calls that cannot work. Prints one line for each: what was asked, and the error.
 *
 *     ./errors net.pdmodel net.pdiparams
 *
 * The first calls come from several threads at once.
 */
#include <pthread.h>
#include <stdio.h>

#include "wherry_infer.h"

static void *begin(void *unused) {
  (void)unused;
  return PD_ConfigCreate();
}

static void told(const char *what, bool worked) { printf("%s: %s\n", what, worked ? "worked" : PD_GetLastError()); }

static void *elsewhere(void *unused) {
  (void)unused;
  printf("another thread: [%s]\n", PD_GetLastError());
  told("run without a predictor", PD_PredictorRun(NULL));
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  void *configs[4];
  if (argc != 3) return 2;
  for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, begin, NULL);
  for (int t = 0; t < 4; t++) pthread_join(threads[t], &configs[t]);

  PD_Config *config = configs[0];
  for (int t = 1; t < 4; t++) PD_ConfigDestroy(configs[t]);
  told("threads", PD_ConfigSetCpuMathLibraryNumThreads(config, 0));
  told("create of nothing", PD_PredictorCreate(config) != NULL);
  told("create without a configuration", PD_PredictorCreate(NULL) != NULL);
  told("8 bits on a gpu", PD_ConfigEnableUseGpu(config, 100, 0, PD_PRECISION_INT8));
  told("no such gpu", PD_ConfigEnableUseGpu(config, 100, -1, PD_PRECISION_FLOAT32) || PD_ConfigUseGpu(config));
  told("gpu and back", PD_ConfigEnableUseGpu(config, 100, 0, PD_PRECISION_HALF) && PD_ConfigUseGpu(config) && PD_ConfigDisableGpu(config));
  PD_ConfigSetModel(config, argv[1], argv[2]);
  PD_Predictor *predictor = PD_PredictorCreate(config);
  told("create", predictor != NULL);
  told("run without inputs", PD_PredictorRun(predictor));
  told("handle of another name", PD_PredictorGetInputHandle(predictor, "nobody") != NULL);
  told("handle without a name", PD_PredictorGetInputHandle(predictor, NULL) != NULL);

  PD_OneDimArrayCstr *names = PD_PredictorGetInputNames(predictor);
  PD_Tensor *input = PD_PredictorGetInputHandle(predictor, names->data[0]);
  const int32_t wrong[] = {2, 7}, right[] = {1, 3};
  const float numbers[3] = {1, 2, 3};
  told("another shape", PD_TensorReshape(input, 2, wrong) && PD_TensorCopyFromCpuFloat(input, numbers));
  told("no shape", PD_TensorReshape(input, 2, NULL));
  PD_TensorReshape(input, 2, right);
  told("no data", PD_TensorCopyFromCpuFloat(input, NULL));
  told("no tensor", PD_TensorCopyFromCpuFloat(NULL, numbers));
  told("another type", PD_TensorCopyFromCpuInt64(input, (const int64_t[]){1, 2, 3}));

  pthread_create(&threads[0], NULL, elsewhere, NULL);
  pthread_join(threads[0], NULL);
  told("input", PD_TensorCopyFromCpuFloat(input, numbers));
  told("run", PD_PredictorRun(predictor));

  PD_OneDimArrayCstrDestroy(names);
  PD_TensorDestroy(input);
  PD_PredictorDestroy(predictor);
  PD_ConfigDestroy(config);
  PD_TensorDestroy(NULL);
  PD_PredictorDestroy(NULL);
  return 0;
}
