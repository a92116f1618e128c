// SPDX-License-Identifier: Apache-2.0
// Loops and branches of compiled functions, on the emulator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "spruce/cuda.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_control_test {

using cuda_emulator::counts;
using test_device::emulated_device;

Array ramp(const Shape& shape) {
  Array x = reshape(arange(shape.numel()), shape);
  return 0.01f * x.astype(Dtype::kFloat32) - 0.4f;
}

void expect_close(const Array& got, const Array& want) {
  EXPECT_TRUE(allclose(to_device(got, cpu_device()), want, {.rtol = 1e-5, .atol = 1e-6}))
      << got << "\nwant " << want;
}

// A recurrent net: the slices of 3 x 5 numbers stand at no multiple of 256 bytes.
const auto kRecurrent = [](const Array& h, const Array& w, const Array& u, const Array& xs) {
  return scan(
      [&](const Array& state, const Array& x) {
        const Array next = tanh(matmul(state, w) + matmul(x, u));
        return std::pair(next, sum(next, -1));
      },
      h, xs);
};

TEST(CudaControl, AScanIsRecordedWithTheFunctionAroundIt) {
  Device& gpu = emulated_device();
  const Array h = ramp({3, 4}), w = ramp({4, 4}), u = ramp({5, 4}), xs = ramp({7, 3, 5});
  const auto f = jit(kRecurrent);
  const auto [want_h, want_ys] = f(h, w, u, xs);
  const Array dh = to_device(h, gpu), dw = to_device(w, gpu), du = to_device(u, gpu),
              dxs = to_device(xs, gpu);
  for (int i = 0; i < 3; ++i) {
    const auto [got_h, got_ys] = f(dh, dw, du, dxs);
    expect_close(got_h, want_h);
    expect_close(got_ys, want_ys);
  }
  const auto before = counts();
  for (int i = 0; i < 5; ++i) (void)f(dh, dw, du, dxs);
  EXPECT_EQ(counts().graphs, before.graphs + 5);
  EXPECT_EQ(counts().copies, before.copies);
  EXPECT_EQ(counts().compiled, before.compiled);
  if (std::getenv("SPRUCE_CUDA_SYNC") == nullptr) {
    EXPECT_EQ(counts().waits, before.waits);
  }
}

TEST(CudaControl, GradientsOfAScanAreRecordedToo) {
  Device& gpu = emulated_device();
  const Array h = ramp({3, 4}), w = ramp({4, 4}), u = ramp({5, 4}), xs = ramp({6, 3, 5});
  const auto f = jit(grad([](const Array& m, const Array& a, const Array& b, const Array& c) {
    return sum(kRecurrent(a, m, b, c).second);
  }));
  const Array want = f(w, h, u, xs);
  const Array dw = to_device(w, gpu), dh = to_device(h, gpu), du = to_device(u, gpu),
              dxs = to_device(xs, gpu);
  for (int i = 0; i < 3; ++i) expect_close(f(dw, dh, du, dxs), want);
  const auto before = counts();
  (void)f(dw, dh, du, dxs);
  EXPECT_EQ(counts().graphs, before.graphs + 1);
}

// A carry that changes its places, one that stays, one of constants; from the last slice to the
// first; an odd and an even number of steps, one and none.
TEST(CudaControl, ScansOfEveryLengthAndDirection) {
  Device& gpu = emulated_device();
  for (const bool reverse : {false, true}) {
    for (const int64_t length : {0, 1, 4, 5}) {
      const auto f = jit([&](const Array& a, const Array& b, const Array& xs) {
        return scan(
            [&](const std::tuple<Array, Array, Array>& s, const Array& x) {
              const auto& [p, q, same] = s;
              return std::pair(std::tuple(q + x, p * 0.5f, same), std::tuple(p, x, same + a));
            },
            std::tuple(a, b, zeros_like(a)), xs, {.reverse = reverse});
      });
      const Array a = array({1.0f, 2.0f}), b = array({-3.0f, 0.25f}), xs = ramp({length, 2});
      const auto [want_carry, want_ys] = f(a, b, xs);
      const auto [carry, ys] = f(to_device(a, gpu), to_device(b, gpu), to_device(xs, gpu));
      expect_close(std::get<0>(carry), std::get<0>(want_carry));
      expect_close(std::get<1>(carry), std::get<1>(want_carry));
      expect_close(std::get<2>(carry), std::get<2>(want_carry));
      expect_close(std::get<0>(ys), std::get<0>(want_ys));
      expect_close(std::get<1>(ys), std::get<1>(want_ys));
      expect_close(std::get<2>(ys), std::get<2>(want_ys));
    }
  }
}

