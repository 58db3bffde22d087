//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the answers of the Hub say. Nothing here uses the network; everything
// read here is untrusted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_ANSWERS_H
#define LLMIR_LIB_HUB_ANSWERS_H

#include "Http.h"

#include "llmir/Hub/FileChoice.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmir::hub {

/// The failure of an answer that is not as the Hub's are.
Status notTheHub(Status problem);

/// The commit that the description of a revision names. `where` begins
/// messages.
Expected<std::string> commitOfAnswer(std::string_view answer,
                                     const std::string &where);

/// Appends the files of one page of a repository's tree.
Status addListing(std::string_view answer, const std::string &where,
                  std::vector<FileEntry> &files);

/// The address of the next page, from `Link: <ADDRESS>; rel="next"`; empty if
/// this is the last one.
std::string nextPage(const HttpHead &head);

/// Seconds that an answer asks to wait, from Retry-After (a number or a date)
/// or the RateLimit header ("resolvers";r=0;t=172); -1 if it does not.
double requestedWait(const HttpHead &head);

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_ANSWERS_H
