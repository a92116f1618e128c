// SPDX-License-Identifier: Apache-2.0
// Functions as files.
#include "spruce/transforms/compile/save_function.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace save_function_test {

using testing::HasSubstr;

std::string temporary(const char* name) { return testing::TempDir() + "save_function_" + name; }

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

struct Layer {
  Array weight, bias;
  Array operator()(const Array& x) const { return tanh(matmul(x, weight) + bias); }
};
struct Net {
  std::vector<Layer> layers;
  std::map<std::string, Array> extra;
  std::optional<Array> scale;
  double rate = 0.1;
  Array operator()(Array x) const {
    for (const Layer& l : layers) x = l(x);
    if (scale.has_value()) x = x * *scale;
    return x * extra.at("gain");
  }
};

Net net() {
  const auto w = [](int64_t n, int64_t m, float at) {
    return sin(arange(static_cast<float>(n * m)) + at).reshape({n, m});
  };
  return {{{w(3, 4, 0), w(1, 4, 1).reshape({4})}, {w(4, 2, 2), zeros({2})}},
          {{"gain", array(2.0f)}},
          array({1.0f, 0.5f}),
          0.1};
}
const Array kBatch = arange(6.0f).reshape({2, 3});
Array apply(const Net& n, const Array& x) { return n(x); }

TEST(SaveFunction, RunsWithoutTheFunction) {
  const std::string path = temporary("net");
  save_function(path, apply, net(), kBatch);
  const auto f = load_function<Array(Net, Array)>(path);
  EXPECT_TRUE(array_equal(f(net(), kBatch), jit(apply)(net(), kBatch)));
  // Other values of the same types.
  Net other = net();
  other.layers[0].weight = other.layers[0].weight * 3.0f;
  EXPECT_TRUE(array_equal(f(other, kBatch - 1.0f), jit(apply)(other, kBatch - 1.0f)));
}

TEST(SaveFunction, ForArraysInOrder) {
  const std::string path = temporary("arrays");
  save_function(path, apply, net(), kBatch);
  const LoadedGraph f = load_function(path);
  std::string names;
  for (const SavedLeaf& l : f.inputs()) names += l.path + ": " + to_string(l.type) + "\n";
  EXPECT_EQ(names,
            "0.layers.0.weight: f32[3,4]\n0.layers.0.bias: f32[4]\n"
            "0.layers.1.weight: f32[4,2]\n0.layers.1.bias: f32[2]\n"
            "0.extra.gain: f32[]\n0.scale: f32[2]\n1: f32[2,3]\n");
  ASSERT_EQ(f.outputs().size(), 1u);
  EXPECT_EQ(to_string(f.outputs()[0].type), "f32[2,2]");
  std::vector<Array> in = tree::leaves(net());
  in.push_back(kBatch);
  EXPECT_TRUE(array_equal(f(in)[0], jit(apply)(net(), kBatch)));
}

TEST(SaveFunction, CapturedArraysGoWithIt) {
  const std::string path = temporary("captured");
  {
    const Net trained = net();
    save_function(
        path, [trained](const Array& x) { return trained(x); }, kBatch);
  }
  const auto f = load_function<Array(Array)>(path);
  EXPECT_TRUE(allclose(f(kBatch), net()(kBatch)));
}

TEST(SaveFunction, LargeConstantsKeepAllBits) {
  const std::string path = temporary("constants");
  const Array big = sin(arange(1000.0f)), odd = array({1.0 / 3, -0.0, 1e-310}, float64),
              halves = astype(sin(arange(100.0f)), bfloat16), flags = arange(40) > 17;
  const auto f = [&](const Array& x) {
    return std::tuple{x + big, odd, halves, flags, sum(big) * x};
  };
  save_function(path, f, big);
  const auto g = load_function<std::tuple<Array, Array, Array, Array, Array>(Array)>(path);
  const auto want = tree::leaves(jit(f)(big)), got = tree::leaves(g(big));
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(to_string(got[i].aval()), to_string(want[i].aval()));
    EXPECT_TRUE(array_equal(got[i], want[i])) << i;
  }
  EXPECT_TRUE(std::signbit(got[1].to_vector<double>()[1]));
  // The constant that is used twice stands there once.
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  EXPECT_LT(static_cast<int64_t>(in.tellg()), 4000 + 200 + 40 + 2000);
}

