// SPDX-License-Identifier: Apache-2.0
// Stages of 16-bit floats as machine code: each operation is rounded as its own kernel rounds it.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <span>

#include "spruce/core/ops/unary.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/core/rules/shape.h"
#include "tests/core/cpu/stage_check.h"

namespace spruce::cpu::testing {
namespace codegen_half_test {

constexpr Dtype kF = Dtype::kFloat32, kH = Dtype::kFloat16, kBf = Dtype::kBfloat16,
                kI = Dtype::kInt32, kU = Dtype::kUint32, kB = Dtype::kBool;

Params to(Dtype d) { return Params::make(ConvertParams{d, false}); }

// One operation over inputs in this order.
struct Case {
  const char* name;
  std::vector<Dtype> in;
  Dtype out;
  Params params = {};
  std::vector<bool> scalar = {};

  Stage stage() const {
    Stage s;
    std::vector<int> all;
    for (size_t i = 0; i < in.size(); ++i) {
      s.inputs.push_back({in[i], !scalar.empty() && scalar[i]});
      all.push_back(static_cast<int>(i));
    }
    s.ops.push_back({&primitive(name), params, all, out});
    s.outputs.push_back({static_cast<int>(in.size())});
    return s;
  }
};

std::vector<Bytes> inputs_of(const Stage& stage, Values& values, int64_t n) {
  std::vector<Bytes> all;
  for (const Stage::Input& in : stage.inputs) all.push_back(values.of(in.dtype, in.scalar ? 1 : n));
  return all;
}

std::string at(IsaLevel level) { return " at level " + std::to_string(static_cast<int>(level)); }

std::vector<Case> cases(Dtype d) {
  std::vector<Case> all;
  for (const char* name : {"abs",  "ceil",  "copy",     "cos",  "erf",  "exp",   "expm1", "floor",
                           "log",  "log1p", "logistic", "neg",  "relu", "round", "rsqrt", "sign",
                           "silu", "sin",   "softplus", "sqrt", "tanh", "trunc"})
    all.push_back({name, {d}, d});
  for (const char* name : {"add", "sub", "mul", "div", "max", "min"}) {
    all.push_back({name, {d, d}, d});
    all.push_back({name, {d, d}, d, {}, {false, true}});
  }
  for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) all.push_back({name, {d, d}, kB});
  for (const bool tanh : {false, true})
    all.push_back({"gelu", {d}, d, Params::make(GeluParams{tanh})});
  for (const int64_t n : {-2, -1, 1, 2, 3, 4})
    all.push_back({"integer_pow", {d}, d, Params::make(IntegerPowParams{n})});
  all.push_back({"is_finite", {d}, kB});
  all.push_back({"select", {kB, d, d}, d});
  all.push_back({"clamp", {d, d, d}, d, {}, {false, true, true}});
  all.push_back({"clamp", {d, d, d}, d});
  all.push_back({"bitcast_convert_type", {d}, d, Params::make(BitcastParams{d})});
  for (const Dtype other : {kF, kH, kBf, kI, kB}) {
    all.push_back({"convert_element_type", {d}, other, to(other)});
    all.push_back({"convert_element_type", {other}, d, to(d)});
  }
  all.push_back({"convert_element_type", {kU}, d, to(d)});
  return all;
}

Bytes every_half() {
  std::vector<uint16_t> all;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back(static_cast<uint16_t>(bits));
  Bytes bytes(all.size() * sizeof all[0]);
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

TEST(CodegenHalf, GivesTheBitsOfEachPrimitivesKernel) {
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {kBf, kH}) {
      for (const Case& c : cases(d)) {
        const Stage stage = c.stage();
        Values values(3);
        const std::string what =
            std::string(c.name) + " of " + std::string(name(c.in.back())) + at(level);
        for (const int64_t n : {int64_t{1}, int64_t{37}, int64_t{20011}}) {
          expect_stage(stage, level, inputs_of(stage, values, n), n, what);
          if (HasFailure()) return;
        }
        if (c.in != std::vector<Dtype>{d}) continue;
        expect_stage(stage, level, {every_half()}, 0x10000, what);
        if (HasFailure()) return;
      }
    }
  }
}

