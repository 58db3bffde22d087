"""The test format that test/lit.cfg.py uses. In a module of its own because
lit's worker processes receive it by its importable name."""

import lit.formats


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
            yield test