enum class Mode : uint8_t { kFast, kSlow };
struct Result {
  std::vector<Array> parts;
  std::map<std::string, Array> named;
  std::map<int, Array> numbered;
  std::optional<Array> there, missing;
  std::variant<Array, std::pair<Array, int>> either;
  std::array<Array, 2> both;
  Key key;
  Buffer buffer;
  Array undefined;
  std::string text;
  float rate = 0;
  double precise = 0;
  int64_t count = 0;
  bool flag = false;
  Mode mode = Mode::kFast;
  Shape shape;
};

TEST(SaveFunction, ResultsOfAnyForm) {
  const std::string path = temporary("result");
  const auto f = [](const Array& x, const Key& k) {
    Result r;
    r.parts = {x, x + 1.0f};
    r.named = {{"a \"b\"\n", x}, {"c", x * x}};
    r.numbered = {{-3, x}, {7, x}};
    r.there = -x;
    r.either = std::pair{sin(x), 5};
    r.both = {x, x};
    r.key = random::split<2>(k)[1];
    r.buffer = {x};
    r.text = "some \\ \"text\"\n";
    r.rate = 0.1f;
    r.precise = 1.0 / 3;
    r.count = INT64_MIN;
    r.flag = true;
    r.mode = Mode::kSlow;
    r.shape = {2, 0, 5};
    return r;
  };
  const Array x = array({1.0f, 2.0f});
  save_function(path, f, x, Key(3));
  const auto g = load_function<Result(Array, Key)>(path);
  const Result got = g(x, Key(3)), want = f(x, Key(3));
  EXPECT_EQ(tree::structure(got), tree::structure(want));
  EXPECT_TRUE(tree::equal(got, want));
  EXPECT_EQ(got.rate, want.rate);
  EXPECT_EQ(got.precise, want.precise);
  EXPECT_EQ(got.shape, want.shape);
}

TEST(SaveFunction, IsDifferentiatedAndMapped) {
  const std::string path = temporary("grad");
  const auto f = [](const Array& x) { return sum(sin(x) * x); };
  save_function(path, f, kBatch);
  const auto g = load_function<Array(Array)>(path);
  EXPECT_TRUE(allclose(grad(g)(kBatch), grad(f)(kBatch)));
  const Array many = stack({kBatch, -kBatch, kBatch * 2.0f});
  EXPECT_TRUE(allclose(vmap(g)(many), vmap(f)(many)));
}

TEST(SaveFunction, TrainingStepsAndRulesOfTheirOwn) {
  const std::string path = temporary("step");
  const auto twice = custom_jvp([](const Array& x) { return x + x; },
                                [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                  return std::pair{std::get<0>(p) * 2.0f, std::get<0>(t) * 2.0f};
                                });
  const auto step = jit([&](const Net& n, const Array& x) {
    const Net grads = grad([&](const Net& m) { return sum(twice(apply(m, x))); })(n);
    return tree::map([](const Array& p, const Array& g) { return p - 0.1f * g; }, n, grads);
  });
  save_function(path, step, net(), kBatch);
  const auto g = load_function<Net(Net, Array)>(path);
  const Net want = step(net(), kBatch), got = g(net(), kBatch);
  EXPECT_EQ(tree::structure(got), tree::structure(want));
  const auto a = tree::leaves(got), b = tree::leaves(want);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(allclose(a[i], b[i])) << i;
  // A call of a function with a rule, by itself.
  save_function(
      path, [&](const Array& x) { return twice(x); }, kBatch);
  EXPECT_TRUE(array_equal(load_function<Array(Array)>(path)(kBatch), kBatch * 2.0f));
}

TEST(SaveFunction, KeepsTheUsersLines) {
  const std::string path = temporary("lines");
  save_function(
      path, [](const Array& x) { return sin(x); }, kBatch);
  EXPECT_THAT(load_function(path).graph().equations[0].place, HasSubstr("save_function_test.cc:"));
}

