//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets our code and Debian's libMLIR agree: about the layout of statistics, and
// (code built with GCC) about traits.
//
// MLIR identifies a trait by the name of `Trait<Empty>`, `Empty` being a class
// local to TypeID::get(). Clang, with which Debian builds libMLIR, spells it
//   mlir::OpTrait::IsTerminator<Empty>
// and GCC spells the local class with the function around it, so that neither
// side sees the other's traits: our terminators would end no block. Here GCC's
// spelling becomes clang's. It has to be the first header of MLIR that a file
// sees, hence its place at the top of the precompiled header.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_TRAITTYPEIDS_H
#define LLMIR_LIB_DIALECT_TRAITTYPEIDS_H

// Debian's libMLIR is built with NDEBUG, which makes llvm::Statistic an empty
// class there; with our assertions on it would have fields that the library's
// constructors do not know. It is parsed here as the library was.
#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif

#include "mlir/Support/TypeID.h"

#if defined(__GNUC__) && !defined(__clang__)

#include <string>
#include <string_view>

namespace llmir::detail {

/// True for the class `Empty` of mlir::TypeID::get<Trait>().
template <typename T> constexpr bool isTraitProbe() {
  std::string_view name = __PRETTY_FUNCTION__;
  return name.find("T = mlir::TypeID::get<") != std::string_view::npos &&
         name.find("::Empty]") != std::string_view::npos;
}

} // namespace llmir::detail

namespace mlir::detail {

template <template <typename> class Trait, typename Probe>
class TypeIDResolver<Trait<Probe>,
                     std::enable_if_t<llmir::detail::isTraitProbe<Probe>()>>
    : public FallbackTypeIDResolver {
public:
  static TypeID resolveTypeID() {
    // MLIR's registry keeps the characters for as long as the process runs.
    static const std::string &name = *new std::string(clangName());
    static TypeID id = registerImplicitTypeID(name);
    return id;
  }

private:
  /// Trait's name, which ends in "<Probe's name>", with "<Empty>" in its place.
  static std::string clangName() {
    std::string name = llvm::getTypeName<Trait<Probe>>().str();
    name.resize(name.size() - llvm::getTypeName<Probe>().size() - 1);
    return name + "Empty>";
  }
};

} // namespace mlir::detail

#endif // GCC
#endif // LLMIR_LIB_DIALECT_TRAITTYPEIDS_H
