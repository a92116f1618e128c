// SPDX-License-Identifier: Apache-2.0
// Stages as machine code against the primitives' own kernels.
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "spruce/core/ops/unary.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/core/rules/shape.h"
#include "tests/core/cpu/stage_check.h"

namespace spruce::cpu::testing {
namespace codegen_test {

const std::vector<int64_t>& sizes() {
  static const std::vector<int64_t> all = [] {
    std::vector<int64_t> s;
    for (int64_t n = 0; n <= 70; ++n) s.push_back(n);
    s.insert(s.end(), {255, 1024, 1025, 5003});
    return s;
  }();
  return all;
}

// --- each primitive ---------------------------------------------------------------------------

struct Case {
  const char* name;
  std::vector<Dtype> in;
  Dtype out;
  Params params = {};
  std::vector<bool> scalar = {};
};

std::vector<Case> cases() {
  constexpr Dtype kF = Dtype::kFloat32, kD = Dtype::kFloat64, kI = Dtype::kInt32,
                  kU = Dtype::kUint32, kB = Dtype::kBool;
  std::vector<Case> all;
  for (const Dtype d : {kF, kD}) {
    for (const char* name : {"abs", "ceil", "exp", "floor", "log", "logistic", "neg", "relu",
                             "round", "rsqrt", "sign", "silu", "sqrt", "trunc", "copy"})
      all.push_back({name, {d}, d});
    for (const char* name : {"add", "sub", "mul", "div", "max", "min"})
      all.push_back({name, {d, d}, d});
    for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) all.push_back({name, {d, d}, kB});
    all.push_back({"is_finite", {d}, kB});
    all.push_back({"select", {kB, d, d}, d});
    all.push_back({"clamp", {d, d, d}, d, {}, {false, true, true}});
    all.push_back({"clamp", {d, d, d}, d});
    for (const int64_t n : {-2, -1, 1, 2, 3, 4})
      all.push_back({"integer_pow", {d}, d, Params::make(IntegerPowParams{n})});
    all.push_back({"convert_element_type", {kB}, d, Params::make(ConvertParams{d, false})});
    all.push_back({"convert_element_type", {d}, kB, Params::make(ConvertParams{kB, false})});
  }
  for (const Dtype byte : {Dtype::kInt8, Dtype::kUint8}) {
    for (const Dtype d : {kF, kI, kU, kB})
      all.push_back({"convert_element_type", {byte}, d, Params::make(ConvertParams{d, false})});
    all.push_back(
        {"convert_element_type", {byte}, kF, Params::make(ConvertParams{kF, false}), {true}});
    for (const Dtype d : {kF, kI, kU, kB, Dtype::kInt8, Dtype::kUint8, Dtype::kBfloat16})
      all.push_back({"convert_element_type", {d}, byte, Params::make(ConvertParams{byte, false})});
  }
  for (const char* name : {"cos", "expm1", "log1p", "sin", "softplus", "tanh"})
    all.push_back({name, {kF}, kF});
  for (const bool tanh : {false, true})
    all.push_back({"gelu", {kF}, kF, Params::make(GeluParams{tanh})});
  for (const Dtype d : {kI, kU}) {
    for (const char* name : {"add", "sub", "mul", "and", "or", "xor", "shift_left",
                             "shift_right_logical", "shift_right_arithmetic"})
      all.push_back({name, {d, d}, d});
    for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) all.push_back({name, {d, d}, kB});
    all.push_back({"div", {d, d}, d});
    all.push_back({"rem", {d, d}, d});
    all.push_back({"not", {d}, d});
    all.push_back({"abs", {d}, d});
    all.push_back({"convert_element_type", {d}, kF, Params::make(ConvertParams{kF, false})});
    all.push_back({"convert_element_type", {d}, kB, Params::make(ConvertParams{kB, false})});
    all.push_back({"convert_element_type", {kB}, d, Params::make(ConvertParams{d, false})});
    all.push_back({"select", {kB, d, d}, d});
  }
  all.push_back({"max", {kI, kI}, kI});
  all.push_back({"min", {kI, kI}, kI});
  all.push_back({"neg", {kI}, kI});
  all.push_back({"integer_pow", {kI}, kI, Params::make(IntegerPowParams{3})});
  all.push_back({"convert_element_type", {kF}, kI, Params::make(ConvertParams{kI, false})});
  for (const char* name : {"and", "or", "xor", "eq", "ne"}) all.push_back({name, {kB, kB}, kB});
  all.push_back({"not", {kB}, kB});
  all.push_back({"select", {kB, kB, kB}, kB});
  all.push_back({"select", {kB, kF, kF}, kF, {}, {true, false, true}});
  return all;
}

