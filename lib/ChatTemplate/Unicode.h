//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Characters of UTF-8 texts and their properties.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_UNICODE_H
#define LLMIR_LIB_CHATTEMPLATE_UNICODE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir::chat {

/// The character at `at`, which is advanced past it. The text is UTF-8, in
/// which escapes of string literals may also have put surrogates.
uint32_t nextCharacter(std::string_view text, size_t &at);
/// The character that ends at `end`, which is moved to its first byte.
uint32_t previousCharacter(std::string_view text, size_t &end);
void appendCharacter(std::string &text, uint32_t c);
/// The size in bytes of the character with that first byte.
size_t characterSize(char first);
size_t countCharacters(std::string_view text);
/// The byte offset of a character, at most the text's size.
size_t byteOffset(std::string_view text, size_t character);

bool isSpace(uint32_t c); ///< str.isspace()
bool isPrintable(uint32_t c);
bool isAlpha(uint32_t c);
bool isDecimal(uint32_t c);
bool isDigit(uint32_t c);
bool isNumeric(uint32_t c);
bool isUpper(uint32_t c);
bool isLower(uint32_t c);
bool isTitle(uint32_t c);
bool isIdentifierStart(uint32_t c);
bool isIdentifierPart(uint32_t c);
/// The value of a decimal digit, or -1.
int decimalValue(uint32_t c);

std::string toUpper(std::string_view text);
std::string toLower(std::string_view text);
std::string toTitle(std::string_view text);
std::string capitalize(std::string_view text);
std::string swapCase(std::string_view text);
std::string caseFold(std::string_view text);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_UNICODE_H
