// A program whose main() is compiled for the emulator (`cuda-emulator run`): what is said when it ends.
//
// CUDA_EMULATOR_PROGRAM=1 prints the report, and work that nobody has waited for, and makes the exit status 1 if there is either.
// CUDA_EMULATOR_MEASURE=FILE writes what kernels asked of memory there.
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CUDA_EMULATOR_API void cuda_emulator_measure(int on);
CUDA_EMULATOR_API const char *cuda_emulator_measured();

namespace cuda_emulator {

static void end_program(int status, void *) {
  fflush(nullptr);
  bool good = true;
  const std::string waiting = report.empty() ? work_that_waits() : "";
  if (!waiting.empty()) {
    good = false;
    fprintf(stderr, "cuda emulator: the program has ended and nobody has waited for %s\n", waiting.c_str());
    drain_all();
  }
  if (!report.empty()) {
    good = false;
    fprintf(stderr, "cuda emulator: %s\n", report.c_str());
  }
  if (const char *path = getenv("CUDA_EMULATOR_MEASURE")) {
    const std::string measured = cuda_emulator_measured();
    FILE *f = fopen(path, "w");
    if (!f || fwrite(measured.data(), 1, measured.size(), f) != measured.size() || fclose(f) != 0) fprintf(stderr, "cuda emulator: %s cannot be written\n", path);
  }
  if (!good && status == 0) _exit(1);
}

void begin_program() {
  const char *asked = getenv("CUDA_EMULATOR_PROGRAM");
  if (!asked || strcmp(asked, "1")) return;
  on_exit(end_program, nullptr);
  measuring = getenv("CUDA_EMULATOR_MEASURE") && settings.checked;
}

}  // namespace cuda_emulator
