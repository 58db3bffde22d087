# Functions that declare LLMIR's targets. A library is declared by its name, sources
# and dependencies; everything else is decided here.

# LLMIR's own headers come first; LLVM's are system headers.
set(LLMIR_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")

# llmir_install_library(NAME runtime|compiler)
# Installs a library and exports it as LLMIR::<its name without LLMIR>. `compiler` is for libraries that link MLIR.
function(llmir_install_library name component)
  string(REGEX REPLACE "^LLMIR" "" exported "${name}")
  set_target_properties(${name} PROPERTIES EXPORT_NAME "${exported}")
  install(TARGETS ${name} EXPORT LLMIR_${component}
    ARCHIVE DESTINATION lib COMPONENT dev
    LIBRARY DESTINATION lib COMPONENT ${component})
  set_property(GLOBAL APPEND PROPERTY LLMIR_INSTALLED_${component} "${exported}")
  # The tests install everything that was built.
  set_property(GLOBAL APPEND PROPERTY LLMIR_TEST_TARGETS ${name})
endfunction()

# llmir_use_xxhash(NAME)
# Hashes and checksums. They are in a header only: nothing is linked.
function(llmir_use_xxhash name)
  find_path(LLMIR_XXHASH_INCLUDE_DIR xxhash.h)
  if(NOT LLMIR_XXHASH_INCLUDE_DIR)
    message(FATAL_ERROR "xxhash.h was not found: run './dev setup', or install libxxhash-dev.")
  endif()
  target_include_directories(${name} SYSTEM PRIVATE ${LLMIR_XXHASH_INCLUDE_DIR})
endfunction()

# llmir_install_program(NAME runtime|compiler)
function(llmir_install_program name component)
  install(TARGETS ${name}
    RUNTIME DESTINATION bin COMPONENT ${component}
    LIBRARY DESTINATION lib COMPONENT ${component})
endfunction()

# Own headers come first: those of the source and the generated ones, or the installed ones.
function(llmir_use_own_headers name)
  foreach(dir IN LISTS LLMIR_INCLUDE_DIRS)
    target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${dir}>")
  endforeach()
  target_include_directories(${name} PUBLIC "$<INSTALL_INTERFACE:include>")
endfunction()

# llmir_add_library(NAME source... LINK_LIBS lib... [DEPENDS target...] [HEADER NONE])
# A C++ library without MLIR and LLVM (Support, Checkpoint, Tokenizer, Artifact, Runtime, Serving). It reuses the
# precompiled header LLMIRPrecompiledStandard; HEADER NONE: it has one of its own, or none.
function(llmir_add_library name)
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  llmir_declare_library(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(NOT ARG_HEADER STREQUAL "NONE")
    target_precompile_headers(${name} REUSE_FROM LLMIRPrecompiledStandard)
  endif()
  # Libraries of a tool and of a precompiled header are not installed.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/lib/" AND NOT name MATCHES "^LLMIRPrecompiled")
    llmir_install_library(${name} runtime)
  endif()
endfunction()

function(llmir_declare_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llmir_use_own_headers(${name})
  target_compile_options(${name} PRIVATE ${LLMIR_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# llmir_use_mlir(TARGET [HEADER])
# Compiles against MLIR's headers and links its shared libraries. HEADER is the precompiled header to reuse:
# LLMIRPrecompiledMLIR by default, LLMIRPrecompiledDialects for libraries most of whose files use the dialects' ops, or
# NONE.
function(llmir_use_mlir name)
  # Users of the installed libraries get them from LLMIR::MLIR (LLMIRConfig.cmake).
  foreach(dir IN LISTS MLIR_INCLUDE_DIRS LLVM_INCLUDE_DIRS)
    target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${dir}>")
  endforeach()
  target_compile_options(${name} PRIVATE -Wno-unused-parameter -Wno-comment -fno-exceptions)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # The precompiled header requires code compiled with -fPIC, as for libraries.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  set(header LLMIRPrecompiledMLIR ${ARGN})
  list(GET header -1 header)
  if(NOT header STREQUAL "NONE")
    target_precompile_headers(${name} REUSE_FROM ${header})
  endif()
endfunction()

# llmir_add_compiler_library(NAME source... LINK_LIBS lib... [DEPENDS tablegen-target...] [HEADER header])
# A library of the compiler, which may use IR. Not part of a runtime-only build. HEADER: as in llmir_use_mlir().
function(llmir_add_compiler_library name)
  if(LLMIR_RUNTIME_ONLY)
    return()
  endif()
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  llmir_declare_library(${name} ${ARG_UNPARSED_ARGUMENTS})
  llmir_use_mlir(${name} ${ARG_HEADER})
  llmir_install_library(${name} compiler)
endfunction()

# llmir_add_tool(NAME source... LINK_LIBS lib... [MLIR])
function(llmir_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} BEFORE PRIVATE ${LLMIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE ${LLMIR_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(ARG_MLIR)
    llmir_use_mlir(${name})
  endif()
  # check-llmir depends on every program that its tests may call.
  set_property(GLOBAL APPEND PROPERTY LLMIR_TEST_TARGETS ${name})
endfunction()

# llmir_find_gtest()
macro(llmir_find_gtest)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "GoogleTest was not found: run './dev setup', or install libgtest-dev.")
  endif()
endmacro()

# Most tests without MLIR run for a second: optimizing them takes longer than it saves. The functions that they share with
# the libraries as templates or inline are not optimized either; tests of what is slow then are OPTIMIZED.
set(LLMIR_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)

# llmir_add_gtest(NAME source... LINK_LIBS lib... [MLIR | OPTIMIZED])
# A GoogleTest program in bin/tests; each source carries a lit RUN line that calls it. OPTIMIZED: it computes much.
function(llmir_add_gtest name)
  cmake_parse_arguments(ARG "MLIR;OPTIMIZED" "" "" ${ARGN})
  list(REMOVE_ITEM ARGN OPTIMIZED)
  llmir_add_tool(${name} ${ARGN})
  llmir_find_gtest()
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  if(NOT ARG_MLIR)
    # The precompiled headers require code compiled with -fPIC, as for libraries.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  if(ARG_OPTIMIZED)
    target_precompile_headers(${name} REUSE_FROM LLMIRPrecompiledStandard)
  elseif(NOT ARG_MLIR)
    target_compile_options(${name} PRIVATE ${LLMIR_TEST_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM LLMIRPrecompiledTests)
  endif()
  target_compile_definitions(${name} PRIVATE LLMIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
endfunction()

# llmir_replaces_operator_new(NAME)
# The program has its own `operator new`. Clang's thread sanitizer would add another one, which is not needed: it sees
# the calls of malloc(), too.
function(llmir_replaces_operator_new name)
  if(LLMIR_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(${name} PRIVATE -fno-sanitize-link-c++-runtime)
  endif()
endfunction()