TEST(Codegen, GivesTheBitsOfEachPrimitivesKernel) {
  for (const IsaLevel level : levels()) {
    for (const Case& c : cases()) {
      Stage stage;
      Values values(3);
      for (size_t i = 0; i < c.in.size(); ++i)
        stage.inputs.push_back({c.in[i], !c.scalar.empty() && c.scalar[i]});
      std::vector<int> in;
      for (size_t i = 0; i < c.in.size(); ++i) in.push_back(static_cast<int>(i));
      stage.ops.push_back({&primitive(c.name), c.params, in, c.out});
      stage.outputs.push_back({static_cast<int>(c.in.size())});
      for (const int64_t n : {int64_t{1}, int64_t{37}, int64_t{4099}}) {
        std::vector<Bytes> inputs;
        for (const Stage::Input& input : stage.inputs)
          inputs.push_back(values.of(input.dtype, input.scalar ? 1 : n));
        const std::string what = std::string(c.name) + " of " + std::string(name(c.in.back())) +
                                 " at level " + std::to_string(static_cast<int>(level));
        expect_stage(stage, level, inputs, n, what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Quotients up to the largest: vectors compute those whose integers have a place, a call the rest.
template <class T>
void expect_remainders(Dtype dtype) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0, 1, 3.5, 7.25, 8388608, 1e6, 1e30, 1e-3, 1e-30, Limits::max()};
  values.insert(values.end(), {Limits::min(), Limits::denorm_min(), Limits::infinity()});
  for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  const size_t n = values.size(), bytes = sizeof(T);
  Bytes a(n * n * bytes), b(n * n * bytes);
  for (size_t i = 0; i < n * n; ++i) {
    std::memcpy(a.data() + bytes * i, &values[i / n], bytes);
    std::memcpy(b.data() + bytes * i, &values[i % n], bytes);
  }
  for (const IsaLevel level : levels()) {
    Stage stage;
    stage.inputs = {{dtype}, {dtype}};
    stage.ops.push_back({&primitive("max"), {}, {0, 1}, dtype});
    stage.ops.push_back({&primitive("rem"), {}, {0, 1}, dtype});
    stage.ops.push_back({&primitive("min"), {}, {2, 3}, dtype});
    stage.outputs = {{3}, {4}};
    expect_stage(stage, level, {a, b}, static_cast<int64_t>(n * n),
                 "rem of " + std::string(name(dtype)));
  }
}

TEST(Codegen, GivesRemaindersOfFloatsOfAnySize) {
  expect_remainders<float>(Dtype::kFloat32);
  expect_remainders<double>(Dtype::kFloat64);
}

// The primitive's own kernel reads a table where there is AVX-512.
TEST(Codegen, GivesErf) {
  Stage stage;
  stage.inputs.push_back({Dtype::kFloat32});
  stage.ops.push_back({&primitive("erf"), {}, {0}, Dtype::kFloat32});
  stage.outputs.push_back({1});
  std::vector<float> x;
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) / 400);
  for (const IsaLevel level : levels()) {
    const auto kernel = make_stage_x64(stage, level);
    if (kernel == nullptr) continue;
    std::vector<float> y(x.size());
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    std::vector<std::max_align_t> workspace(kernel->workspace_bytes() + 8);
    auto at = reinterpret_cast<uintptr_t>(workspace.data());
    at = (at + 63) / 64 * 64;
    kernel->run(in, out, nullptr, static_cast<int64_t>(x.size()), reinterpret_cast<void*>(at));
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(y[i], std::erf(static_cast<double>(x[i])), 1.5e-7) << x[i];
  }
}

// --- random programs --------------------------------------------------------------------------

Stage random_stage(Values& random, bool wide) {
  const Dtype kF = wide ? Dtype::kFloat64 : Dtype::kFloat32, kB = Dtype::kBool;
  Stage s;
  const size_t inputs = 1 + random() % 14;
  for (size_t i = 0; i < inputs; ++i)
    s.inputs.push_back({i > 0 && random() % 5 == 0 ? kB : kF, i > 0 && random() % 3 == 0});
  const auto pick = [&](Dtype d) {
    std::vector<int> all;
    for (size_t v = 0; v < s.inputs.size() + s.ops.size(); ++v) {
      if (s.dtype_of(static_cast<int>(v)) == d) all.push_back(static_cast<int>(v));
    }
    // Late values more often, early ones still: long lives make spills.
    return all[random() % 2 == 0 ? all.size() - 1 - random() % std::min<size_t>(all.size(), 3)
                                 : random() % all.size()];
  };
  const size_t ops = 1 + random() % 45;
  for (size_t i = 0; i < ops; ++i) {
    bool has_bool = false;
    for (size_t v = 0; v < s.inputs.size() + s.ops.size(); ++v)
      has_bool = has_bool || is_bool(s.dtype_of(static_cast<int>(v)));
    const auto add = [&](const char* name, std::vector<int> in, Dtype out, Params params = {}) {
      s.ops.push_back({&primitive(name), std::move(params), std::move(in), out});
    };
    // Draws the name behind the operands: among arguments the order is the compiler's.
    const auto add_one = [&](std::span<const char* const> names, std::vector<int> in, Dtype out) {
      add(names[random() % names.size()], std::move(in), out);
    };
    static const char* const binary[] = {"add", "sub", "mul", "max", "min", "div"};
    static const char* const unary[] = {"neg", "abs", "relu", "sqrt", "exp", "logistic", "sign"};
    static const char* const comparisons[] = {"lt", "ge", "eq", "ne"};
    static const char* const logic[] = {"and", "or", "xor"};
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        add_one(binary, {pick(kF), pick(kF)}, kF);
        break;
      case 3:
      case 4:
        add_one(unary, {pick(kF)}, kF);
        break;
      case 5:
        add_one(comparisons, {pick(kF), pick(kF)}, kB);
        break;
      case 6:
        if (has_bool) add_one(logic, {pick(kB), pick(kB)}, kB);
        break;
      default:
        if (has_bool) add("select", {pick(kB), pick(kF), pick(kF)}, kF);
    }
  }
  const int values = static_cast<int>(s.inputs.size() + s.ops.size());
  for (size_t k = 0; k < 1 + random() % 5; ++k) {
    const int v = k == 0 ? values - 1 : static_cast<int>(random() % static_cast<unsigned>(values));
    const bool store = is_bool(s.dtype_of(v)) || random() % 2 == 0;
    s.outputs.push_back({v, store ? Stage::Mode::kStore : static_cast<Stage::Mode>(random() % 4)});
  }
  for (size_t r = 0; r < random() % 4; ++r) {
    const int v = pick(kF);
    s.reductions.push_back({v, static_cast<Stage::Kind>(random() % 3)});
  }
  return s;
}

