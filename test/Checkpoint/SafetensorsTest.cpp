// RUN: llmir-checkpoint-tests --gtest_filter='Safetensors*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "Safetensors.h"

#include <sys/stat.h>

using namespace llmir;
using namespace llmir::test;

namespace {

/// A file of this header and this many bytes of data.
std::string safetensors(const std::string &header, size_t dataBytes) {
  std::string data(dataBytes, '\0');
  for (size_t i = 0; i < dataBytes; ++i)
    data[i] = static_cast<char>(i * 3 + 1);
  return bytesOf(uint64_t(header.size())) + header + data;
}

Expected<std::vector<CheckpointTensor>> readFile(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  return readSafetensors(std::make_shared<const MappedFile>(std::move(*file)));
}

TEST(SafetensorsTest, ReadsTensorsInPlace) {
  TempFolder folder;
  // Out of order, padded, with metadata, a scalar, an empty tensor, and types
  // that are listed only.
  std::string path = folder.write(
      "a.safetensors",
      safetensors(R"({"__metadata__":{"format":"pt"},)"
                  R"("b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},)"
                  R"("a":{"shape":[2],"data_offsets":[0,8],"dtype":"F32"},)"
                  R"("s":{"dtype":"F16","shape":[],"data_offsets":[20,22]},)"
                  R"("e":{"dtype":"F32","shape":[0,5],"data_offsets":[22,22]},)"
                  R"("i":{"dtype":"I64","shape":[1],"data_offsets":[22,30]},)"
                  R"("n":{"dtype":"F4","shape":[2,3],"data_offsets":[30,33]}})"
                  "   ",
                  33));
  auto tensors = readFile(path);
  ASSERT_TRUE(tensors) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 6u);
  const CheckpointTensor &b = (*tensors)[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(*b.usableFormat(), TensorFormat::BF16);
  ASSERT_EQ(b.bytes.size(), 12u);
  EXPECT_EQ(b.bytes[0], uint8_t(8 * 3 + 1));
  EXPECT_EQ(b.bytes.end() + 13, b.file->bytes().end());
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[2].numElements(), 1);
  EXPECT_EQ((*tensors)[3].bytes.size(), 0u);
  auto format = (*tensors)[4].usableFormat();
  ASSERT_FALSE(format);
  EXPECT_EQ(format.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(format.status().cause(),
            "a.safetensors: tensor 'i' is stored as I64, which LLMIR does "
            "not support");
}

TEST(SafetensorsTest, RefusesBadHeaders) {
  struct Case {
    std::string header;
    size_t dataBytes;
    std::vector<std::string> texts;
  };
  auto one = [](const std::string &fields) {
    return R"({"w":{)" + fields + "}}";
  };
  std::string deep = "{\"w\":";
  for (int i = 0; i < 100000; ++i)
    deep += '[';
  const std::vector<Case> cases = {
      {"", 4, {"'{'"}},
      {" {}", 0, {"does not begin with '{'"}},
      {"[]", 0, {"does not begin with '{'"}},
      {"\xef\xbb\xbf{}", 0, {"does not begin with '{'"}},
      {"{", 0, {"header", "unexpected end"}},
      {"{} x", 0, {"header", "byte"}},
      {"{\"w\xff\":{}}", 0, {"header", "UTF-8", "byte 4"}},
      {R"({"w":1})", 0, {"'w' is a number"}},
      {R"({"w":"x"})", 0, {"'w' is a string"}},
      {R"({"w":null})", 0, {"'w' is null"}},
      {R"({"w":[]})", 0, {"'w' is an array"}},
      {R"({"w":{}})", 0, {"'w'", "dtype is missing"}},
      {one(R"("dtype":"F32","shape":[1])"),
       4,
       {"'w'", "data_offsets is missing"}},
      {one(R"("dtype":"F32","data_offsets":[0,4])"),
       4,
       {"'w'", "shape is missing"}},
      {one(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])"),
       4,
       {"'w'", "unknown dtype 'F33'"}},
      {one(R"("dtype":32,"shape":[1],"data_offsets":[0,4])"),
       4,
       {"'w'", "dtype is a number"}},
      {one(R"("dtype":"F32","shape":{},"data_offsets":[0,4])"),
       4,
       {"'w'", "shape is an object"}},
      {one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
       4,
       {"'w'", "shape contains the negative number -1"}},
      {one(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,4])"),
       4,
       {"'w'", "shape contains a fraction"}},
      {one(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"),
       4,
       {"'w'", "shape contains a string"}},
      {one(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
       4,
       {"'w'", "shape contains an array"}},
      {one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"),
       4,
       {"'w'", "18446744073709551615"}},
      {one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"),
       4,
       {"'w'", "[4294967296, 4294967296]", "overflows"}},
      {one(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,4])"),
       4,
       {"'w'", "overflows"}},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
       4,
       {"'w'", "cover 4 bytes", "F32 [2] needs 8"}},
      {one(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"),
       2,
       {"'w'", "3 values of F4 are not whole bytes"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
       4,
       {"'w'", "run backwards"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"),
       4,
       {"'w'", "[0, 8] pass the end", "4 bytes"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615])"),
       4,
       {"'w'", "pass the end"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0])"),
       4,
       {"'w'", "has 1 numbers"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,2,4])"),
       4,
       {"'w'", "has 3 numbers"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"),
       4,
       {"'w'", "data_offsets contains the negative number -4"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
       8,
       {"'w'", "leave a gap", "begin at 0"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"),
       5,
       {"end at byte 4", "5 bytes"}},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"),
       4,
       {"'w'", "unknown key 'x'"}},
      {one(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"),
       4,
       {"'w'", "dtype is given twice"}},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
       6,
       {"'b'", "[2, 6] overlap", "begin at 4"}},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})",
       10,
       {"'b'", "[6, 10] leave a gap"}},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8,
       {"'a' is given twice"}},
      {R"({"__metadata__":{"n":1}})", 0, {"'__metadata__': 'n' is a number"}},
      {R"({"__metadata__":{"n":{}}})", 0, {"'__metadata__': 'n' is an object"}},
      {R"({"__metadata__":"x"})", 0, {"'__metadata__' is a string"}},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, {"twice"}},
      {deep, 0, {"'w' is an array"}},
      {"{}", 3, {"end at byte 0", "3 bytes"}},
  };
  TempFolder folder;
  for (const Case &bad : cases) {
    SCOPED_TRACE(bad.header.substr(0, 100));
    std::string bytes = safetensors(bad.header, bad.dataBytes);
    std::string path = folder.write("bad.safetensors", bytes);
    Refusal refusal{StatusCode::InvalidFile, bad.texts};
    refusal.texts.push_back("bad.safetensors: ");
    expectRefusal(refusal, bytes.size(),
                  [&] { return readFile(path).takeStatus(); });
  }
  EXPECT_GE(cases.size(), 40u);
}

