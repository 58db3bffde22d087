"""The test format that test/lit.cfg.py uses. In a module of its own because
lit's worker processes receive it by its importable name."""

import lit.formats

# Folders with tests that run for long, the longest first. lit begins with the tests that took longest the last time;
# in a fresh build it knows no times, and a long test that begins last leaves the other workers idle.
LONGEST_FIRST = ("EndToEnd", "Codegen", "Tools", "Pipelines", "Guides", "Property")


class LLMIRTest(lit.formats.ShTest):
    """Files with RUN lines. A C++ source without one is a helper, not a test
    (`./dev lint` refuses such a file when it declares GoogleTest tests)."""

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
