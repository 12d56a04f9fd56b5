// Kernels that are compiled at run time, as with NVRTC, and loaded with cudaLibraryLoadData.
//
// The "cubin" is an object file of the host's compiler, made with the flags of the library that this is in: the same checks.
// Loading links it against that library. Of NVRTC's options those are taken that say where headers are, define macros, or mean
// nothing here (architecture, language, fused multiply-add, which the emulator never forms).
#include "state.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#ifndef CUDA_EMULATOR_RECIPE
#error building.py defines CUDA_EMULATOR_RECIPE
#endif

namespace fs = std::filesystem;

namespace cuda_emulator {

// A folder that is gone when nobody needs it, at the latest when the process ends.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "cuda-emulator-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~Folder() {
    std::error_code ignored;  // what cannot be removed stays in the folder for temporary files
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

static std::string quoted(const std::string &text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}
static int run_command(const std::string &command, std::string *said) {
  FILE *f = popen((command + " 2>&1").c_str(), "r");
  if (!f) return -1;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) said->append(part, n);
  return pclose(f);
}
static std::string contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace cuda_emulator

using namespace cuda_emulator;
#define LOCK                                         \
  std::lock_guard<std::recursive_mutex> lock(mutex); \
  cuda_emulator::start()

struct CUkern_st {
  void *kernel;
  Packed (*pack)(void **arguments);
};
struct CUlib_st {
  void *handle = nullptr, *inside = nullptr;
  Folder folder;
  std::map<std::string, CUkern_st> kernels;
};
static std::set<std::unique_ptr<CUlib_st>> libraries;

// ---- NVRTC ----------------------------------------------------------------------------------------

namespace {
enum Result { OK,
              OUT_OF_MEMORY,
              PROGRAM_CREATION_FAILURE,
              INVALID_INPUT,
              INVALID_PROGRAM,
              INVALID_OPTION,
              COMPILATION };
struct Program {
  std::string source, name, log, image;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
};
bool begins(const std::string &text, const char *with) { return text.rfind(with, 0) == 0; }
}  // namespace

CUDA_EMULATOR_API int nvrtcVersion(int *major, int *minor) {
  *major = CUDART_VERSION / 1000, *minor = CUDART_VERSION % 1000 / 10;
  return OK;
}
CUDA_EMULATOR_API const char *nvrtcGetErrorString(int result) {
  static const char *const names[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                      "NVRTC_ERROR_INVALID_INPUT", "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION",
                                      "NVRTC_ERROR_COMPILATION"};
  return result >= OK && result <= COMPILATION ? names[result] : "NVRTC_ERROR_INTERNAL_ERROR";
}
CUDA_EMULATOR_API int nvrtcCreateProgram(void **program, const char *source, const char *name, int n, const char *const *headers,
                                         const char *const *names) {
  if (!program || !source || n < 0 || (n && (!headers || !names))) return INVALID_INPUT;
  auto *p = new Program{source, name ? name : "default_program", "", "", {}};
  for (int i = 0; i < n; ++i) p->headers.emplace_back(names[i], headers[i]);
  *program = p;
  return OK;
}
CUDA_EMULATOR_API int nvrtcDestroyProgram(void **program) {
  if (!program || !*program) return INVALID_PROGRAM;
  delete static_cast<Program *>(*program);
  *program = nullptr;
  return OK;
}
CUDA_EMULATOR_API int nvrtcCompileProgram(void *program, int n, const char *const *options) {
  if (!program) return INVALID_PROGRAM;
  Program &p = *static_cast<Program *>(program);
  p.log.clear(), p.image.clear();
  std::string flags;
  for (int i = 0; i < n; ++i) {
    const std::string o = options[i];
    if (begins(o, "-I")) flags += " " + quoted(o);
    else if (begins(o, "--include-path=")) flags += " " + quoted("-I" + o.substr(15));
    else if (begins(o, "-D")) flags += " " + quoted(o);
    else if (begins(o, "--define-macro=")) flags += " " + quoted("-D" + o.substr(15));
    else if (!begins(o, "--gpu-architecture=") && !begins(o, "-arch=") && !begins(o, "--std=") && !begins(o, "-std=") && !begins(o, "--fmad=") &&
             !begins(o, "-fmad=") && o != "--device-as-default-execution-space" && o != "-default-device") {
      p.log = "unknown option '" + o + "'";
      return INVALID_OPTION;
    }
  }
  Folder folder;
  if (folder.path.empty()) return OUT_OF_MEMORY;
  for (const auto &[name, text] : p.headers) {
    const fs::path at = folder.path / name;
    fs::create_directories(at.parent_path());
    std::ofstream(at, std::ios::binary) << text;
  }
  std::ostringstream source;
  source << "#include <cuda_emulator/kernel.h>\n#line 1 \"" << p.name << "\"\n"
         << p.source << "\n";
  static const std::regex kernel("extern\\s+\"C\"\\s+__global__\\s+void\\s+(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?(\\w+)\\s*\\(");
  for (auto it = std::sregex_iterator(p.source.begin(), p.source.end(), kernel); it != std::sregex_iterator(); ++it)
    source << "extern \"C\" cuda_emulator::Packed cuda_emulator_pack_" << (*it)[1] << "(void **arguments) { return cuda_emulator::packed("
           << (*it)[1] << ", arguments); }\n";
  const fs::path name = fs::path(p.name).filename(), object = folder.path / "image.o";  // reports name the file
  std::ofstream(folder.path / name, std::ios::binary) << source.str();
  const std::string command = std::string("cd ") + quoted(folder.path.string()) + " && " + CUDA_EMULATOR_RECIPE + " -I." + flags +
                              " -x c++ -c " + quoted(name.string()) + " -o image.o";
  if (run_command(command, &p.log) != 0) return COMPILATION;
  p.image = contents(object);
  return OK;
}
CUDA_EMULATOR_API int nvrtcGetProgramLogSize(void *program, size_t *size) {
  if (!program) return INVALID_PROGRAM;
  *size = static_cast<Program *>(program)->log.size() + 1;
  return OK;
}
CUDA_EMULATOR_API int nvrtcGetProgramLog(void *program, char *log) {
  if (!program) return INVALID_PROGRAM;
  const std::string &text = static_cast<Program *>(program)->log;
  memcpy(log, text.c_str(), text.size() + 1);
  return OK;
}
CUDA_EMULATOR_API int nvrtcGetCUBINSize(void *program, size_t *size) {
  if (!program) return INVALID_PROGRAM;
  *size = static_cast<Program *>(program)->image.size();
  return OK;
}
CUDA_EMULATOR_API int nvrtcGetCUBIN(void *program, char *image) {
  if (!program) return INVALID_PROGRAM;
  const std::string &bytes = static_cast<Program *>(program)->image;
  memcpy(image, bytes.data(), bytes.size());
  return OK;
}
// What compiles: for those who keep images, which belong to it.
CUDA_EMULATOR_API const char *cuda_emulator_recipe() { return CUDA_EMULATOR_RECIPE " " CUDA_EMULATOR_HEADERS; }

