# Included before project(): where there is no compiler, CMake's own message names neither one nor a way without.
if(NOT CMAKE_TOOLCHAIN_FILE AND NOT CMAKE_C_COMPILER)
  # scikit-build-core sets CC to what Python was built with, whether it is here or not.
  separate_arguments(CHOSEN NATIVE_COMMAND "$ENV{CC}")
  list(APPEND CHOSEN c++)
  list(GET CHOSEN 0 CHOSEN)
  find_program(WHERRY_COMPILER NAMES ${CHOSEN} c++ g++ clang++ cl)
  if(NOT WHERRY_COMPILER)
    message(FATAL_ERROR "Wherry: there is no C++ compiler on the path, and this package is compiled. Type  apt-get install g++  (Fedora: "
      "dnf install gcc-c++, macOS: xcode-select --install), or take what is compiled already:  pip install --only-binary :all: wherry")
  endif()
endif()
