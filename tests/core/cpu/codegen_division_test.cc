// SPDX-License-Identifier: Apache-2.0
// Quotients in machine code: of integers, and by numbers that are known.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "spruce/core/cpu/x64/few_values.h"
#include "spruce/core/rules/shape.h"
#include "tests/core/cpu/stage_check.h"

namespace spruce::cpu::testing {
namespace codegen_division_test {

TEST(CodegenDivision, DividesIntegersAtTheEndsOfTheirRanges) {
  const uint32_t ends[] = {0,          1,           2,          3,          7,          1000,
                           0x7ffffffe, 0x7fffffffu, 0x80000000, 0x80000001, 0xfffffff9, 0xfffffffe,
                           0xffffffff, 0xaaaaaaaa,  0x55555555, 0x10001};
  const size_t count = std::size(ends);
  Bytes a(count * count * 4), b(count * count * 4);
  for (size_t i = 0; i < count * count; ++i) {
    std::memcpy(a.data() + 4 * i, &ends[i / count], 4);
    std::memcpy(b.data() + 4 * i, &ends[i % count], 4);
  }
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {Dtype::kInt32, Dtype::kUint32}) {
      for (const char* op : {"div", "rem"}) {
        Stage stage;
        stage.inputs = {{d}, {d}};
        stage.ops.push_back({&primitive(op), {}, {0, 1}, d});
        stage.outputs.push_back({2});
        expect_stage(stage, level, {a, b}, static_cast<int64_t>(count * count),
                     std::string(op) + " of " + std::string(name(d)));
      }
    }
  }
}

TEST(CodegenDivision, DividesByKnownIntegers) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> divisors = {lowest, lowest + 1, 0x40000000, 0x7fffffff, 0x7ffffffe,
                                   65536,  65537,      641,        1000000007};
  for (int32_t d = -40; d <= 40; ++d) divisors.push_back(d);
  std::vector<int32_t> a = {lowest, lowest + 1, lowest + 2, 0x7fffffff, 0x7ffffffe, 0, 1, -1};
  std::mt19937 random(6);
  for (int i = 0; i < 300; ++i) a.push_back(static_cast<int32_t>(random()) >> random() % 31);
  for (const IsaLevel level : levels()) {
    for (const int32_t d : divisors) {
      std::vector<int32_t> x = a;  // and the numbers about multiples
      for (int k = -60; k < 60; ++k) {
        const uint32_t multiple =
            static_cast<uint32_t>(d) * static_cast<uint32_t>(k % 2 == 0 ? k : k * 715827);
        for (uint32_t near = 0; near < 3; ++near)
          x.push_back(static_cast<int32_t>(multiple + near - 1));
      }
      Bytes bytes(x.size() * 4), by(4);
      std::memcpy(bytes.data(), x.data(), bytes.size());
      std::memcpy(by.data(), &d, 4);
      for (const char* op : {"div", "rem"}) {
        Stage stage;
        stage.inputs = {{Dtype::kInt32}, {Dtype::kInt32, true, 0, static_cast<uint32_t>(d)}};
        stage.ops.push_back({&primitive(op), {}, {0, 1}, Dtype::kInt32});
        stage.outputs.push_back({2});
        expect_stage(stage, level, {bytes, by}, static_cast<int64_t>(x.size()),
                     std::string(op) + " by " + std::to_string(d));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Products take the place of quotients where each of the 256 is the same.
TEST(CodegenDivision, DividesBytesByKnownFloats) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> divisors = {255, -255, 127.5f, 0.229f, 3, 1, 0, -0.0f, 1e-38f, 1e38f};
  divisors.insert(divisors.end(), {Limits::denorm_min(), Limits::max(), Limits::infinity()});
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) divisors.push_back(std::ldexp(1.0f + random() * 0x1p-32f, i - 30));
  Bytes bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  const float less = 0.485f;
  const auto known = [](float x) {
    return Stage::Input{Dtype::kFloat32, true, 0, std::bit_cast<uint32_t>(x)};
  };
  for (const IsaLevel level : levels()) {
    for (const Dtype d : {Dtype::kUint8, Dtype::kInt8}) {
      for (const float by : divisors) {
        Stage stage;
        stage.inputs = {{d}, known(by), known(less)};
        stage.ops.push_back({&primitive("convert_element_type"),
                             Params::make(ConvertParams{Dtype::kFloat32, false}),
                             {0},
                             Dtype::kFloat32});
        for (const auto& [op, a, b] : {std::tuple("div", 3, 1), {"sub", 4, 2}, {"div", 5, 1}})
          stage.ops.push_back({&primitive(op), {}, {a, b}, Dtype::kFloat32});
        stage.outputs = {{4}, {6}};
        Bytes divisor(4), subtrahend(4);
        std::memcpy(divisor.data(), &by, 4);
        std::memcpy(subtrahend.data(), &less, 4);
        expect_stage(stage, level, {bytes, divisor, subtrahend}, 256,
                     std::string(name(d)) + " by " + std::to_string(by));
      }
    }
  }
}

TEST(CodegenDivision, KnowsByWhichDivisorsProductsAreQuotients) {
  x64::FewValues few;
  few.set_byte(0, Dtype::kUint8);
  few.set_constant(1, 255.0f);
  few.set_constant(2, 0.0f);
  EXPECT_EQ(few.divisor_by_product(0, 1), 255.0f);
  EXPECT_EQ(few.divisor_by_product(0, 2), std::nullopt) << "0 / 0 and 1 / 0";
  few.set_result(scalar::Op::kMul, 0, 2, 3);
  EXPECT_EQ(few.divisor_by_product(3, 1), 255.0f);
  few.rewind(3);
  EXPECT_EQ(few.divisor_by_product(3, 1), std::nullopt);
}

}  // namespace codegen_division_test
}  // namespace spruce::cpu::testing