// Every number of the dtype, what lies halfway to the next one, and the floats beside both; NaNs of
// all kinds; integers that f32 would round first.
template <class T>
std::vector<float> around_all() {
  std::vector<float> all;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    T here, next;
    here.bits = static_cast<uint16_t>(bits);
    next.bits = static_cast<uint16_t>(bits + 1);
    const float x = here, halfway = std::isfinite(x) ? x / 2 + float{next} / 2 : x;
    for (const float y : {x, halfway}) {
      for (const uint32_t by : {0u, 1u, ~0u, 0x7fffu, 0x1fffu})
        all.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(y) + by));
    }
  }
  return all;
}

TEST(CodegenHalf, RoundsEveryFloatAsItsConversionDoes) {
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {kBf, kH}) {
      const std::vector<float> x = d == kH ? around_all<Float16>() : around_all<Bfloat16>();
      Bytes bytes(x.size() * sizeof(float));
      std::memcpy(bytes.data(), x.data(), bytes.size());
      const int64_t n = static_cast<int64_t>(x.size());
      const Case convert{"convert_element_type", {kF}, d, to(d)};
      expect_stage(convert.stage(), level, {bytes}, n, std::string(name(d)) + at(level));
      // And within a stage, where the rounded value goes on.
      Stage back = convert.stage();
      back.ops.push_back({&primitive("convert_element_type"), to(kF), {1}, kF});
      back.outputs = {{2}};
      expect_stage(back, level, {bytes}, n, std::string(name(d)) + " and back" + at(level));
    }
  }
}

TEST(CodegenHalf, RoundsIntegersOnce) {
  Bytes bytes;
  std::vector<int32_t> x;
  for (int shift = 0; shift < 31; ++shift) {
    for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1} << shift >> 9,
                               (int64_t{1} << shift >> 9) + 1, (int64_t{1} << shift >> 9) - 1,
                               3 * (int64_t{1} << shift >> 9) + 1}) {
      const int64_t v = (int64_t{1} << shift) + step;
      x.push_back(static_cast<int32_t>(v));
      x.push_back(static_cast<int32_t>(-v));
    }
  }
  x.push_back(std::numeric_limits<int32_t>::min());
  bytes.resize(x.size() * sizeof x[0]);
  std::memcpy(bytes.data(), x.data(), bytes.size());
  for (const IsaLevel level : levels()) {
    for (const Dtype from : {kI, kU}) {
      for (const Dtype d : {kBf, kH}) {
        const Case convert{"convert_element_type", {from}, d, to(d)};
        expect_stage(convert.stage(), level, {bytes}, static_cast<int64_t>(x.size()),
                     std::string(name(from)) + " to " + std::string(name(d)) + at(level));
      }
    }
  }
}

// Values of three floating dtypes, converted into each other on the way.
Stage random_stage(Values& random) {
  const Dtype floats[] = {kBf, random() % 2 == 0 ? kH : kBf, kF};
  const auto any = [&] { return floats[random() % std::size(floats)]; };
  Stage s;
  for (size_t i = 0, n = 3 + random() % 10; i < n; ++i) {
    const Dtype d = i < 3 ? floats[i] : random() % 5 == 0 ? kB : any();
    s.inputs.push_back({d, i > 0 && random() % 3 == 0});
  }
  const auto pick = [&](Dtype d) {
    std::vector<int> all;
    for (size_t v = 0; v < s.inputs.size() + s.ops.size(); ++v) {
      if (s.dtype_of(static_cast<int>(v)) == d) all.push_back(static_cast<int>(v));
    }
    if (all.empty()) return -1;
    return all[random() % 2 == 0 ? all.size() - 1 - random() % std::min<size_t>(all.size(), 3)
                                 : random() % all.size()];
  };
  const size_t ops = 1 + random() % 30;
  for (size_t i = 0; i < ops; ++i) {
    const auto add = [&](const char* name, std::vector<int> in, Dtype out, Params params = {}) {
      if (std::find(in.begin(), in.end(), -1) == in.end())
        s.ops.push_back({&primitive(name), std::move(params), std::move(in), out});
    };
    // Draws the name behind the operands: among arguments the order is the compiler's.
    const auto add_one = [&](std::span<const char* const> names, std::vector<int> in, Dtype out) {
      add(names[random() % names.size()], std::move(in), out);
    };
    static const char* const binary[] = {"add", "sub", "mul", "max", "min", "div"};
    static const char* const unary[] = {"neg", "abs", "relu", "sqrt", "exp", "tanh", "sign"};
    static const char* const comparisons[] = {"lt", "ge", "eq", "ne"};
    const Dtype d = any();
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        add_one(binary, {pick(d), pick(d)}, d);
        break;
      case 3:
        add_one(unary, {pick(d)}, d);
        break;
      case 4:
        add_one(comparisons, {pick(d), pick(d)}, kB);
        break;
      case 5:
        add("select", {pick(kB), pick(d), pick(d)}, d);
        break;
      default: {
        const Dtype other = any();
        add("convert_element_type", {pick(d)}, other, to(other));
      }
    }
  }
  const int values = static_cast<int>(s.inputs.size() + s.ops.size());
  for (size_t k = 0, n = 1 + random() % 4; k < n; ++k)
    s.outputs.push_back(
        {k == 0 ? values - 1 : static_cast<int>(random() % static_cast<unsigned>(values))});
  for (size_t r = 0, n = random() % 3; r < n; ++r)
    s.reductions.push_back({pick(any()), static_cast<Stage::Kind>(random() % 3)});
  return s;
}