// ---- libraries ------------------------------------------------------------------------------------

CUDA_EMULATOR_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *, void **, unsigned,
                                                  cudaLibraryOption *, void **, unsigned) {
  LOCK;
  const auto *header = static_cast<const Elf64_Ehdr *>(code);
  if (!library || !code) return last = cudaErrorInvalidValue;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_REL || header->e_machine != EM_X86_64) {
    fail("cudaLibraryLoadData: this is not an image that the emulator's NVRTC has made");
    return last = cudaErrorNoKernelImageForDevice;
  }
  const size_t size = size_t(header->e_shoff) + size_t(header->e_shentsize) * header->e_shnum;
  auto made = std::make_unique<CUlib_st>();
  const fs::path object = made->folder.path / "image.o", linked = made->folder.path / "image.so";
  std::ofstream(object, std::ios::binary).write(static_cast<const char *>(code), std::streamsize(size));
  Dl_info own;
  dladdr(reinterpret_cast<void *>(&cuda_emulator_recipe), &own);
  std::string said;
  const std::string command = std::string(CUDA_EMULATOR_COMPILER) + " -shared " + quoted(object.string()) + " " + quoted(own.dli_fname) + " -o " + quoted(linked.string());
  if (run_command(command, &said) == 0) made->handle = dlopen(linked.c_str(), RTLD_NOW | RTLD_LOCAL);
  else fail("cudaLibraryLoadData: " + said);
  if (!made->handle) {
    const char *why = dlerror();
    fail(std::string("cudaLibraryLoadData: ") + (why ? why : "it cannot be loaded"));
    return last = cudaErrorInvalidKernelImage;
  }
  *library = made.get();
  libraries.insert(std::move(made));
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  LOCK;
  const auto it = std::find_if(libraries.begin(), libraries.end(), [=](const auto &one) { return one.get() == library; });
  if (it == libraries.end()) return last = cudaErrorInvalidResourceHandle;
  drain_all();
  if (library->inside) add_module(library->inside, false);
  dlclose(library->handle);
  forget_names();
  libraries.erase(it);
  return cudaSuccess;
}
CUDA_EMULATOR_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  LOCK;
  const auto known = library->kernels.find(name);
  if (known != library->kernels.end()) {
    *kernel = &known->second;
    return cudaSuccess;
  }
  void *function = dlsym(library->handle, name), *pack = dlsym(library->handle, (std::string("cuda_emulator_pack_") + name).c_str());
  if (!function || !pack) {
    fail(std::string("cudaLibraryGetKernel: the library has no kernel ") + name);
    return last = cudaErrorSymbolNotFound;
  }
  if (!library->inside) add_module(library->inside = function, true);
  *kernel = &(library->kernels[name] = {function, reinterpret_cast<Packed (*)(void **)>(pack)});
  return cudaSuccess;
}
// Of kernels that were loaded; those of the library itself are launched with wry_launch.
CUDA_EMULATOR_API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  LOCK;
  for (const auto &library : libraries)
    for (const auto &[name, kernel] : library->kernels)
      if (&kernel == function) {
        const Packed p = kernel.pack(arguments);
        return enqueue(kernel.kernel, grid, block, shared, stream, p.closure, p.size, p.call, p.destroy);
      }
  fail("cudaLaunchKernel: this is not a kernel of a library that is loaded");
  return last = cudaErrorInvalidDeviceFunction;
}
