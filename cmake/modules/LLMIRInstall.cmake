# What `cmake --install` puts into a prefix, which is relocatable:
#
#   bin/, lib/, include/     programs, libraries, headers, in three components (runtime, compiler, dev)
#   lib/cmake/LLMIR          the package that find_package(LLMIR) finds
#
# The build directory has the same package in lib/cmake/LLMIR, for use without installing.
# The directory structure is LLVM's: the command looks for the compiler's library in ../lib.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(package lib/cmake/LLMIR)

# Headers: those of the runtime, and those of the compiler if it is built.
set(runtime_headers llmir/ABI llmir/Artifact llmir/ChatTemplate llmir/Checkpoint llmir/Constraint llmir/Hub llmir/Runtime
  llmir/Serving llmir/Support llmir/Tokenizer mlir/Dialect/LLM/Runtime)
if(LLMIR_RUNTIME_ONLY)
  set(header_folders ${runtime_headers})
else()
  set(header_folders llmir llmir-c mlir mllm)
endif()
foreach(folder IN LISTS header_folders)
  get_filename_component(parent "${folder}" DIRECTORY)
  foreach(root IN LISTS LLMIR_INCLUDE_DIRS)
    install(DIRECTORY "${root}/${folder}" DESTINATION "include/${parent}" COMPONENT dev OPTIONAL
      FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def" PATTERN "*.td" PATTERN "*.inc"
      PATTERN CMakeFiles EXCLUDE)
  endforeach()
endforeach()
if(NOT LLMIR_RUNTIME_ONLY)
  # The first header in code that links MLIR (docs/decisions/0006-one-abi-with-libmlir.md).
  install(FILES "${PROJECT_SOURCE_DIR}/lib/Dialect/TraitTypeIDs.h" DESTINATION include/llmir/Dialect COMPONENT dev)
endif()

# The CMake package, for a prefix and for the build directory.
get_property(LLMIR_COMPILER_LIBRARIES GLOBAL PROPERTY LLMIR_INSTALLED_compiler)
set(LLMIR_FIRST_HEADER include/llmir/Dialect/TraitTypeIDs.h)
set(made "${PROJECT_BINARY_DIR}/CMakeFiles/package")
configure_package_config_file(cmake/LLMIRConfig.cmake.in "${made}/LLMIRConfig.cmake"
  INSTALL_DESTINATION ${package} PATH_VARS LLMIR_FIRST_HEADER NO_CHECK_REQUIRED_COMPONENTS_MACRO)
set(LLMIR_FIRST_HEADER "${PROJECT_SOURCE_DIR}/lib/Dialect/TraitTypeIDs.h")
configure_package_config_file(cmake/LLMIRConfig.cmake.in "${PROJECT_BINARY_DIR}/${package}/LLMIRConfig.cmake"
  INSTALL_DESTINATION ${package} INSTALL_PREFIX "${PROJECT_BINARY_DIR}" PATH_VARS LLMIR_FIRST_HEADER
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0, minor versions may break compatibility.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/${package}/LLMIRConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${made}/LLMIRConfig.cmake" "${PROJECT_BINARY_DIR}/${package}/LLMIRConfigVersion.cmake"
  DESTINATION ${package} COMPONENT dev)
foreach(component runtime compiler)
  get_property(libraries GLOBAL PROPERTY LLMIR_INSTALLED_${component})
  if(libraries)
    install(EXPORT LLMIR_${component} NAMESPACE LLMIR:: DESTINATION ${package} COMPONENT dev
      FILE LLMIR-${component}.cmake)
    export(EXPORT LLMIR_${component} NAMESPACE LLMIR:: FILE "${PROJECT_BINARY_DIR}/${package}/LLMIR-${component}.cmake")
  endif()
endforeach()

# Each Debian package has its own documentation directory.
foreach(folder llmir llmir-compiler llmir-dev)
  string(REGEX REPLACE "^llmir-?" "" component "${folder}")
  if(NOT component)
    set(component runtime)
  endif()
  if(LLMIR_RUNTIME_ONLY AND component STREQUAL "compiler")
    continue()
  endif()
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE.TXT" DESTINATION share/doc/${folder} COMPONENT ${component}
    RENAME copyright)
  install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION share/doc/${folder} COMPONENT ${component})
endforeach()

include(LLMIRPackages)