TEST(CodegenHalf, RunsRandomProgramsOfAnyLength) {
  for (const IsaLevel level : levels()) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      Values random(seed);
      const Stage stage = random_stage(random);
      for (const int64_t n : {int64_t{seed % 71}, int64_t{(seed * 7 + 3) % 71}, int64_t{1027}}) {
        const std::vector<Bytes> inputs = inputs_of(stage, random, n);
        const std::string what = "seed " + std::to_string(seed) + " n " + std::to_string(n);
        expect_stage(stage, level, inputs, n, what + at(level));
        if (HasFailure()) return;
        if (size_of(stage.dtype_of(stage.outputs[0].value)) == size_of(stage.inputs[0].dtype)) {
          expect_stage(stage, level, inputs, n, what + " in place" + at(level), true);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(CodegenHalf, FoldsRowsOfAnyLength) {
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {kBf, kH}) {
      Stage stage;
      stage.inputs = {{d}, {d, true}};
      stage.ops = {{&primitive("mul"), {}, {0, 1}, d}};
      for (int kind = 0; kind < 4; ++kind)
        stage.reductions.push_back({kind % 2 == 0 ? 2 : 0, static_cast<Stage::Kind>(kind)});
      stage.outputs = {{2}, {0}};
      Values values(5);
      for (int64_t n = 0; n <= 70; ++n) {
        expect_stage(stage, level, inputs_of(stage, values, n), n,
                     std::string(name(d)) + " n " + std::to_string(n) + at(level));
        if (HasFailure()) return;
      }
    }
  }
}

// Memory whose end is followed by a page that cannot be read.
class Edge {
 public:
  Edge() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* at = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("mmap");
    memory_ = static_cast<char*>(at);
    mprotect(memory_ + page_, page_, PROT_NONE);
  }
  ~Edge() { munmap(memory_, 2 * page_); }
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;
  char* before(size_t bytes) const { return memory_ + page_ - bytes; }

 private:
  size_t page_;
  char* memory_ = nullptr;
};

TEST(CodegenHalf, TouchesNothingBeyondItsElements) {
  const Edge in, out, scalar;
  alignas(64) char workspace[1024];
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {kBf, kH, kF, kB}) {
      Stage stage;
      stage.inputs = {{d}, {d, true}};
      stage.ops = {{&primitive("eq"), {}, {0, 1}, kB}, {&primitive("select"), {}, {2, 0, 1}, d}};
      stage.outputs = {{3}};
      const auto kernel = make_stage_x64(stage, level);
      ASSERT_NE(kernel, nullptr);
      ASSERT_LE(kernel->workspace_bytes(), sizeof workspace);
      for (int64_t n = 0; n <= 70; ++n) {
        const void* from[] = {in.before(bytes_of(d, n)), scalar.before(bytes_of(d, 1))};
        void* to[] = {out.before(bytes_of(d, n))};
        kernel->run(from, to, nullptr, n, workspace);
      }
    }
  }
}

TEST(CodegenHalf, LeavesToTheTapeWhatItHasNoCodeFor) {
  Stage stage;
  stage.inputs = {{kBf}};
  stage.outputs = {{0, Stage::Mode::kAdd}};
  EXPECT_EQ(make_stage_x64(stage), nullptr);
  const Case bits{"bitcast_convert_type", {kBf}, kH, Params::make(BitcastParams{kH})};
  EXPECT_EQ(make_stage_x64(bits.stage()), nullptr);
  const Case doubles{"convert_element_type", {Dtype::kFloat64}, kBf, to(kBf)};
  EXPECT_EQ(make_stage_x64(doubles.stage()), nullptr);
}

}  // namespace codegen_half_test
}  // namespace spruce::cpu::testing
