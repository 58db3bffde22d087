//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a float32 array in NumPy's file format row by row.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_NPYWRITER_H
#define LLMIR_TOOLS_LLMIR_NPYWRITER_H

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/Span.h"

#include <cstdint>
#include <string>

namespace llmir::cli {

class NpyWriter {
public:
  /// An array of shape [rows, columns]. The file appears when finish() is
  /// called.
  static Expected<NpyWriter> create(const std::string &path, int64_t rows,
                                    int64_t columns) {
    Expected<AtomicFile> file = AtomicFile::create(path);
    if (!file)
      return file.takeStatus();
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(columns) +
                         "), }";
    // Magic, version and length take 10 bytes; the data is aligned to 64 bytes,
    // and the header ends with a newline.
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string start("\x93NUMPY\x01\x00", 8);
    start += static_cast<char>(header.size() & 0xff);
    start += static_cast<char>(header.size() >> 8);
    LLMIR_RETURN_IF_ERROR(file->write(start + header));
    return NpyWriter(std::move(*file));
  }

  Status writeRow(Span<const float> row) {
    return file.write(row.data(), row.size() * sizeof(float));
  }
  Status finish() { return file.commit(); }

private:
  explicit NpyWriter(AtomicFile file) : file(std::move(file)) {}
  AtomicFile file;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_NPYWRITER_H
