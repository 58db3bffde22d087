# The only directory of LLMIR under include/mlir is Dialect/LLM. Other files there,
# or files that exist upstream as well, would shadow MLIR's own.
file(GLOB_RECURSE own_headers RELATIVE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/include/mlir/*")
foreach(header IN LISTS own_headers)
  if(NOT header MATCHES "^mlir/Dialect/(LLM/|CMakeLists.txt$)")
    message(FATAL_ERROR "include/${header} is misplaced: LLMIR has only include/mlir/Dialect/LLM there; put it under include/llmir.")
  endif()
  foreach(dir IN LISTS MLIR_INCLUDE_DIRS)
    if(NOT header MATCHES "CMakeLists.txt$" AND EXISTS "${dir}/${header}")
      message(FATAL_ERROR "include/${header} shadows MLIR's own header in ${dir}: rename it.")
    endif()
  endforeach()
endforeach()