TEST(SafetensorsTest, RefusesBadLengths) {
  TempFolder folder;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "has 0 bytes"},
      {"1234567", "has 7 bytes"},
      {bytesOf(uint64_t(3)) + "{}", "is 3, but only 2 bytes follow"},
      {bytesOf(uint64_t(100000001)) + "{}", "is 100000001; at most 100000000"},
      {bytesOf(~uint64_t(0)) + "{}", "is 18446744073709551615"},
      {bytesOf(~uint64_t(0) - 7) + "{}", "is 18446744073709551608"},
  };
  for (const auto &[bytes, text] : cases) {
    SCOPED_TRACE(text);
    std::string path = folder.write("bad.safetensors", bytes);
    expectRefusal({StatusCode::InvalidFile, {"bad.safetensors", text}},
                  bytes.size(), [&] { return readFile(path).takeStatus(); });
  }
}

TEST(SafetensorsTest, ReadsAHundredThousandTensors) {
  TempFolder folder;
  std::string header = "{";
  for (int i = 0; i < 100000; ++i)
    header += (i ? ",\"t" : "\"t") + std::to_string(i) +
              R"(":{"dtype":"BF16","shape":[1],"data_offsets":[)" +
              std::to_string(2 * i) + "," + std::to_string(2 * i + 2) + "]}";
  std::string path =
      folder.write("many.safetensors", safetensors(header + "}", 200000));
  double start = cpuSeconds();
  auto tensors = readFile(path);
  double time = cpuSeconds() - start;
  ASSERT_TRUE(tensors) << tensors.status().message();
  EXPECT_EQ(tensors->size(), 100000u);
  EXPECT_LT(time, timeLimit);
}

//===----------------------------------------------------------------------===//
// Directories with an index
//===----------------------------------------------------------------------===//

class SafetensorsFolderTest : public testing::Test {
protected:
  void SetUp() override {
    shard("one.safetensors", "a");
    shard("two.safetensors", "b");
  }
  void shard(const std::string &file, const std::string &tensor) {
    folder.write(file, safetensors("{\"" + tensor +
                                       R"(":{"dtype":"F32","shape":[1],)"
                                       R"("data_offsets":[0,4]}})",
                                   4));
  }
  Expected<std::vector<CheckpointTensor>> read(const std::string &index) {
    folder.write("model.safetensors.index.json", index);
    std::vector<std::shared_ptr<const MappedFile>> files;
    return readSafetensorsFolder(folder.path(), files);
  }
  TempFolder folder;
};

TEST_F(SafetensorsFolderTest, ReadsShards) {
  auto tensors = read(R"({"metadata":{"total_size":8,"x":[1,[2]]},)"
                      R"("weight_map":{"b":"two.safetensors",)"
                      R"("a":"one.safetensors"}})");
  ASSERT_TRUE(tensors) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "b");
  EXPECT_EQ((*tensors)[0].file->name(), "two.safetensors");
}

