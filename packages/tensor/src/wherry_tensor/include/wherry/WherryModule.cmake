# The build rules that the compiled packages share. A package's CMakeLists.txt says only what is its own:
#
#   cmake_minimum_required(VERSION 3.20)
#   list(PREPEND CMAKE_MODULE_PATH
#     ${CMAKE_CURRENT_SOURCE_DIR}/../tensor/src/wherry_tensor/include/wherry      # in a checkout
#     ${CMAKE_CURRENT_SOURCE_DIR}/_vendored/wherry_tensor/include/wherry)         # in an sdist
#   include(WherryCompiler)
#   project(wherry-autograd LANGUAGES C)
#   include(WherryModule)
#   wherry_cython_modules(wherry_autograd)
#
# Including it chooses a release build, ccache where it is installed, C11, hidden symbols, and keeps the paths of this machine out of
# the binaries. It sets
#   WHERRY_CORE     the folder to cimport from (`from wherry_tensor._core cimport Tensor`)
#   WHERRY_INCLUDE  the folder of the headers (`#include "wherry/abi.h"`)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
# The build folder is mapped in `wherry_module`, for generated files only: among everybody's options it would keep ccache from reusing
# what was compiled in another build folder.
add_compile_options(-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=)

# This file lies in wherry_tensor/include/wherry.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH WHERRY_INCLUDE)
cmake_path(GET WHERRY_INCLUDE PARENT_PATH WHERRY_CORE)
cmake_path(GET WHERRY_CORE PARENT_PATH WHERRY_CORE)

