# Compiler settings for all targets.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# Lets installed programs find an LLVM outside of the system's library directories, such as Debian's.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Debian's LLVM is built without assertions. LLMIR's own stay enabled in every build
# type, together with the standard library's cheap checks.
option(LLMIR_ENABLE_ASSERTIONS "Keep assert() and the standard library's cheap checks" ON)
if(LLMIR_ENABLE_ASSERTIONS)
  foreach(config RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_${config} "${CMAKE_CXX_FLAGS_${config}}")
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${config} "${CMAKE_C_FLAGS_${config}}")
  endforeach()
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
endif()

set(LLMIR_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about an overflow in every `"text" + std::string` (GCC bug 105329, fixed in 13).
  list(APPEND LLMIR_WARNINGS $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow> $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()
option(LLMIR_WERROR "Treat compiler warnings as errors" OFF)
if(LLMIR_WERROR)
  list(APPEND LLMIR_WARNINGS -Werror)
endif()

set(LLMIR_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
if(LLMIR_SANITIZE)
  add_compile_options(-fsanitize=${LLMIR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # It reads the words before a function; generated code may have no memory there.
    add_compile_options(-fno-sanitize=function)
  endif()
  add_link_options(-fsanitize=${LLMIR_SANITIZE})
endif()

find_program(LLMIR_CCACHE ccache)
if(LLMIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With precompiled headers, ccache must ignore time stamps. Paths within the clone are hashed
  # relative to the build directory, so that another clone can reuse what this one has compiled.
  set(launcher ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    list(APPEND launcher CCACHE_PCH_EXTSUM=1 ${CMAKE_SOURCE_DIR}/utils/compile.sh ${CMAKE_SOURCE_DIR})
  endif()
  list(APPEND launcher ${LLMIR_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(LLMIR_LLD NAMES ld.lld-22 ld.lld HINTS /usr/lib/llvm-22/bin)
option(LLMIR_USE_LLD "Link with lld if it is installed" ON)
if(LLMIR_USE_LLD AND LLMIR_LLD)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_link_options(--ld-path=${LLMIR_LLD})
  else()
    # GCC looks for `ld.lld` in the directories given with -B.
    get_filename_component(lld_real "${LLMIR_LLD}" REALPATH)
    if(EXISTS /usr/lib/llvm-22/bin/ld.lld)
      add_link_options(-B/usr/lib/llvm-22/bin -fuse-ld=lld)
    endif()
  endif()
endif()
