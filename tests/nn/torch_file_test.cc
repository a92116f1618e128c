// SPDX-License-Identifier: Apache-2.0
// Files of PyTorch: what it wrote, what we write, and what nobody should have written.
#include "spruce/nn/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "spruce/core/io/inflate.h"
#include "spruce/core/io/zip.h"
#include "tests/nn/torch_models.h"

namespace spruce::nn {
namespace torch_file_test {

using ::testing::HasSubstr;

std::string file(const std::string& name) {
  return std::string(SPRUCE_SOURCE_DIR) + "/tests/nn/torch_files/" + name;
}

// A module loads both files by PyTorch's names and gives PyTorch's outputs.
template <class Net>
void check_model(const std::string& name) {
  SCOPED_TRACE(name);
  const NamedArrays pt = load_checkpoint(file(name + ".pt"));
  const Array x = pt.at("x"), y = pt.at("y");
  Net net;
  net.eval();
  const LoadReport report = net.load_state_dict(pt, {.prefix = "model."});
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty() && report.converted.empty());
  EXPECT_TRUE(allclose(net(x), y, {.rtol = 1e-5, .atol = 1e-6}));
  Net other;
  other.eval();
  NamedArrays plain = load_checkpoint(file(name + ".safetensors"));
  plain.erase("x");
  plain.erase("y");
  other.load_state_dict(plain);
  EXPECT_TRUE(array_equal(other(x), net(x)));
}

TEST(TorchFile, ModelsOfPyTorchGiveItsOutputs) {
  check_model<Lenet>("lenet");
  check_model<ResidualNet>("residual");
  check_model<LstmNet>("lstm");
  check_model<EncoderLayer>("encoder");
  check_model<Gpt>("gpt");
}

TEST(TorchFile, OptimizersAndNumbersStandBesideTheModel) {
  const NamedArrays all = load_torch(file("lenet.pt"));
  EXPECT_EQ(all.at("optimizer.state.0.exp_avg").shape(), (Shape{2, 1, 3, 3}));
  EXPECT_EQ(all.at("optimizer.state.0.step").item<float>(), 2);
  EXPECT_FALSE(all.contains("epoch"));
}

TEST(TorchFile, KindsOfTensors) {
  const NamedArrays all = load_torch(file("kinds.pt"));
  EXPECT_THAT(all.at("t").to_vector<int64_t>(),
              ::testing::ElementsAre(1, 13, 2, 14, 3, 15, 4, 16, 5, 17));
  EXPECT_EQ(all.at("t").shape(), (Shape{5, 2}));
  EXPECT_EQ(all.at("same").impl(), all.at("again").impl());
  EXPECT_EQ(all.at("scalar").item<float>(), 2.5f);
  EXPECT_EQ(all.at("empty").shape(), (Shape{0, 3}));
  EXPECT_TRUE(array_equal(all.at("wide"), ones({4})));
  EXPECT_EQ(all.at("list.0").dtype(), float16);
  EXPECT_EQ(all.at("list.1.0").dtype(), bfloat16);
  EXPECT_TRUE(array_equal(all.at("parameter"), ones({2}, float64)));
  EXPECT_TRUE(array_equal(all.at("bool"), array({true, false})));
  EXPECT_EQ(all.at("u16").to_vector<uint16_t>()[1], 65535);
  EXPECT_EQ(all.at("i8").to_vector<int8_t>()[0], -3);
  EXPECT_TRUE(array_equal(all.at("5"), ones({1})));
  EXPECT_EQ(all.size(), 13u);
  EXPECT_TRUE(array_equal(load_torch(file("tensor_protocol4.pt")).at(""), array({1.0f, 2.0f})));
}

template <class F>
std::string io_error(F&& f) {
  try {
    f();
  } catch (const IoError& e) {
    return e.what();
  }
  return "no error";
}

TEST(TorchFile, OtherObjectsAreRefusedWithAReason) {
  EXPECT_THAT(io_error([] { load_torch(file("module.pt")); }),
              HasSubstr("Save state_dict() of a module"));
  EXPECT_THAT(io_error([] { load_torch(file("legacy.pt")); }), HasSubstr("since PyTorch 1.6"));
  EXPECT_THAT(io_error([] { load_torch(file("complex.pt")); }),
              HasSubstr("'torch ComplexFloatStorage', which Spruce lacks"));
  EXPECT_THAT(io_error([] { load_torch(file("no_such.pt")); }), HasSubstr("cannot be opened"));
  EXPECT_THAT(io_error([] { load_torch(file("lenet.safetensors")); }), HasSubstr("no zip archive"));
}

// An archive as torch.save writes it, of this pickle and one storage.
std::string write(const std::string& pickle, const std::string& storage = std::string(16, '\0')) {
  const std::string path = "torch_file_test.pt";
  io::internal::AtomicFile out("test", path);
  io::internal::ZipWriter zip(out);
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"a/data.pkl", pickle}, {"a/data/0", storage}, {"a/version", "3\n"}}) {
    zip.begin(name, bytes.size(), io::internal::crc32(0, bytes.data(), bytes.size()));
    out.write(bytes);
  }
  zip.finish();
  out.commit();
  return path;
}