TEST(Codegen, RunsRandomProgramsOfAnyLength) {
  for (const IsaLevel level : levels()) {
    for (unsigned seed = 0; seed < 150; ++seed) {
      Values random(seed);
      const Stage stage = random_stage(random, seed % 4 == 3);
      for (size_t k = 0; k < 12; ++k) {
        const int64_t n = sizes()[(seed * 12 + k) % sizes().size()];
        std::vector<Bytes> inputs;
        for (const Stage::Input& in : stage.inputs)
          inputs.push_back(random.of(in.dtype, in.scalar ? 1 : n));
        const std::string what = "seed " + std::to_string(seed) + " n " + std::to_string(n) +
                                 " level " + std::to_string(static_cast<int>(level));
        expect_stage(stage, level, inputs, n, what);
        if (HasFailure()) return;
        if (size_of(stage.dtype_of(stage.outputs[0].value)) == size_of(stage.inputs[0].dtype) &&
            stage.outputs[0].mode == Stage::Mode::kStore) {
          expect_stage(stage, level, inputs, n, what + " in place", true);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Long runs over few arrays are done in segments, and what is left behind them, in every other of
// the first runs.
void expect_long_runs(bool reductions) {
  for (const IsaLevel level : levels()) {
    int tried = 0;
    for (unsigned seed = 1000; tried < 24; ++seed) {
      Values random(seed);
      Stage stage = random_stage(random, seed % 4 == 3);
      if (!reductions) stage.reductions.clear();
      stage.longest = 1 << 25;
      size_t arrays = stage.outputs.size();
      for (const Stage::Input& in : stage.inputs) arrays += in.scalar ? 0 : 1;
      if (arrays > 5 || stage.reductions.empty() == reductions) continue;
      ++tried;
      const int64_t n = 66000 + seed % 500;
      std::vector<Bytes> inputs;
      for (const Stage::Input& in : stage.inputs)
        inputs.push_back(random.of(in.dtype, in.scalar ? 1 : n));
      const std::string what =
          "seed " + std::to_string(seed) + " level " + std::to_string(static_cast<int>(level));
      const bool in_place =
          size_of(stage.dtype_of(stage.outputs[0].value)) == size_of(stage.inputs[0].dtype) &&
          stage.outputs[0].mode == Stage::Mode::kStore && !stage.inputs[0].scalar;
      expect_stage(stage, level, inputs, n, what, in_place, 2);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Codegen, RunsRandomProgramsOverLongRuns) { expect_long_runs(false); }
TEST(Codegen, RunsRandomReductionsOverLongRuns) { expect_long_runs(true); }

TEST(Codegen, FoldsIntegersAndProducts) {
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {Dtype::kInt32, Dtype::kUint32, Dtype::kFloat32, Dtype::kFloat64}) {
      Stage stage;
      stage.inputs = {{d}};
      for (int kind = 0; kind < 4; ++kind)
        stage.reductions.push_back({0, static_cast<Stage::Kind>(kind)});
      for (int mode = 0; mode < 4; ++mode)
        stage.outputs.push_back({0, static_cast<Stage::Mode>(mode)});
      Values values(5);
      for (const int64_t n : sizes()) {
        if (is_floating(d) && n > 70) continue;  // their products leave the range
        expect_stage(stage, level, {values.of(d, n)}, n,
                     std::string(name(d)) + " n " + std::to_string(n));
        if (HasFailure()) return;
      }
    }
  }
}

// Which of both the smallest is may differ; the only one keeps its sign.
TEST(Codegen, FoldsZeros) {
  for (const IsaLevel level : levels()) {
    for (const int kind : {0, 1, 2, 3}) {  // zeros, negative zeros, both by turns, one positive
      Stage stage;
      stage.inputs = {{Dtype::kFloat32}};
      stage.reductions = {{0, Stage::Kind::kMin}, {0, Stage::Kind::kMax}};
      for (const int64_t n : sizes()) {
        Bytes zeros;
        for (int64_t i = 0; i < n; ++i) {
          const bool negative = kind == 1 || (kind == 2 && i % 2 == 0) || (kind == 3 && i != n / 2);
          const float zero = negative ? -0.0f : 0.0f;
          const char* bytes = reinterpret_cast<const char*>(&zero);
          zeros.insert(zeros.end(), bytes, bytes + sizeof zero);
        }
        expect_stage(stage, level, {zeros}, n,
                     "zeros " + std::to_string(kind) + " n " + std::to_string(n));
        if (HasFailure()) return;
      }
    }
  }
}

// --- every primitive ----------------------------------------------------------------------------

// One operation on elements of `d`, as the sample has it; no operation where the primitive does not
// take them.
Stage stage_of(const Primitive& p, const Sample& sample, Dtype d) {
  Stage stage;
  std::vector<Aval> avals;
  std::vector<int> in;
  for (const SampleInput& input : sample.in) {
    const bool condition = is_bool(input.aval.dtype);
    if (input.aval.dtype != sample.in.back().aval.dtype && !condition) return {};
    avals.push_back({condition ? Dtype::kBool : d, false, Shape{4}});
    stage.inputs.push_back({avals.back().dtype});
    in.push_back(static_cast<int>(in.size()));
  }
  std::vector<const Aval*> pointers;
  for (const Aval& a : avals) pointers.push_back(&a);
  try {
    const Dtype out = output_avals(p, pointers, sample.params)[0].dtype;
    stage.ops.push_back({&p, sample.params, in, out});
  } catch (const Error&) {
    return {};
  }
  stage.outputs.push_back({static_cast<int>(in.size())});
  return stage;
}

TEST(Codegen, HasCodeForEveryElementwisePrimitive) {
  for (const Primitive* p : all_primitives()) {
    if (p->kind != PrimitiveKind::kElementwise || p->samples == nullptr) continue;
    // One kernel reads a table; the other dtypes of conversions have a test of their own.
    if (p == &primitive("erf") || p == &primitive("convert_element_type")) continue;
    std::vector<Params> seen;
    for (const Sample& sample : p->samples()) {
      if (std::find(seen.begin(), seen.end(), sample.params) != seen.end()) continue;
      seen.push_back(sample.params);
      for (const Dtype d : {Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16,
                            Dtype::kInt32, Dtype::kUint32, Dtype::kBool}) {
        const Stage stage = stage_of(*p, sample, d);
        if (stage.ops.empty()) continue;
        Values values(7);
        for (const IsaLevel level : levels()) {
          for (const int64_t n : {int64_t{5}, int64_t{67}}) {
            std::vector<Bytes> inputs;
            for (const Stage::Input& input : stage.inputs)
              inputs.push_back(values.of(input.dtype, n));
            expect_stage(stage, level, inputs, n,
                         std::string(p->name) + " of " + std::string(name(d)) + " at level " +
                             std::to_string(static_cast<int>(level)));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Calls of kernels between instructions: what registers hold is still there behind them.
TEST(Codegen, KeepsValuesOverCalls) {
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {Dtype::kFloat32, Dtype::kFloat64}) {
      Stage stage;
      stage.inputs = {{d}, {d}, {d, true}};
      const auto add = [&](const char* name, std::vector<int> in) {
        stage.ops.push_back({&primitive(name), {}, std::move(in), d});
        return static_cast<int>(stage.inputs.size() + stage.ops.size()) - 1;
      };
      std::vector<int> live;
      for (int i = 0; i < 20; ++i) live.push_back(add("add", {i == 0 ? 0 : live.back(), i % 3}));
      const int power = add("pow", {0, 1}), gamma = add("lgamma", {power});
      const int sine = add("sin", {live[3]}), mixed = add("hypot", {gamma, sine});
      int sum = mixed;
      for (const int v : live) sum = add("mul", {sum, v});
      stage.outputs = {{sum}, {gamma}};
      stage.reductions = {{sum, Stage::Kind::kMax}};
      Values values(11);
      for (const int64_t n : {int64_t{1}, int64_t{31}, int64_t{1500}}) {
        expect_stage(stage, level, {values.of(d, n), values.of(d, n), values.of(d, 1)}, n,
                     "calls at level " + std::to_string(static_cast<int>(level)));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Codegen, RefusesWhatItHasNoCodeFor) {
  Stage stage;
  stage.inputs = {{Dtype::kFloat32}};
  stage.ops = {{&primitive("neg"), {}, {0}, Dtype::kFloat32}};
  stage.outputs = {{1}};
  EXPECT_EQ(make_stage_x64(stage, IsaLevel::kBase), nullptr);
  stage.inputs = {{Dtype::kInt64}};
  stage.ops[0].out = Dtype::kInt64;
  EXPECT_EQ(make_stage_x64(stage), nullptr);
}

}  // namespace codegen_test
}  // namespace spruce::cpu::testing
