/* Predictors of saved programs, from C.
 *
 * Names and meaning follow Paddle's C interface (PD_...). It is a thin layer over the Python package: the first call starts a Python
 * interpreter inside of the process, or uses the one that is there, and every call may come from any thread. Compile your program together
 * with wherry_infer.c, which lies beside this header, in ../csrc:
 *
 *     cc main.c $CSRC/wherry_infer.c -I$INCLUDE $(python3-config --includes) $(python3-config --embed --ldflags) -rdynamic -pthread
 *
 * with INCLUDE and CSRC as `python -m wherry_infer` prints them.
 *
 * Calls that can fail return NULL, 0 or false, and PD_GetLastError() then says why. What PD_...Create and PD_...Get return belongs to the
 * caller, who gives it to the PD_...Destroy of its kind.
 */
#ifndef WHERRY_INFER_H
#define WHERRY_INFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PD_Config PD_Config;
typedef struct PD_Predictor PD_Predictor;
typedef struct PD_Tensor PD_Tensor;

typedef int8_t PD_Bool;

typedef enum {
  PD_DATA_UNK = -1,
  PD_DATA_FLOAT32 = 0,
  PD_DATA_INT64 = 1,
  PD_DATA_INT32 = 2,
  PD_DATA_UINT8 = 3,
  PD_DATA_INT8 = 4,
} PD_DataType;

typedef enum { PD_PRECISION_FLOAT32 = 0,
               PD_PRECISION_INT8,
               PD_PRECISION_HALF,
               PD_PRECISION_BFLOAT16 } PD_PrecisionType;

/* Texts, and lists of numbers; free them with the function of their name. */
typedef struct PD_OneDimArrayCstr {
  size_t size;
  char **data;
} PD_OneDimArrayCstr;

typedef struct PD_OneDimArrayInt32 {
  size_t size;
  int32_t *data;
} PD_OneDimArrayInt32;

void PD_OneDimArrayCstrDestroy(PD_OneDimArrayCstr *array);
void PD_OneDimArrayInt32Destroy(PD_OneDimArrayInt32 *array);

/* What the last call of this thread that failed says; "" where none did. Good until the next call of this thread. */
const char *PD_GetLastError(void);

/* The version of the package. Good for the life of the process. */
const char *PD_GetVersion(void);

/* A configuration. A predictor copies it. */
PD_Config *PD_ConfigCreate(void);
void PD_ConfigDestroy(PD_Config *config);
bool PD_ConfigSetModel(PD_Config *config, const char *program_file, const char *params_file);
bool PD_ConfigSetModelDir(PD_Config *config, const char *folder);
bool PD_ConfigSetModelBuffer(PD_Config *config, const char *program, size_t program_size, const char *params, size_t params_size);
bool PD_ConfigSetCpuMathLibraryNumThreads(PD_Config *config, int32_t threads);
bool PD_ConfigSwitchIrOptim(PD_Config *config, PD_Bool on);
/* Run on a GPU, in 16 bits perhaps; PD_PredictorCreate says what is missing where there is none. The last one answers whether one was asked for. */
bool PD_ConfigEnableUseGpu(PD_Config *config, uint64_t memory_pool_init_size_mb, int32_t device_id, PD_PrecisionType precision);
bool PD_ConfigDisableGpu(PD_Config *config);
bool PD_ConfigUseGpu(PD_Config *config);

/* A predictor belongs to one thread at a time; a clone shares its weights and may outlive it. Clones run side by side: only what goes in
 * and out takes the interpreter. ../examples of the sources has a program with four threads. */
PD_Predictor *PD_PredictorCreate(PD_Config *config);
PD_Predictor *PD_PredictorClone(PD_Predictor *predictor);
void PD_PredictorDestroy(PD_Predictor *predictor);
PD_OneDimArrayCstr *PD_PredictorGetInputNames(PD_Predictor *predictor);
PD_OneDimArrayCstr *PD_PredictorGetOutputNames(PD_Predictor *predictor);
PD_Tensor *PD_PredictorGetInputHandle(PD_Predictor *predictor, const char *name);
PD_Tensor *PD_PredictorGetOutputHandle(PD_Predictor *predictor, const char *name);
bool PD_PredictorRun(PD_Predictor *predictor);

/* Inputs: reshape, then copy all elements in. Outputs: ask for the shape, then copy all elements out. The type of the function has to be
 * that of the elements. */
void PD_TensorDestroy(PD_Tensor *tensor);
bool PD_TensorReshape(PD_Tensor *tensor, size_t rank, const int32_t *shape);
PD_OneDimArrayInt32 *PD_TensorGetShape(PD_Tensor *tensor);
PD_DataType PD_TensorGetDataType(PD_Tensor *tensor);
bool PD_TensorCopyFromCpuFloat(PD_Tensor *tensor, const float *data);
bool PD_TensorCopyFromCpuInt64(PD_Tensor *tensor, const int64_t *data);
bool PD_TensorCopyFromCpuInt32(PD_Tensor *tensor, const int32_t *data);
bool PD_TensorCopyFromCpuUint8(PD_Tensor *tensor, const uint8_t *data);
bool PD_TensorCopyFromCpuInt8(PD_Tensor *tensor, const int8_t *data);
bool PD_TensorCopyToCpuFloat(PD_Tensor *tensor, float *data);
bool PD_TensorCopyToCpuInt64(PD_Tensor *tensor, int64_t *data);
bool PD_TensorCopyToCpuInt32(PD_Tensor *tensor, int32_t *data);
bool PD_TensorCopyToCpuUint8(PD_Tensor *tensor, uint8_t *data);
bool PD_TensorCopyToCpuInt8(PD_Tensor *tensor, int8_t *data);

#ifdef __cplusplus
}
#endif

#endif