std::string of_pickle(const std::string& pickle) {
  return io_error([&] { load_torch(write(pickle)); });
}

// The opcode of a text.
std::string text(const std::string& s) {
  return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + s;
}

// The opcodes of a tensor of the storage of 4 floats.
std::string tensor(const std::string& offset, const std::string& sizes,
                   const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
         text("0") + text("cpu") + "K\x04tQ" + offset + sizes + strides + "\x89)tR";
}

TEST(TorchFile, HostilePicklesGiveErrorsAndRunNothing) {
  const std::string fine =
      "\x80\x02" + tensor(std::string("K\0", 2), "K\x04\x85", "K\x01\x85") + ".";
  EXPECT_EQ(load_torch(write(fine)).at("").shape(), (Shape{4}));
  EXPECT_THAT(of_pickle("\x80\x02"
                        "cos\nsystem\n" +
                        text("true") + "\x85R."),
              HasSubstr("calls 'os system'"));
  EXPECT_THAT(of_pickle("\x80\x02i.os\nsystem\n."), HasSubstr("opcode 0x69"));
  EXPECT_THAT(of_pickle(""), HasSubstr("ends within"));
  EXPECT_THAT(of_pickle("\x80\x09."), HasSubstr("version 9"));
  EXPECT_THAT(of_pickle("\x80\x02."), HasSubstr("stack is empty"));
  EXPECT_THAT(of_pickle("t."), HasSubstr("no mark"));
  EXPECT_THAT(of_pickle("h\x05."), HasSubstr("memo"));
  EXPECT_THAT(of_pickle(")K\x01"
                        "a."),
              HasSubstr("goes to something else"));
  EXPECT_THAT(of_pickle(std::string("X\xff\xff\xff\x7f.", 6)), HasSubstr("ends within"));
  EXPECT_THAT(of_pickle("cno_end"), HasSubstr("no end"));
  // Views past the storage, by each of their numbers.
  const auto view = [](const std::string& o, const std::string& n, const std::string& s) {
    return of_pickle("\x80\x02" + tensor(o, n, s) + ".");
  };
  const std::string zero("K\0", 2), one = "K\x01\x85", four = "K\x04\x85",
                                    minus("J\xff\xff\xff\xff\x85", 6),
                                    huge("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85", 11);
  EXPECT_THAT(view("K\x01", four, one), HasSubstr("past the end"));
  EXPECT_THAT(view(zero, four, "K\x02\x85"), HasSubstr("past the end"));
  EXPECT_THAT(view(zero, four, huge), HasSubstr("past the end"));
  EXPECT_THAT(view(zero, four, minus), HasSubstr("past the end"));
  EXPECT_THAT(view(zero, minus, one), HasSubstr("impossible"));
  EXPECT_THAT(view(zero, huge, one), HasSubstr("impossible"));
  EXPECT_THAT(view(zero, std::string("J\xff\xff\xff\x7f\x85", 6), std::string("K\0\x85", 3)),
              HasSubstr("many times the bytes"));
  EXPECT_THAT(view(zero, four, ")"), HasSubstr("do not fit"));
  EXPECT_THAT(view(huge.substr(0, 10), four, one), HasSubstr("past the end"));
  // The stride of an axis of one element says nothing.
  EXPECT_EQ(
      load_torch(write("\x80\x02" +
                       tensor(zero, "K\x02K\x01\x86", "K\x02" + huge.substr(0, 10) + "\x86") + "."))
          .at("")
          .shape(),
      (Shape{2, 1}));
  // A list that holds itself, and one that doubles at each level, end.
  EXPECT_EQ(load_torch(write("]q\x01h\x01"
                             "a."))
                .size(),
            0u);
  std::string doubles = "]q\x01";
  for (char k = 2; k < 100; ++k)
    doubles += std::string("]q") + k + "h" + static_cast<char>(k - 1) + "ah" +
               static_cast<char>(k - 1) + "a";
  EXPECT_EQ(load_torch(write(doubles + ".")).size(), 0u);
  std::remove("torch_file_test.pt");
}

