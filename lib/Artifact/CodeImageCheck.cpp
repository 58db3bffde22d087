//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeImagePlan.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Artifact/CodeNote.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <unistd.h>

namespace llmir {

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
static constexpr const char *hostMachineName = "x86-64";
#elif defined(__aarch64__)
static constexpr uint16_t hostMachine = EM_AARCH64;
static constexpr const char *hostMachineName = "AArch64";
#else
static constexpr uint16_t hostMachine = EM_NONE;
static constexpr const char *hostMachineName = "of an unknown kind";
#endif

static constexpr uint64_t maxImageSpan = uint64_t(1) << 30;
static constexpr uint64_t maxSegmentAlignment = uint64_t(2) << 20;
static constexpr uint64_t maxAddress = uint64_t(1) << 46;
static constexpr size_t maxProgramHeaders = 64;

namespace {
/// Checks an image in one pass. Functions return Ok or the reason for
/// rejection.
class ImageChecker {
public:
  ImageChecker(Span<const uint8_t> image, const std::string &name,
               uint64_t pageBytes)
      : image(image), name(name), pageBytes(pageBytes) {}

  Status run();
  CodeImagePlan plan;

private:
  Status refuse(const std::string &what) const {
    return Status(StatusCode::InvalidFile, name + ": code image: " + what,
                  "compile it again with 'llmir compile'");
  }
  Status checkHeader();
  Status readProgramHeaders();
  Status checkOther(const Elf64_Phdr &header) const;
  Status checkLoad(const Elf64_Phdr &header);
  Status checkWritable(const Elf64_Phdr &header) const;
  Status checkDynamic(const Elf64_Phdr &header) const;
  Status checkEntry();

  /// Reads a structure at a checked offset; copied because it may be unaligned.
  template <typename T> T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
  }
  bool inImage(uint64_t offset, uint64_t bytes) const {
    return offset <= image.size() && bytes <= image.size() - offset;
  }
  uint64_t pageDown(uint64_t value) const { return value & ~(pageBytes - 1); }
  uint64_t pageUp(uint64_t value) const {
    return pageDown(value + pageBytes - 1);
  }

  Span<const uint8_t> image;
  const std::string &name;
  uint64_t pageBytes;
  Elf64_Ehdr elf{};
  std::vector<Elf64_Phdr> headers;
};
} // namespace

Status ImageChecker::checkHeader() {
  if (image.size() < sizeof(Elf64_Ehdr))
    return refuse("it has " + std::to_string(image.size()) +
                  " bytes, less than an ELF header");
  elf = at<Elf64_Ehdr>(0);
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
    return refuse("it is not an ELF file");
  if (elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_ident[EI_DATA] != ELFDATA2LSB ||
      elf.e_ident[EI_VERSION] != EV_CURRENT)
    return refuse("it is not a little-endian ELF64 file of version 1");
  if (elf.e_ident[EI_OSABI] != ELFOSABI_SYSV &&
      elf.e_ident[EI_OSABI] != ELFOSABI_LINUX)
    return refuse("its OS ABI is " + std::to_string(elf.e_ident[EI_OSABI]));
  if (elf.e_machine != hostMachine)
    return Status(StatusCode::IncompatibleTarget,
                  name + ": code image: its machine is ELF number " +
                      std::to_string(elf.e_machine) + "; this one is " +
                      hostMachineName,
                  "compile it again with 'llmir compile' on this machine");
  if (elf.e_type != ET_DYN)
    return refuse("its type is " + std::to_string(elf.e_type) +
                  "; a shared object (3) is expected");
  if (elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum == 0 ||
      elf.e_phnum > maxProgramHeaders)
    return refuse(std::to_string(elf.e_phnum) + " program headers of " +
                  std::to_string(elf.e_phentsize) + " bytes");
  if (!inImage(elf.e_phoff, elf.e_phnum * sizeof(Elf64_Phdr)))
    return refuse("its program headers at offset " +
                  std::to_string(elf.e_phoff) + " are out of bounds");
  return Status::ok();
}

Status ImageChecker::readProgramHeaders() {
  for (uint64_t i = 0; i < elf.e_phnum; ++i)
    headers.push_back(at<Elf64_Phdr>(elf.e_phoff + i * sizeof(Elf64_Phdr)));
  for (const Elf64_Phdr &header : headers) {
    if (!inImage(header.p_offset, header.p_filesz))
      return refuse("a segment at offset " + std::to_string(header.p_offset) +
                    " of " + std::to_string(header.p_filesz) +
                    " bytes is out of bounds");
    if (header.p_vaddr > maxAddress || header.p_memsz > maxImageSpan)
      return refuse("a segment at address " + std::to_string(header.p_vaddr) +
                    " of " + std::to_string(header.p_memsz) +
                    " bytes in memory is too far or too large");
    LLMIR_RETURN_IF_ERROR(header.p_type == PT_LOAD ? checkLoad(header)
                                                   : checkOther(header));
    if (header.p_type == PT_NOTE && plan.note.empty())
      plan.note = readCodeNote(
          Span<const uint8_t>(image).subspan(header.p_offset, header.p_filesz));
  }
  if (plan.segments.empty())
    return refuse("it has no segment to load");
  return Status::ok();
}

