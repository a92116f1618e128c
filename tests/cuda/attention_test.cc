// SPDX-License-Identifier: Apache-2.0
// Attention on cuda:0 (the emulator): as products of the library, in pieces of the batch, and by
// kernels of our own.
#include "spruce/core/rules/attention.h"

#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/large_case.h"

namespace spruce {
namespace attention_test {

using large_cases_test::check;
using large_cases_test::numbers;

double tolerance(Dtype d) {
  return d == float64 ? 0 : d == float32 ? 1e-3 : d == float16 ? 2e-2 : 1e-1;
}

struct Sizes {
  Shape batch;
  int64_t queries, keys, size, value_size;
};

SampleInput rows(Dtype d, const Shape& batch, int64_t count, int64_t size) {
  Shape shape = batch;
  shape.push_back(count);
  shape.push_back(size);
  return numbers(d, shape, -1, 1);
}

// The sums of exponentials, near those of such numbers.
SampleInput sums(Dtype d, const Shape& batch, int64_t queries) {
  Shape shape = batch;
  shape.push_back(queries);
  return numbers(d == float64 ? float64 : float32, shape, 4, 6);
}

void all(Dtype d, const Sizes& s, bool causal, const SampleInput* mask = nullptr) {
  const Params params = Params::make(AttentionParams{0.3, causal});
  std::vector<SampleInput> in = {rows(d, s.batch, s.queries, s.size),
                                 rows(d, s.batch, s.keys, s.size),
                                 rows(d, s.batch, s.keys, s.value_size)};
  std::vector<SampleInput> grad = in;
  grad.push_back(rows(d, s.batch, s.queries, s.value_size));
  grad.push_back(sums(d, s.batch, s.queries));
  grad.push_back(rows(d, s.batch, s.queries, s.value_size));
  if (mask != nullptr) in.push_back(*mask), grad.push_back(*mask);
  check("attention", in, params, tolerance(d));
  check("attention_lse", in, params, tolerance(d));
  check("attention_grad", grad, params, tolerance(d));
}

TEST(CudaAttention, InAllDtypes) {
  for (const Dtype d : {float32, bfloat16, float16, float64}) {
    all(d, {{2, 3}, 37, 45, 20, 9}, false);
    all(d, {{3}, 41, 41, 16, 16}, true);
  }
}

TEST(CudaAttention, Masks) {
  for (const Dtype d : {float32, bfloat16}) {
    const SampleInput open = numbers(bool_, {2, 1, 1, 35}, 0, 1),
                      added = numbers(d, {3, 33, 1}, -2, 2);
    all(d, {{2, 3}, 33, 35, 8, 8}, false, &open);
    all(d, {{2, 3}, 33, 35, 8, 8}, false, &added);
  }
}

TEST(CudaAttention, SizesOfOneAndNothing) {
  all(float32, {{}, 1, 1, 1, 1}, false);
  all(float32, {{2}, 1, 50, 8, 1}, false);
  all(float32, {{2}, 5, 1, 1, 3}, true);
  all(float32, {{2}, 5, 0, 4, 3}, false);
  all(float32, {{0}, 5, 4, 4, 3}, false);
}

// Rows that a block of our own kernels could not hold.
TEST(CudaAttention, WideHeads) { all(float32, {{1}, 5, 9, 4000, 3000}, false); }

// More scores than one piece of the workspace.
TEST(CudaAttention, InPieces) {
  const Params params = Params::make(AttentionParams{0.3, true});
  const SampleInput in = numbers(float64, {4, 4, 736, 1}, -1, 1);
  check("attention", {in, in, in}, params);
}

// Heads that are neighbours in memory, so that no one step leads from batch to batch.
TEST(CudaAttention, HeadsInside) {
  Device& gpu = test_device::emulated_device();
  const auto f = jit([](const Array& q, const Array& k, const Array& v) {
    const auto heads = [](const Array& x) { return swapaxes(x, 1, 2); };
    const auto loss = [&](const Array& a, const Array& b, const Array& c) {
      return sum(sin(nn::scaled_dot_product_attention(heads(a), heads(b), heads(c))));
    };
    return grad(loss)(q, k, v) + swapaxes(heads(q), 1, 2);
  });
  const auto some = [](uint64_t seed) { return random::normal(Key(seed), {3, 12, 4, 8}); };
  const Array want = f(some(1), some(2), some(3));
  for (int i = 0; i < 3; ++i) {
    const Array got = f(to_device(some(1), gpu), to_device(some(2), gpu), to_device(some(3), gpu));
    EXPECT_TRUE(allclose(to_device(got, cpu_device()), want, {.rtol = 1e-3, .atol = 1e-4}));
  }
}

TEST(CudaAttention, WhatTheLibraryHasNoAlgorithmForIsOurs) {
  test_device::emulated_device();
  cuda_emulator::set_has_algorithms(false);
  all(float32, {{2}, 39, 35, 8, 12}, false);
  all(bfloat16, {{2}, 35, 35, 8, 12}, true);
  cuda_emulator::set_has_algorithms(true);
}

}  // namespace attention_test
}  // namespace spruce