TEST(SaveFunction, TheSameFunctionGivesTheSameBytes) {
  const std::string a = temporary("same_a"), b = temporary("same_b");
  const auto f = [](const Net& n, const Array& x) { return n(x); };
  save_function(a, f, net(), kBatch);
  save_function(b, f, net(), kBatch);
  const auto bytes = [](const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  };
  EXPECT_EQ(bytes(a), bytes(b));
}

TEST(SaveFunction, ArgumentsAreChecked) {
  const std::string path = temporary("checked");
  save_function(path, apply, net(), kBatch);
  const auto f = load_function<Array(Net, Array)>(path);
  Net n = net();
  n.layers[1].bias = zeros({3});
  EXPECT_THAT(message_of<ShapeError>([&] { f(n, kBatch); }),
              HasSubstr("argument 0 at layers.1.bias is f32[3], the function was saved for "
                        "f32[2]; save it again for this shape"));
  EXPECT_THAT(message_of<DtypeError>([&] { f(net(), astype(kBatch, float64)); }),
              HasSubstr("argument 1 is f64[2,3], the function was saved for f32[2,3]; convert it"));
  n = net();
  n.rate = 0.2;
  EXPECT_THAT(message_of<TreeError>([&] { f(n, kBatch); }),
              HasSubstr("argument 0 at rate is 0.2 and was 0.1 when the function was saved; "
                        "numbers that are to change have to be arrays"));
  n = net();
  n.layers.pop_back();
  EXPECT_THAT(message_of<TreeError>([&] { f(n, kBatch); }),
              HasSubstr("argument 0 at layers is of size 1 and was of size 2"));
  n = net();
  n.scale.reset();
  EXPECT_THAT(message_of<TreeError>([&] { f(n, kBatch); }),
              HasSubstr("argument 0 at scale is of size 0 and was of size 1"));
  n = net();
  n.extra = {{"loss", array(1.0f)}};
  EXPECT_THAT(message_of<TreeError>([&] { f(n, kBatch); }),
              HasSubstr("the entry loss and was the entry gain"));
  n = net();
  n.layers[0].bias = Array();
  EXPECT_THAT(message_of<TreeError>([&] { f(n, kBatch); }),
              HasSubstr("argument 0 at layers.0.bias is no array and was an array"));
  EXPECT_THAT(message_of<ValueError>([&] { load_function(path)({kBatch}); }),
              HasSubstr("the function takes 7 arrays, 1 were given"));
  EXPECT_THAT(
      message_of<TreeError>([&] { load_function<Array(Array)>(path)(kBatch); }),
      HasSubstr("there is argument 0 where the function was saved with argument 0 at layers"));
}

TEST(SaveFunction, ANumberAmongTheArgumentsStaysOne) {
  const std::string path = temporary("number");
  const auto scaled = [](const Array& x, const Array& by) { return x * by; };
  const Array x = ones({2}, bfloat16);
  save_function(path, scaled, x, Array(0.5f));
  const auto f = load_function<Array(Array, Array)>(path);
  EXPECT_TRUE(array_equal(f(x, Array(0.25f)), scaled(x, Array(0.25f))));
  // With an array there the function gives f32, and what was saved would give bf16.
  const auto expected =
      HasSubstr("argument 1 is f32[], the function was saved for f32*[], a C++ number; give one");
  EXPECT_THAT(message_of<DtypeError>([&] { f(x, array(0.25f)); }), expected);
  EXPECT_THAT(message_of<DtypeError>([&] { load_function(path)({x, array(0.25f)}); }), expected);
  save_function(path, scaled, x, array(0.5f));
  const auto g = load_function<Array(Array, Array)>(path);
  EXPECT_TRUE(array_equal(g(x, 0.25f), scaled(x, array(0.25f))));
}

TEST(SaveFunction, TheTypeOfTheResultIsChecked) {
  const std::string path = temporary("out");
  save_function(path, apply, net(), kBatch);
  EXPECT_THAT(message_of<TreeError>([&] { load_function<Net(Net, Array)>(path); }),
              HasSubstr("load_function: the result: an array stands in the file"));
  using Pair = std::pair<Array, Array>;
  EXPECT_THAT(message_of<TreeError>([&] { load_function<Pair(Net, Array)>(path); }),
              HasSubstr("fewer parts than the C++ type"));
}

