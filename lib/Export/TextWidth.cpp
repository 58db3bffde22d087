//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text width estimates. The viewer's fonts are not known; DejaVu Sans is wider
// than the preferred fonts.
//
//===----------------------------------------------------------------------===//

#include "Scene.h"

#include <cstdint>
#include <iterator>

using namespace llmir;

// Advance widths of the characters 32 to 126, in thousandths of the font size.
static const uint16_t regularWidths[] = {
    318, 401, 460, 838, 637,  951, 780, 275, 391, 391, 500, 838, 318, 361,
    318, 337, 637, 637, 637,  637, 637, 637, 637, 637, 637, 637, 337, 337,
    838, 838, 838, 531, 1000, 685, 687, 699, 771, 632, 576, 775, 752, 295,
    295, 656, 558, 863, 749,  788, 604, 788, 695, 635, 611, 732, 685, 989,
    686, 611, 686, 391, 337,  391, 838, 500, 500, 613, 635, 550, 635, 616,
    353, 635, 634, 278, 278,  580, 278, 975, 634, 612, 635, 635, 412, 521,
    393, 634, 592, 818, 592,  592, 525, 637, 337, 637, 838};
static const uint16_t boldWidths[] = {
    349, 457, 521, 838, 696,  1002, 873, 307,  458, 458, 523, 838, 380, 416,
    380, 366, 696, 696, 696,  696,  696, 696,  696, 696, 696, 696, 400, 400,
    838, 838, 838, 581, 1000, 774,  763, 734,  831, 684, 684, 821, 837, 373,
    373, 775, 638, 996, 837,  851,  733, 851,  771, 721, 683, 813, 774, 1104,
    771, 725, 726, 458, 366,  458,  838, 500,  500, 675, 716, 593, 716, 679,
    436, 716, 712, 343, 343,  666,  343, 1042, 712, 688, 716, 716, 494, 596,
    479, 712, 652, 924, 646,  652,  583, 712,  366, 712, 838};
static_assert(std::size(regularWidths) == 95 && std::size(boldWidths) == 95,
              "one for each printable character");

/// Decodes the character at `i` and advances `i`; invalid UTF-8 yields U+FFFD
/// and consumes one byte.
static uint32_t nextCharacter(const std::string &text, size_t &i) {
  const auto byte = [&](size_t k) {
    return static_cast<unsigned char>(text[k]);
  };
  const unsigned char first = byte(i++);
  if (first < 0x80)
    return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || i + more > text.size())
    return 0xfffd;
  uint32_t code = first & (0x3f >> more);
  for (int k = 0; k < more; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80)
      return 0xfffd;
    code = code << 6 | (byte(i + k) & 0x3f);
  }
  static const uint32_t least[] = {0x80, 0x800, 0x10000};
  if (code < least[more - 1] || code > 0x10ffff ||
      (code >= 0xd800 && code <= 0xdfff))
    return 0xfffd;
  i += more;
  return code;
}

double picture::textWidth(const std::string &text, double size, bool bold) {
  const uint16_t *widths = bold ? boldWidths : regularWidths;
  int64_t sum = 0;
  for (size_t i = 0; i < text.size();) {
    const uint32_t code = nextCharacter(text, i);
    if (code >= 32 && code < 127)
      sum += widths[code - 32];
    else if (code == 0xb7) // Separator of properties.
      sum += 380;
    else if (code == 0xd7) // Separator of sizes.
      sum += 838;
    else
      sum += 1150;
  }
  return static_cast<double>(sum) * size / 1000;
}

std::string picture::cleanText(const std::string &bytes, size_t maxChars) {
  std::string result, shortened;
  size_t count = 0;
  for (size_t i = 0; i < bytes.size();) {
    const size_t start = i;
    const uint32_t code = nextCharacter(bytes, i);
    if (count + 1 == maxChars)
      shortened = result + "\u2026";
    if (++count > maxChars)
      return shortened;
    const bool allowed = code >= 32 && code != 0x7f && code != 0xfffd &&
                         code != 0xfffe && code != 0xffff &&
                         !(code >= 0x80 && code < 0xa0);
    if (allowed)
      result.append(bytes, start, i - start);
    else
      result += "\ufffd";
  }
  return result;
}