TEST_F(SafetensorsFolderTest, FollowsLinksThatTheFolderHolds) {
  // Download caches keep the files elsewhere and link to them.
  std::filesystem::create_directory(folder / "blobs");
  std::filesystem::rename(folder / "one.safetensors", folder / "blobs/123");
  std::filesystem::create_symlink("blobs/123", folder / "one.safetensors");
  auto tensors = read(R"({"weight_map":{"a":"one.safetensors"}})");
  ASSERT_TRUE(tensors) << tensors.status().message();
}

TEST_F(SafetensorsFolderTest, RefusesBadIndices) {
  struct Case {
    const char *index;
    std::vector<std::string> texts;
    StatusCode code = StatusCode::InvalidFile;
  };
  std::filesystem::create_directory(folder / "folder.safetensors");
  ASSERT_EQ(mkfifo((folder / "pipe.safetensors").c_str(), 0600), 0);
  folder.write("short.safetensors", "123");
  const Case cases[] = {
      {"", {"byte"}},
      {"[]", {"array"}},
      {"1", {"not an object"}},
      {"{}", {"'weight_map' is missing"}, StatusCode::NotFound},
      {R"({"weight_map":1})", {"'weight_map' is not an object"}},
      {R"({"weight_map":[]})", {"'weight_map' is not an object"}},
      {R"({"weight_map":null})", {"'weight_map' is not an object"}},
      {R"({"weight_map":{"a":1}})", {"'a' is not a string"}},
      {R"({"weight_map":{"a":{"b":"one.safetensors"}}})",
       {"'a' is not a string"}},
      {R"({"weight_map":{"a":["one.safetensors"]}})", {"'a' is not a string"}},
      {R"({"weight_map":{"a":"../one.safetensors"}})",
       {"'../one.safetensors'", "plain name"}},
      {R"({"weight_map":{"a":"/etc/passwd"}})",
       {"'/etc/passwd'", "plain name"}},
      {R"({"weight_map":{"a":"sub/one.safetensors"}})", {"plain name"}},
      {R"({"weight_map":{"a":"..\\one.safetensors"}})", {"plain name"}},
      {R"({"weight_map":{"a":"one.safetensors\u0000"}})", {"plain name"}},
      {R"({"weight_map":{"a":".safetensors"}})", {"plain name"}},
      {R"({"weight_map":{"a":"model.bin"}})", {"'model.bin'", "plain name"}},
      {R"({"weight_map":{"a":""}})", {"plain name"}},
      {R"({"weight_map":{"a":"three.safetensors"}})",
       {"model.safetensors.index.json", "three.safetensors"},
       StatusCode::NotFound},
      {R"({"weight_map":{"a":"one.safetensors","a":"two.safetensors"}})",
       {"'a' is given twice"}},
      {R"({"weight_map":{"a":"one.safetensors"},"weight_map":{}})",
       {"'weight_map' is given twice"}},
      {R"({"weight_map":{"a":"one.safetensors","c":"one.safetensors"}})",
       {"one.safetensors", "'c' is missing"},
       StatusCode::NotFound},
      {R"({"weight_map":{"a":"one.safetensors","c":"two.safetensors"}})",
       {"'b' is in 'two.safetensors'", "does not name it"}},
      {R"({"weight_map":{"a":"two.safetensors","b":"two.safetensors"}})",
       {"'a' is missing"},
       StatusCode::NotFound},
      {R"({"weight_map":{"a":"two.safetensors","b":"one.safetensors"}})",
       {"'b' is in 'two.safetensors'", "puts it in 'one.safetensors'"}},
      {R"({"weight_map":{"a":"folder.safetensors"}})", {"is a directory"}},
      {R"({"weight_map":{"a":"pipe.safetensors"}})", {"not a regular file"}},
      {R"({"weight_map":{"a":"short.safetensors"}})", {"has 3 bytes"}},
  };
  for (const Case &bad : cases) {
    SCOPED_TRACE(bad.index);
    expectRefusal({bad.code, bad.texts}, 1000,
                  [&] { return read(bad.index).takeStatus(); });
  }
}

TEST_F(SafetensorsFolderTest, RefusesATensorInTwoShards) {
  shard("two.safetensors", "a");
  expectRefusal(
      {StatusCode::InvalidFile,
       {"'a' is in 'two.safetensors'", "puts it in 'one.safetensors'"}},
      1000, [&] {
        return read(R"({"weight_map":{"a":"one.safetensors",)"
                    R"("b":"two.safetensors"}})")
            .takeStatus();
      });
}

} // namespace