struct Moments {
  Array mean, var;
};
struct Turned {
  Array var, mean;
};
struct Deep {
  std::vector<Moments> each;
  std::map<std::string, Array> named;
  std::pair<Array, Moments> both;
};
struct TurnedDeep {
  std::vector<Moments> each;
  std::map<std::string, Array> named;
  std::pair<Array, Turned> both;
};

TEST(SaveFunction, FieldsOfTheResultHaveTheirNames) {
  const std::string path = temporary("fields");
  const Array x = array({1.0f, 3.0f, 5.0f});
  const auto moments = [](const Array& a) { return Moments{mean(a), var(a)}; };
  save_function(path, moments, x);
  EXPECT_EQ(load_function<Moments(Array)>(path)(x).mean.item<float>(), 3);
  EXPECT_THAT(message_of<TreeError>([&] { load_function<Turned(Array)>(path); }),
              HasSubstr("load_function: the result at mean: the C++ type has var there"));
  // Elements of tuples stand for fields, and fields for them.
  using Two = std::pair<Array, Array>;
  EXPECT_EQ(load_function<Two(Array)>(path)(x).first.item<float>(), 3);
  const auto deep = [&](const Array& a) {
    return Deep{{moments(a), moments(2 * a)}, {{"a.b", a}, {"c", a}}, {a, moments(a)}};
  };
  save_function(path, deep, x);
  EXPECT_EQ(load_function<Deep(Array)>(path)(x).each[1].mean.item<float>(), 6);
  EXPECT_THAT(message_of<TreeError>([&] { load_function<TurnedDeep(Array)>(path); }),
              HasSubstr("the result at both.1.mean: the C++ type has var there"));
  save_function(
      path,
      [](const Array& a) {
        return Two{mean(a), var(a)};
      },
      x);
  EXPECT_EQ(load_function<Turned(Array)>(path)(x).var.item<float>(), 3);
}

std::string saved_bytes() {
  const std::string path = temporary("bytes");
  const Array big = sin(arange(30.0f)).reshape({3, 10});
  save_function(
      path,
      [&](const Net& n, const Array& x) {
        return std::pair{n(x), matmul(x, big)};
      },
      net(), kBatch);
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::string refusal(const std::string& bytes) {
  return message_of<IoError>([&] {
    (void)io::internal::read_function(
        io::internal::MemorySource("load_function", "net.fn", {bytes.begin(), bytes.end()}));
  });
}

TEST(FunctionFile, EveryCutIsRefused) {
  const std::string bytes = saved_bytes();
  for (size_t n = 0; n < bytes.size(); ++n)
    ASSERT_THAT(refusal(bytes.substr(0, n)), HasSubstr("load_function: ")) << n;
  EXPECT_THAT(refusal(bytes + "x"), HasSubstr("it is cut short or damaged"));
}

TEST(FunctionFile, EveryFlippedBitIsRefused) {
  const std::string bytes = saved_bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    ASSERT_THAT(refusal(damaged), HasSubstr("load_function: ")) << i;
  }
}

std::string with_checksum(std::string bytes) {
  const uint64_t whole = bytes.size();
  bytes.replace(24, 8, reinterpret_cast<const char*>(&whole), 8);
  const auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + 16),
                                               static_cast<uInt>(bytes.size() - 16)));
  bytes.replace(12, 4, reinterpret_cast<const char*>(&crc), 4);
  return bytes;
}