Status ImageChecker::checkOther(const Elf64_Phdr &header) const {
  switch (header.p_type) {
  case PT_INTERP:
    return refuse("it requires an interpreter");
  case PT_TLS:
    return refuse("it has thread-local data");
  case PT_GNU_STACK:
    return (header.p_flags & PF_X) ? refuse("it requires an executable stack")
                                   : Status::ok();
  case PT_DYNAMIC:
    return checkDynamic(header);
  default:
    return Status::ok();
  }
}

Status ImageChecker::checkLoad(const Elf64_Phdr &header) {
  const std::string which =
      "the segment at address " + std::to_string(header.p_vaddr);
  if (header.p_memsz == 0)
    return Status::ok();
  if (header.p_filesz > header.p_memsz)
    return refuse(which + " has more bytes in the file than in memory");
  if (header.p_align > maxSegmentAlignment ||
      (header.p_align & (header.p_align - 1)) != 0)
    return refuse(which + " has the alignment " +
                  std::to_string(header.p_align));
  if ((header.p_offset - header.p_vaddr) % pageBytes != 0)
    return refuse(which + " is at offset " + std::to_string(header.p_offset) +
                  ", which pages of " + std::to_string(pageBytes) +
                  " bytes cannot map");
  bool writable = header.p_flags & PF_W;
  if (writable && (header.p_flags & PF_X))
    return refuse(which + " is both writable and executable");
  if (writable)
    LLMIR_RETURN_IF_ERROR(checkWritable(header));
  else if (header.p_filesz != header.p_memsz)
    return refuse(which + " has zero-initialized data");
  if (!plan.segments.empty()) {
    const CodeSegment &last = plan.segments.back();
    if (pageDown(header.p_vaddr) < pageUp(last.address + last.memoryBytes))
      return refuse(which + " overlaps the segment before it, or is not in "
                            "ascending order");
  } else {
    plan.firstAddress = pageDown(header.p_vaddr);
  }
  plan.segments.push_back({header.p_vaddr, header.p_offset, header.p_filesz,
                           header.p_memsz, (header.p_flags & PF_X) != 0});
  plan.endAddress = pageUp(header.p_vaddr + header.p_memsz);
  plan.alignment = std::max({plan.alignment, header.p_align, pageBytes});
  if (plan.endAddress - plan.firstAddress > maxImageSpan)
    return refuse("it spans more than " + std::to_string(maxImageSpan) +
                  " bytes of memory");
  return Status::ok();
}

/// The linker marks the dynamic section writable for dynamic loaders. None is
/// used here, so the section is mapped read-only. Data would have to be
/// written.
Status ImageChecker::checkWritable(const Elf64_Phdr &header) const {
  for (uint64_t i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr cover = at<Elf64_Phdr>(elf.e_phoff + i * sizeof(Elf64_Phdr));
    if ((cover.p_type == PT_GNU_RELRO || cover.p_type == PT_DYNAMIC) &&
        cover.p_memsz <= maxImageSpan && cover.p_vaddr <= header.p_vaddr &&
        header.p_vaddr - cover.p_vaddr <= cover.p_memsz &&
        header.p_memsz <= cover.p_memsz - (header.p_vaddr - cover.p_vaddr))
      return Status::ok();
  }
  return refuse("the segment at address " + std::to_string(header.p_vaddr) +
                " contains writable data");
}

Status ImageChecker::checkDynamic(const Elf64_Phdr &header) const {
  for (uint64_t i = 0; i < header.p_filesz / sizeof(Elf64_Dyn); ++i) {
    Elf64_Dyn entry = at<Elf64_Dyn>(header.p_offset + i * sizeof(Elf64_Dyn));
    switch (entry.d_tag) {
    case DT_NULL:
      return Status::ok();
    case DT_NEEDED:
      return refuse("it requires a library");
    case DT_RELA:
    case DT_REL:
    case DT_RELR:
    case DT_JMPREL:
    case DT_TEXTREL:
      return refuse("it has relocations");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      return refuse("it has code to run at load or unload");
    default:
      break;
    }
  }
  return Status::ok();
}

Status ImageChecker::checkEntry() {
  for (const CodeSegment &segment : plan.segments)
    if (segment.executable && elf.e_entry >= segment.address &&
        elf.e_entry - segment.address < segment.fileBytes) {
      plan.entry = elf.e_entry;
      return Status::ok();
    }
  return refuse("its entry point " + std::to_string(elf.e_entry) +
                " is not in executable code");
}

Status ImageChecker::run() {
  LLMIR_RETURN_IF_ERROR(checkHeader());
  LLMIR_RETURN_IF_ERROR(readProgramHeaders());
  return checkEntry();
}

Expected<CodeImagePlan> planCodeImage(Span<const uint8_t> image,
                                      const std::string &name,
                                      uint64_t pageBytes) {
  ImageChecker checker(image, name, pageBytes);
  if (Status status = checker.run(); !status)
    return status;
  return std::move(checker.plan);
}

Status validateCodeImage(Span<const uint8_t> image, const std::string &name) {
  uint64_t pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return planCodeImage(image, name, pageBytes).takeStatus();
}

} // namespace llmir