TEST(CudaControl, AScanWithinAScanIsOneGraph) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x, const Array& xs) {
    return scan(
        [](const Array& s, const Array& row) {
          const auto [end, ys] = scan(
              [](const Array& t, const Array& v) { return std::pair(sin(t) + v, t * v); }, s, row);
          return std::pair(end, sum(ys));
        },
        x, xs);
  });
  const Array x = array(0.5f), xs = ramp({3, 4});
  const auto [want, want_ys] = f(x, xs);
  const Array dx = to_device(x, gpu), dxs = to_device(xs, gpu);
  for (int i = 0; i < 3; ++i) {
    const auto [got, ys] = f(dx, dxs);
    expect_close(got, want);
    expect_close(ys, want_ys);
  }
  const auto before = counts();
  (void)f(dx, dxs);
  EXPECT_EQ(counts().graphs, before.graphs + 1);
}

TEST(CudaControl, ManyStepsAreEnqueuedWithoutAGraph) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) {
    return fori_loop(
        0, 5000, [](const Array&, const Array& v) { return v * 0.999f + sort(v) * 0.001f; }, x);
  });
  const Array x = array({0.5f, -1.0f, 2.0f}), dx = to_device(x, gpu);
  const Array want = f(x);
  const auto before = counts();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(allclose(to_device(f(dx), cpu_device()), want, {.rtol = 1e-3}));
  }
  EXPECT_EQ(counts().graphs, before.graphs);
}

TEST(CudaControl, ConditionsAreReadOnceAStep) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x, const Array& most) {
    return while_loop([&](const Array& v) { return sum(v) < most; },
                      [](const Array& v) {
                        return cond(
                            v[0] > 3.0f, [](const Array& u) { return u + 1.0f; },
                            [](const Array& u) { return u * 2.0f; }, v);
                      },
                      x);
  });
  const Array x = array({1.0f, 0.5f}), most = array(20.0f);
  const Array want = f(x, most);
  const Array dx = to_device(x, gpu), dmost = to_device(most, gpu);
  expect_close(f(dx, dmost), want);
  const auto before = counts();
  const Array got = f(dx, dmost);
  const int64_t steps = (counts().copies - before.copies - 1) / 2;  // a condition and an index
  EXPECT_EQ(counts().copies, before.copies + 2 * steps + 1);
  EXPECT_GT(steps, 3);
  EXPECT_EQ(counts().compiled, before.compiled);
  expect_close(got, want);
  expect_close(f(dx, to_device(array(-1.0f), gpu)), x);  // no step
}

TEST(CudaControl, AStateThatMovesThroughALoopKeepsItsMemory) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) {
    return fori_loop(
        0, 6, [](const Array&, const Array& v) { return v * 0.5f + 1.0f; }, x);
  });
  const Array x = ramp({40, 50});
  Array y = to_device(x, gpu);
  const void* place = internal::mutable_data(y);
  y = f(std::move(y));
  EXPECT_EQ(internal::mutable_data(y), place);
  expect_close(y, f(x));
}

// Outside of jit the body is compiled at the first call, and found at the next ones.
TEST(CudaControl, BodiesOfEagerLoopsAreCompiledOnce) {
  Device& gpu = emulated_device();
  const Array h = to_device(ramp({3, 4}), gpu), w = to_device(ramp({4, 4}), gpu),
              u = to_device(ramp({5, 4}), gpu), xs = to_device(ramp({3, 3, 5}), gpu);
  const Array first = kRecurrent(h, w, u, xs).first;
  const auto before = counts();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(kRecurrent(h, w, u, xs).first.to_vector<float>(), first.to_vector<float>());
  EXPECT_GT(counts().graphs, before.graphs) << "what earlier calls recorded";
}

}  // namespace cuda_control_test
}  // namespace spruce
