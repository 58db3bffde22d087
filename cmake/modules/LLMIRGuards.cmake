# The LLMIR specification prescribes include/mlir/Dialect/LLM. Anything else of ours
# under include/mlir, or a file that upstream has too, would shadow MLIR's own.
file(GLOB_RECURSE own_headers RELATIVE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/include/mlir/*")
foreach(header IN LISTS own_headers)
  if(NOT header MATCHES "^mlir/Dialect/(LLM/|CMakeLists.txt$)")
    message(FATAL_ERROR "include/${header} does not belong there: only include/mlir/Dialect/LLM is ours; put it under include/llmir.")
  endif()
  foreach(dir IN LISTS MLIR_INCLUDE_DIRS)
    if(NOT header MATCHES "CMakeLists.txt$" AND EXISTS "${dir}/${header}")
      message(FATAL_ERROR "include/${header} shadows MLIR's own header in ${dir}: rename it.")
    endif()
  endforeach()
endforeach()
