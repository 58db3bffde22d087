# Debian packages, which `./dev package` creates with cpack, one per component:
#
#   llmir            the command, which runs artifacts, and the C library of the KV cache
#   llmir-compiler   the compiler, and the tools for compiler developers; needs libmlir and libllvm
#   llmir-dev        headers, static libraries and the CMake package
#
# dpkg-shlibdeps determines dependencies on shared libraries; utils/check_packages.sh installs the packages in a
# new Debian system.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME llmir)
set(CPACK_PACKAGE_VENDOR "LLMIR")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and runtime for LLM inference on MLIR")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime compiler dev)
if(LLMIR_RUNTIME_ONLY)
  set(CPACK_COMPONENTS_ALL runtime dev)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The LLMIR developers <llmir@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME llmir)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The command llmir runs compiled models with one small program that needs neither MLIR nor LLVM. To compile
checkpoints (Hugging Face models and GGUF files), install llmir-compiler.")
# Downloads open libcurl and libssl's libcrypto, which dpkg-shlibdeps cannot see.
if(LLMIR_CURL_INCLUDE_DIR)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libcurl4, libssl3")
endif()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "llmir-compiler (= ${PROJECT_VERSION}), ca-certificates")

set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME llmir-compiler)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "The compiler that llmir loads for checkpoints, and the tools for its intermediate representations:
llmir-opt, llmir-translate, llmir-reduce, llmir-lsp-server, and a plugin for MLIR's own tools.")
# dpkg-shlibdeps may find libLLVM in LLVM's own directory, where a link of llvm-dev refers to it, and then reports no package.
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "llmir (= ${PROJECT_VERSION}), libllvm${LLMIR_LLVM_RELEASE}")

# Programs of the runtime do not need LLVM, hence only a recommendation.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME llmir-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static libraries and a CMake package to run artifacts, to trace models in C++, and to
write passes and dialects as plugins. The libraries of the compiler need the recommended packages.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "llmir (= ${PROJECT_VERSION}), pkg-config, nlohmann-json3-dev, libpcre2-dev, libutf8proc-dev, libssl-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "llmir-compiler (= ${PROJECT_VERSION}), llvm-${LLMIR_LLVM_RELEASE}-dev, libmlir-${LLMIR_LLVM_RELEASE}-dev, mlir-${LLMIR_LLVM_RELEASE}-tools, liblld-${LLMIR_LLVM_RELEASE}-dev, lld-${LLMIR_LLVM_RELEASE}, zlib1g-dev, libzstd-dev, libxml2-dev")
if(LLMIR_RUNTIME_ONLY)
  unset(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS)
  unset(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS)
endif()
include(CPack)