// The text of a file with the paths of version 1, in a file of that version.
std::string in_version_1(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, &bytes[16], sizeof length);
  std::string text = bytes.substr(32, length);
  for (const auto& [now, then] : {std::pair{"\"0.layers.0.", "\"[0].layers[0]."},
                                  {"\"0.layers.1.", "\"[0].layers[1]."},
                                  {"\"0.layers\"", "\"[0].layers\""},
                                  {"\"0.extra", "\"[0].extra"},
                                  {"\"0.scale", "\"[0].scale"},
                                  {"\"0.rate", "\"[0].rate"},
                                  {"leaf \"1\"", "leaf \"[1]\""},
                                  {"leaf \"0\"", "leaf \"[0]\""}}) {
    for (size_t at = 0; (at = text.find(now, at)) != text.npos; at += std::strlen(then))
      text.replace(at, std::strlen(now), then);
  }
  const auto padded = [](std::string s) { return s.append((64 - s.size() % 64) % 64, '\0'); };
  std::string out = bytes.substr(0, 32) + text;
  const std::string constants =
      bytes.substr(std::min(padded(bytes.substr(0, 32 + length)).size(), bytes.size()));
  if (!constants.empty()) out = padded(out) + constants;
  length = text.size();
  out.replace(16, 8, reinterpret_cast<const char*>(&length), 8);
  out[8] = 1;
  return with_checksum(out);
}

TEST(FunctionFile, TheFirstVersionIsRead) {
  const std::string path = temporary("first"), old = in_version_1(saved_bytes());
  EXPECT_THAT(old, HasSubstr("\"[0].layers[1].weight\""));
  EXPECT_THAT(old, testing::Not(HasSubstr("\"0.l")));
  std::ofstream(path, std::ios::binary) << old;
  const auto f = load_function<std::pair<Array, Array>(Net, Array)>(path);
  EXPECT_EQ(f.inputs()[2].path, "0.layers.1.weight");
  EXPECT_EQ(f.outputs()[1].path, "1");
  EXPECT_TRUE(array_equal(f(net(), kBatch).first, jit(apply)(net(), kBatch)));
}

TEST(FunctionFile, TheUsersLineIsNamedOnce) {
  const std::string path = temporary("line"), bytes = saved_bytes();
  std::string other = bytes;
  const size_t at = other.find("matmul") == other.npos ? other.find("tanh") : other.find("matmul");
  ASSERT_NE(at, other.npos);
  other[at] = 'x';
  std::ofstream(path, std::ios::binary) << with_checksum(other);
  const std::string message = message_of<IoError>([&] { (void)load_function(path); });
  EXPECT_THAT(message, HasSubstr("the function in it cannot be used here"));
  const size_t place = message.find("save_function_test.cc:" + std::to_string(__LINE__ - 2));
  EXPECT_NE(place, message.npos) << message;
  EXPECT_EQ(message.find("\n  at "), message.rfind("\n  at ")) << message;
}

TEST(FunctionFile, WhatIsWrongIsSaid) {
  const std::string bytes = saved_bytes();
  ASSERT_EQ(with_checksum(bytes), bytes);
  EXPECT_THAT(refusal("PK\3\4 and more"), HasSubstr("this is no file of a function"));
  std::string newer = bytes;
  newer[8] = 3;
  EXPECT_THAT(refusal(newer), HasSubstr("the file has version 3 of the format, and this library "
                                        "reads up to version 2; update Spruce"));
  EXPECT_THAT(refusal(with_checksum(bytes + std::string(64, '\0'))),
              HasSubstr("there are bytes that belong to no constant"));
  EXPECT_THAT(refusal(with_checksum(bytes.substr(0, bytes.size() - 4))),
              HasSubstr("a constant takes 120 bytes"));
  std::string unknown = bytes;
  unknown.replace(unknown.find("= tanh"), 6, "= tanx");
  EXPECT_THAT(refusal(with_checksum(unknown)), HasSubstr("there is no primitive `tanx`"));
  std::string huge = bytes;
  huge.replace(huge.find("f32[3,10]"), 9, "f32[9E18]");
  EXPECT_THAT(refusal(with_checksum(huge)), HasSubstr("load_function: "));
  EXPECT_THAT(message_of<IoError>([] { load_function("/nowhere/at/all"); }),
              HasSubstr("cannot be opened"));
}

TEST(FunctionFile, TracedValuesCannotBeSaved) {
  EXPECT_THROW(grad([](const Array& x) {
                 save_function(
                     temporary("traced"), [&](const Array& y) { return x * y; }, kBatch);
                 return sum(x);
               })(kBatch),
               TracerError);
}

}  // namespace save_function_test
}  // namespace spruce
