//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code shared by the kernels of the paged KV cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_CACHEKERNELS_H
#define LLMIR_LIB_CODEGEN_CACHEKERNELS_H

#include "../Common/Emitters.h"

#include "llmir/ABI/KVBlockLayout.h"

namespace llmir {

/// The cache accessed by a verified kernel.
struct KernelCache {
  KVFormat format;
  KVBlockLayout layout;
};
KernelCache cacheOf(kernel::KernelOpInterface kernel);

/// The tensor format of the elements of a cache in that format, which must not
/// be Q8.
inline TensorFormat storedFormat(KVFormat format) {
  return format == KVFormat::F32   ? TensorFormat::F32
         : format == KVFormat::F16 ? TensorFormat::F16
                                   : TensorFormat::BF16;
}

/// Start of the current layer in the KV pool.
inline mlir::Value layerBase(KernelBuilder &kb) {
  mlir::Value stride = kb.contextIndex(StepField::kv_layer_stride);
  return kb.advance(kb.contextPointer(StepField::kv_pool),
                    kb.mul(kb.layer(), stride));
}

/// The group of the current layer.
inline mlir::Value layerGroup(KernelBuilder &kb) {
  return kb.contextArray(StepField::kv_groups, kb.layer());
}

/// Index into block_tables of a sequence's first entry, for layers of a group.
inline mlir::Value blockTableOf(KernelBuilder &kb, mlir::Value group,
                                mlir::Value sequence) {
  mlir::Value sequences = kb.contextIndex(StepField::num_sequences);
  return kb.mul(kb.add(kb.mul(group, sequences), sequence),
                kb.contextIndex(StepField::block_table_stride));
}

/// Offset in bytes from the start of a head's part of a block to an element of
/// its K or
/// V: KVBlockLayout::keyOffset and valueOffset, for head 0, as code.
mlir::Value keyByte(KernelBuilder &kb, const KVBlockLayout &layout,
                    mlir::Value token, mlir::Value dim);
mlir::Value valueByte(KernelBuilder &kb, const KVBlockLayout &layout,
                      mlir::Value token, mlir::Value dim);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_CACHEKERNELS_H
