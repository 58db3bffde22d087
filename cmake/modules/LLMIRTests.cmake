# The target check-llmir: all tests, run by LLVM's lit. Included last, after all
# programs have been declared.

# Debian's python3 has NumPy; another python3 in PATH may not.
set(LLMIR_PYTHON "" CACHE FILEPATH "Python 3.7 or later with NumPy, for the tests")
if(NOT LLMIR_PYTHON)
  find_program(LLMIR_PATH_PYTHON NAMES python3)
  foreach(candidate ${LLMIR_PATH_PYTHON} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy, sys; sys.exit(sys.version_info < (3, 7))"
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(LLMIR_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
find_program(LLMIR_LIT NAMES lit llvm-lit HINTS "${LLVM_TOOLS_BINARY_DIR}" NO_DEFAULT_PATH)

set(LLMIR_HAS_XNNPACK "")
if(TARGET LLMIRXNNPACK)
  set(LLMIR_HAS_XNNPACK "yes")
endif()
configure_file("${PROJECT_SOURCE_DIR}/test/lit.site.cfg.py.in" "${PROJECT_BINARY_DIR}/test/lit.site.cfg.py" @ONLY)

# A missing tool makes check-llmir fail with a message; it does not stop a build.
if(NOT LLMIR_PYTHON OR NOT LLMIR_LIT)
  add_custom_target(check-llmir
    COMMAND ${CMAKE_COMMAND} -E echo "The tests need python3 with NumPy and LLVM's lit: run './dev setup', or install python3-numpy llvm-22-tools, and configure again."
    COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()

# The environment variables LIT_FILTER and LIT_OPTS select tests and set lit's options.
get_property(test_targets GLOBAL PROPERTY LLMIR_TEST_TARGETS)
if(TARGET LLMIRCompiler)
  list(APPEND test_targets LLMIRCompiler)
endif()
add_custom_target(check-llmir
  COMMAND ${LLMIR_PYTHON} ${LLMIR_LIT} -sv "${PROJECT_BINARY_DIR}/test"
  DEPENDS ${test_targets}
  COMMENT "Running LLMIR's tests"
  USES_TERMINAL)
