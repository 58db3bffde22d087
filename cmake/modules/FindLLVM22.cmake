# LLVM, MLIR and lld, release 22, as Debian packages them (shared libraries
# `LLVM` and `MLIR`). This is the only file that names the release.
set(LLMIR_LLVM_RELEASE 22)
set(hint "/usr/lib/llvm-${LLMIR_LLVM_RELEASE}/lib/cmake")
# LLVM's version file accepts only the exact patch release; the release is checked below.
find_package(MLIR CONFIG QUIET HINTS "${hint}/mlir" NO_DEFAULT_PATH)
find_package(MLIR CONFIG QUIET)
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL LLMIR_LLVM_RELEASE)
  message(FATAL_ERROR
    "LLVM/MLIR ${LLMIR_LLVM_RELEASE} was not found (found: '${LLVM_PACKAGE_VERSION}'). "
    "Run './dev setup', or install libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev "
    "(Debian 12 provides them in its security suite), or set MLIR_DIR to the directory of MLIRConfig.cmake.")
endif()
find_package(LLD CONFIG QUIET HINTS "${hint}/lld")
if(NOT LLD_FOUND)
  message(FATAL_ERROR "lld's library was not found: run './dev setup', or install liblld-22-dev.")
endif()
message(STATUS "LLVM/MLIR ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