TEST(TorchFile, EveryByteOfAPickleMayBeWrong) {
  const io::internal::FileSource source("test", file("residual.pt"));
  std::string pickle;
  for (const auto& e : io::internal::read_zip_directory(source)) {
    if (!e.name.ends_with("data.pkl")) continue;
    const auto bytes = io::internal::read_zip_entry(source, e);
    pickle.assign(bytes.begin(), bytes.end());
  }
  ASSERT_GT(pickle.size(), 1000u);
  uint32_t state = 1;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::string damaged = pickle;
    for (int k = 0; k < 1 + i % 3; ++k) {
      state = state * 1664525u + 1013904223u;
      damaged[(state >> 8) % damaged.size()] = static_cast<char>(state >> 3);
    }
    if (i % 10 == 0) damaged.resize((state >> 8) % damaged.size());
    try {
      load_torch(write(damaged, std::string(1 << 12, '\1')));
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_EQ(refused, 100);  // at least the other storages are missing
  std::remove("torch_file_test.pt");
}

TEST(TorchFile, WhatIsWrittenReadsBack) {
  const Array w = random::normal(Key(0), {3, 2});
  const NamedArrays arrays{{"encode.weight", w},           {"decode.weight", w},
                           {"scalar", array(2.5f)},        {"empty", zeros({0, 3})},
                           {"half", ones({2}, float16)},   {"brain", ones({2}, bfloat16)},
                           {"double", ones({2}, float64)}, {"count", array(3, int64)},
                           {"u32", full({2}, 7, uint32)},  {"mask", array({true, false})}};
  save_checkpoint("torch_file_test.pt", arrays);
  const NamedArrays back = load_checkpoint("torch_file_test.pt");
  EXPECT_TRUE(tree::equal(back, arrays));
  EXPECT_EQ(back.at("encode.weight").impl(), back.at("decode.weight").impl());
  EXPECT_THROW(save_torch("torch_file_test.pt", {{"none", Array()}}), ValueError);
  EXPECT_TRUE(tree::equal(load_torch("torch_file_test.pt"), arrays));  // the old file is whole
  std::remove("torch_file_test.pt");
}

TEST(TorchFile, RecurrentLayersHavePyTorchsNamesOnRequest) {
  const NamedArrays pt = load_torch(file("lstm.pt"));
  LstmNet net;
  net.load_state_dict(pt, {.prefix = "model."});
  NamedArrays wanted;
  for (const auto& [name, value] : pt) {
    if (name.starts_with("model.")) wanted.insert(name.substr(6), value);
  }
  const NamedArrays got = net.state_dict({.torch_names = true});
  EXPECT_EQ(got.size(), wanted.size());
  for (const auto& [name, value] : wanted) EXPECT_TRUE(array_equal(got.at(name), value)) << name;
  EXPECT_TRUE(net.state_dict().contains("rnn.cells.3.weight_hh"));
  Stateful<LSTM> one(LSTM::init(Key(0), 3, 4, {.num_layers = 2}));
  EXPECT_TRUE(one.state_dict({.torch_names = true}).contains("bias_ih_l1"));
  EXPECT_EQ(torch_name("a.cells.x.w", false), "a.cells.x.w");
  EXPECT_EQ(torch_name("a.cells.1", false), "a.cells.1");
  EXPECT_EQ(torch_name("cellsx.1.w", true), "cellsx.1.w");
}

TEST(TorchFile, ACheckpointOfAnotherNetChangesNothing) {
  Lenet net;
  const NamedArrays before = net.state_dict();
  const NamedArrays other = load_torch(file("gpt.pt"));
  EXPECT_THROW(net.load_state_dict(other, {.prefix = "model."}), TreeError);
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

}  // namespace torch_file_test
}  // namespace spruce::nn
