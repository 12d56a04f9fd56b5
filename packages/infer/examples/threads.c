/* Four threads answer at once, each with a clone of one predictor: the weights are shared, inputs and outputs are not.
 *
 *     ./threads net.pdmodel net.pdiparams 2,3
 *
 * Thread t asks for an input filled with t / 2, one hundred times, and prints its number and the answer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wherry_infer.h"

enum { THREADS = 4,
       RUNS = 100 };

typedef struct {
  PD_Predictor *predictor;
  int32_t shape[8];
  size_t rank, count;
  float fill;
  float *values; /* of the first answer */
  size_t n;
  char error[2048];
} Work;

static void *failed(Work *work, const char *what) {
  snprintf(work->error, sizeof work->error, "%s: %s", what, PD_GetLastError()); /* errors are kept by thread */
  return NULL;
}

static void *answer(void *given) {
  Work *work = given;
  PD_OneDimArrayCstr *inputs = PD_PredictorGetInputNames(work->predictor), *outputs = PD_PredictorGetOutputNames(work->predictor);
  if (!inputs || !outputs) return failed(work, "names");
  PD_Tensor *input = PD_PredictorGetInputHandle(work->predictor, inputs->data[0]);
  PD_Tensor *output = PD_PredictorGetOutputHandle(work->predictor, outputs->data[0]);
  float *data = malloc(work->count * sizeof *data);
  for (size_t i = 0; i < work->count; i++) data[i] = work->fill;

  for (int run = 0; run < RUNS; run++) {
    if (!PD_TensorReshape(input, work->rank, work->shape) || !PD_TensorCopyFromCpuFloat(input, data)) return failed(work, "input");
    if (!PD_PredictorRun(work->predictor)) return failed(work, "run");
    PD_OneDimArrayInt32 *sizes = PD_TensorGetShape(output);
    if (!sizes) return failed(work, "shape");
    size_t n = 1;
    for (size_t i = 0; i < sizes->size; i++) n *= (size_t)sizes->data[i];
    PD_OneDimArrayInt32Destroy(sizes);
    float *values = malloc((n ? n : 1) * sizeof *values);
    if (!PD_TensorCopyToCpuFloat(output, values)) return failed(work, "output");
    if (run == 0) {
      work->values = values;
      work->n = n;
      continue;
    }
    if (n != work->n || memcmp(values, work->values, n * sizeof *values) != 0) {
      snprintf(work->error, sizeof work->error, "run %d gave another answer than the first", run);
      return NULL;
    }
    free(values);
  }
  free(data);
  PD_TensorDestroy(input);
  PD_TensorDestroy(output);
  PD_OneDimArrayCstrDestroy(inputs);
  PD_OneDimArrayCstrDestroy(outputs);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s program.pdmodel params.pdiparams sizes, as in 1,3,224,224\n", argv[0]);
    return 2;
  }
  Work first = {.count = 1};
  for (char *at = argv[3]; *at && first.rank < 8; first.rank++) {
    first.shape[first.rank] = (int32_t)strtol(at, &at, 10);
    first.count *= (size_t)first.shape[first.rank];
    if (*at == ',') at++;
  }

  PD_Config *config = PD_ConfigCreate();
  if (!config || !PD_ConfigSetModel(config, argv[1], argv[2])) {
    fprintf(stderr, "config: %s\n", PD_GetLastError());
    return 1;
  }
  PD_Predictor *predictor = PD_PredictorCreate(config);
  PD_ConfigDestroy(config);
  if (!predictor) {
    fprintf(stderr, "create: %s\n", PD_GetLastError());
    return 1;
  }

  Work works[THREADS];
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++) {
    works[t] = first;
    works[t].predictor = PD_PredictorClone(predictor);
    works[t].fill = (float)t / 2;
  }
  PD_PredictorDestroy(predictor); /* clones live on */
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, answer, &works[t]);

  int status = 0;
  for (int t = 0; t < THREADS; t++) {
    pthread_join(threads[t], NULL);
    if (works[t].error[0]) {
      fprintf(stderr, "thread %d: %s\n", t, works[t].error);
      status = 1;
    } else {
      printf("%d", t);
      for (size_t i = 0; i < works[t].n; i++) printf(" %.6f", (double)works[t].values[i]);
      printf("\n");
    }
    free(works[t].values);
    PD_PredictorDestroy(works[t].predictor);
  }
  return status;
}
