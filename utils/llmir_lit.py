"""The test format of test/lit.cfg.py, in a separate module because lit's worker
processes import it by name."""

import lit.formats

# Directories with long tests, the longest first. lit starts with the tests that took longest in the last run; a fresh
# build has no times, and a long test that starts last leaves the other workers idle.
LONGEST_FIRST = ("EndToEnd", "Codegen", "Tools", "Pipelines", "Driver", "Guides", "Property")


class LLMIRTest(lit.formats.ShTest):
    """Files with RUN lines. A C++ source without one is a helper, not a test
    (`./dev lint` rejects such a file if it declares GoogleTest tests)."""

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for test in super().getTestsInDirectory(
            testSuite, path_in_suite, litConfig, localConfig
        ):
            path = test.getSourcePath()
            if path.endswith(".cpp"):
                with open(path, encoding="utf-8", errors="replace") as source:
                    if "RUN:" not in source.read():
                        continue
            folder = test.path_in_suite[0]
            if not test.previous_elapsed and folder in LONGEST_FIRST:
                test.previous_elapsed = 1.0 + len(LONGEST_FIRST) - LONGEST_FIRST.index(folder)
            yield test
