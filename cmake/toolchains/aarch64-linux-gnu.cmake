# Cross-builds the runtime for 64-bit Arm with Debian's g++-aarch64-linux-gnu:
#
#   utils/aarch64_sysroot.sh DIR        # the two libraries that it links
#   cmake -G Ninja -S . -B build/aarch64 -DLLMIR_RUNTIME_ONLY=ON \
#     -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64-linux-gnu.cmake \
#     -DLLMIR_SYSROOT=DIR
#
# Headers of nlohmann-json, CLI11 and xxHash do not depend on the processor: those
# of this machine are used.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LLMIR_SYSROOT)

set(ENV{PKG_CONFIG_SYSROOT_DIR} "${LLMIR_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${LLMIR_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(CMAKE_FIND_ROOT_PATH "${LLMIR_SYSROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
