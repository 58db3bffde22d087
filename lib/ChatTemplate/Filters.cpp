//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include <algorithm>
#include <iterator>

namespace llmir::chat {

Value filters::unsupported(Interpreter &, CallArguments &) {
  raise(ErrorKind::Unsupported, "this filter is not supported");
}

constexpr FilterEntry table[] = {
    {"abs", filters::abs},
    {"attr", filters::attr},
    {"batch", filters::batch},
    {"capitalize", filters::capitalizeText},
    {"center", filters::center},
    {"count", filters::length},
    {"d", filters::defaultValue},
    {"default", filters::defaultValue},
    {"dictsort", filters::dictsort},
    {"e", filters::escape},
    {"escape", filters::escape},
    {"filesizeformat", filters::filesizeformat},
    {"first", filters::first},
    {"float", filters::toFloat},
    {"forceescape", filters::forceescape},
    {"format", filters::format},
    {"groupby", filters::groupby},
    {"indent", filters::indent},
    {"int", filters::toInt},
    {"items", filters::items},
    {"join", filters::join},
    {"last", filters::last},
    {"length", filters::length},
    {"list", filters::list},
    {"lower", filters::lower},
    {"map", filters::map},
    {"max", filters::max},
    {"min", filters::min},
    {"pprint", filters::unsupported},
    {"random", filters::random},
    {"reject", filters::reject},
    {"rejectattr", filters::rejectattr},
    {"replace", filters::replace},
    {"reverse", filters::reverse},
    {"round", filters::round},
    {"safe", filters::safe},
    {"select", filters::select},
    {"selectattr", filters::selectattr},
    {"slice", filters::sliceColumns},
    {"sort", filters::sort},
    {"string", filters::string},
    {"striptags", filters::striptags},
    {"sum", filters::sum},
    {"title", filters::title},
    {"tojson", filters::tojson},
    {"trim", filters::trim},
    {"truncate", filters::truncate},
    {"unique", filters::unique},
    {"upper", filters::upper},
    {"urlencode", filters::urlencode},
    {"urlize", filters::unsupported},
    {"wordcount", filters::wordcount},
    {"wordwrap", filters::unsupported},
    {"xmlattr", filters::xmlattr},
};

const FilterEntry *findFilter(std::string_view name) {
  const FilterEntry *found =
      std::lower_bound(std::begin(table), std::end(table), name,
                       [](const FilterEntry &entry, std::string_view name) {
                         return entry.name < name;
                       });
  return found != std::end(table) && found->name == name ? found : nullptr;
}

} // namespace llmir::chat
