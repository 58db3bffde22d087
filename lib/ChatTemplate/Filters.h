//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The filters of Jinja, by subject.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_FILTERS_H
#define LLMIR_LIB_CHATTEMPLATE_FILTERS_H

#include "Arguments.h"

namespace llmir::chat::filters {

// Texts.
Value capitalizeText(Interpreter &, CallArguments &);
Value center(Interpreter &, CallArguments &);
Value escape(Interpreter &, CallArguments &);
Value filesizeformat(Interpreter &, CallArguments &);
Value forceescape(Interpreter &, CallArguments &);
Value format(Interpreter &, CallArguments &);
Value indent(Interpreter &, CallArguments &);
Value join(Interpreter &, CallArguments &);
Value lower(Interpreter &, CallArguments &);
Value replace(Interpreter &, CallArguments &);
Value safe(Interpreter &, CallArguments &);
Value string(Interpreter &, CallArguments &);
Value striptags(Interpreter &, CallArguments &);
Value title(Interpreter &, CallArguments &);
Value tojson(Interpreter &, CallArguments &);
Value trim(Interpreter &, CallArguments &);
Value truncate(Interpreter &, CallArguments &);
Value upper(Interpreter &, CallArguments &);
Value urlencode(Interpreter &, CallArguments &);
Value wordcount(Interpreter &, CallArguments &);
Value wordwrap(Interpreter &, CallArguments &);
Value xmlattr(Interpreter &, CallArguments &);

// Numbers.
Value abs(Interpreter &, CallArguments &);
Value toFloat(Interpreter &, CallArguments &);
Value toInt(Interpreter &, CallArguments &);
Value round(Interpreter &, CallArguments &);

// Sequences and mappings.
Value attr(Interpreter &, CallArguments &);
Value batch(Interpreter &, CallArguments &);
Value defaultValue(Interpreter &, CallArguments &);
Value dictsort(Interpreter &, CallArguments &);
Value first(Interpreter &, CallArguments &);
Value groupby(Interpreter &, CallArguments &);
Value items(Interpreter &, CallArguments &);
Value last(Interpreter &, CallArguments &);
Value length(Interpreter &, CallArguments &);
Value list(Interpreter &, CallArguments &);
Value map(Interpreter &, CallArguments &);
Value max(Interpreter &, CallArguments &);
Value min(Interpreter &, CallArguments &);
Value random(Interpreter &, CallArguments &);
Value reject(Interpreter &, CallArguments &);
Value rejectattr(Interpreter &, CallArguments &);
Value reverse(Interpreter &, CallArguments &);
Value select(Interpreter &, CallArguments &);
Value selectattr(Interpreter &, CallArguments &);
Value sliceColumns(Interpreter &, CallArguments &);
Value sort(Interpreter &, CallArguments &);
Value sum(Interpreter &, CallArguments &);
Value unique(Interpreter &, CallArguments &);

/// Accepted by name; fails when it is called.
Value unsupported(Interpreter &, CallArguments &);

} // namespace llmir::chat::filters

#endif // LLMIR_LIB_CHATTEMPLATE_FILTERS_H