# wherry_module(<target> <file>.pyx FOR <package> [NAME <module>] [SOURCES <file>...] [STABLE_ABI])
#
# A Python module from one Cython file, installed into <package>.
#   NAME        the module's full name, where it is not that of the file
#   SOURCES     what is linked into it
#   STABLE_ABI  one file for every Python from 3.11 on; a free-threaded one has no stable ABI and gets a file of its own
function(wherry_module TARGET PYX)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "STABLE_ABI" "FOR;NAME" "SOURCES")
  find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
  set(GENERATED ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.c)
  set(NAME_OPTION "")
  if(ARG_NAME)
    set(NAME_OPTION --module-name ${ARG_NAME})
  endif()
  file(GLOB DECLARATIONS CONFIGURE_DEPENDS ${WHERRY_CORE}/wherry_tensor/*.pxd)
  get_filename_component(FOLDER ${PYX} DIRECTORY)
  file(GLOB_RECURSE PARTS CONFIGURE_DEPENDS ${FOLDER}/*.pxi ${FOLDER}/*.pxd)
  add_custom_command(
    OUTPUT ${GENERATED}
    COMMAND Python::Interpreter -P -m cython -3 ${NAME_OPTION} -I ${WHERRY_CORE} --output-file ${GENERATED} ${PYX}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    DEPENDS ${PYX} ${PARTS} ${DECLARATIONS}
    VERBATIM)
  # Cython's output is generated code: its warnings are not ours to mend. Its functions begin at cache lines: else an edit anywhere
  # moves the time of a call of 100 ns by up to a fifth, with the same instructions.
  set(OPTIONS -w)
  if(NOT EMSCRIPTEN)
    list(APPEND OPTIONS -falign-functions=64)
  endif()
  set_source_files_properties(${GENERATED} PROPERTIES COMPILE_OPTIONS "${OPTIONS}")
  if(ARG_STABLE_ABI AND NOT Python_SOABI MATCHES "^cpython-[0-9]+t")
    Python_add_library(${TARGET} MODULE ${GENERATED} ${ARG_SOURCES})
    target_compile_definitions(${TARGET} PRIVATE Py_LIMITED_API=0x030B0000)
    set_target_properties(${TARGET} PROPERTIES SUFFIX ".abi3.so")
  else()
    Python_add_library(${TARGET} MODULE WITH_SOABI ${GENERATED} ${ARG_SOURCES})
    if(EMSCRIPTEN)
      set_target_properties(${TARGET} PROPERTIES SUFFIX ".${SKBUILD_SOABI}.so")
    endif()
  endif()
  target_compile_options(${TARGET} PRIVATE -ffile-prefix-map=${CMAKE_CURRENT_BINARY_DIR}/=)
  target_include_directories(${TARGET} PRIVATE ${WHERRY_INCLUDE})
  install(TARGETS ${TARGET} LIBRARY DESTINATION ${ARG_FOR})
endfunction()

# wherry_cython_modules(<package>): a module from every .pyx of the package, in the folder that the file lies in.
function(wherry_cython_modules PACKAGE)
  file(GLOB_RECURSE SOURCES RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS src/${PACKAGE}/*.pyx)
  foreach(SOURCE ${SOURCES})
    get_filename_component(NAME ${SOURCE} NAME_WE)
    get_filename_component(FOLDER ${SOURCE} DIRECTORY)
    cmake_path(RELATIVE_PATH FOLDER BASE_DIRECTORY src)
    wherry_module(${NAME} ${SOURCE} FOR ${FOLDER})
    cmake_path(RELATIVE_PATH FOLDER BASE_DIRECTORY ${PACKAGE})
    set_target_properties(${NAME} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${FOLDER})
  endforeach()
endfunction()

# wherry_old_c_library(<target>): what it links asks for no newer glibc than 2.28, on whichever system it is built.
#
# A linker binds a function to the newest version that the C library of this machine has (`pthread_create@GLIBC_2.34`), although the older
# ones are the same to us. So the target finds stubs first: those functions in an old version, in the library where it was then. Programs
# that were built long ago look the same, and every later glibc runs them. A library that has a stub is not looked at any more, so the stub
# of libm has all functions; exp, log and pow of floats are those of glibc 2.27, which are faster than the first ones.
function(wherry_old_c_library TARGET)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    return()
  endif()
  include(CheckCSourceCompiles)
  check_c_source_compiles("#include <features.h>\n#ifndef __GLIBC__\n#error another C library\n#endif\nint main(void) { return 0; }" WHERRY_GLIBC)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set(FIRST GLIBC_2.2.5)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(FIRST GLIBC_2.17)
  endif()
  if(NOT WHERRY_GLIBC OR NOT FIRST)
    return()
  endif()
  set(LATER expf exp2f logf log2f powf)
  set(MATHS "")
  foreach(NAME acos acosh asin asinh atan atan2 atanh cacos cacosh casin casinh catan catanh cbrt ccos ccosh ceil cexp clog cos cosh cpow
      csin csinh csqrt ctan ctanh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod hypot lgamma llrint llround log log10 log1p log2 lrint
      lround nearbyint nextafter pow remainder rint round sin sincos sinh sqrt tan tanh tgamma trunc)
    list(APPEND MATHS ${NAME} ${NAME}f)
  endforeach()
  list(REMOVE_ITEM MATHS ${LATER})
  wherry_stub(pthread 0 ${FIRST} pthread_create pthread_key_create pthread_once pthread_setspecific pthread_sigmask)
  wherry_stub(dl 2 ${FIRST} dlclose dlerror dlopen dlsym)
  wherry_stub(m 6 ${FIRST} ${MATHS} lgamma_r lgammaf_r GLIBC_2.27 ${LATER})
  target_link_options(${TARGET} PRIVATE LINKER:--as-needed)
  target_link_libraries(${TARGET} PRIVATE wherry_stub_pthread wherry_stub_dl wherry_stub_m)
  set_target_properties(${TARGET} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()

# wherry_stub(<name> <number> <version> <function>... [<version> <function>...]): a library to link with, never to run, that has these
# functions in these versions.
function(wherry_stub NAME NUMBER)
  if(TARGET wherry_stub_${NAME})
    return()
  endif()
  set(FOLDER ${CMAKE_CURRENT_BINARY_DIR}/stubs)
  set(SOURCE "")
  set(VERSIONS "")
  foreach(WORD ${ARGN})
    if(WORD MATCHES "^GLIBC_")
      string(APPEND VERSIONS "};\n${WORD} {\n")
    else()
      string(APPEND VERSIONS "  ${WORD};\n")
      string(APPEND SOURCE "void ${WORD}(void) {}\n")
    endif()
  endforeach()
  string(SUBSTRING "${VERSIONS}};\n" 3 -1 VERSIONS) # after the first end
  file(CONFIGURE OUTPUT ${FOLDER}/${NAME}.c CONTENT "${SOURCE}")
  file(CONFIGURE OUTPUT ${FOLDER}/${NAME}.map CONTENT "${VERSIONS}")
  add_library(wherry_stub_${NAME} SHARED ${FOLDER}/${NAME}.c)
  set_target_properties(wherry_stub_${NAME} PROPERTIES OUTPUT_NAME ${NAME} SOVERSION ${NUMBER} LIBRARY_OUTPUT_DIRECTORY ${FOLDER}
    C_VISIBILITY_PRESET default)
  target_compile_options(wherry_stub_${NAME} PRIVATE -w -fno-builtin)
  target_link_options(wherry_stub_${NAME} PRIVATE -nostdlib LINKER:--version-script=${FOLDER}/${NAME}.map)
endfunction()
