// SPDX-License-Identifier: Apache-2.0
// The place of an array as a part of its type, on a device whose memory the host cannot touch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spruce/spruce.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "spruce/core/custom.h"
#include "tests/device/locked_device.h"

namespace spruce {
namespace device_test {

using test_device::locked_device, test_device::other_locked_device, test_device::locked_runs;
using testing::HasSubstr;

// What the error says, without the line of the source.
template <class E, class F>
std::string message_of(const F& f) {
  try {
    (void)f();
  } catch (const E& e) {
    const std::string what = e.what();
    return what.substr(0, what.find("\n  at "));
  }
  return "no such error was thrown";
}

Array here(const Array& x) { return to_device(x, locked_device()); }
bool is_here(const Array& x) { return &x.device() == &locked_device(); }

struct Net {
  nn::Linear first, last;
  Array operator()(const Array& x) const { return last(nn::relu(first(x))); }
};
Net new_net() { return {nn::Linear::init(Key(0), 3, 4), nn::Linear::init(Key(1), 4, 1)}; }

class DeviceTest : public testing::Test {
 protected:
  const DefaultDevice cpu_{cpu_device()};  // whatever SPRUCE_TEST_DEVICE says
  const Array host_ = array({{1, 2, 3}, {4, 5, 6}}, float32);
  const Array x_ = here(host_);
};

using DevicePlacement = DeviceTest;
using DeviceTransforms = DeviceTest;
using DeviceControl = DeviceTest;
using DeviceJit = DeviceTest;
using DeviceReads = DeviceTest;

TEST_F(DevicePlacement, IsInTheType) {
  EXPECT_EQ(to_string(x_.aval()), "f32[2,3]@locked:0");
  EXPECT_EQ(to_string(host_.aval()), "f32[2,3]");
  EXPECT_EQ(&x_.device(), &locked_device());
  EXPECT_EQ(find_device("locked:0"), &locked_device());
  EXPECT_EQ(&device_at(locked_device().index()), &locked_device());
  EXPECT_EQ(find_device("locked:7"), nullptr);
}

TEST_F(DevicePlacement, ResultsAreWhereTheInputsAre) {
  for (const Array& y : {x_ + x_,
                         x_ * 2.0f,
                         sum(x_),
                         matmul(x_, transpose(x_)),
                         x_[0],
                         x_[{1, slice(0, 2)}],
                         sort(x_),
                         argsort(x_),
                         cumsum(x_, 0),
                         roll(x_, 1, 0),
                         nn::softmax(x_),
                         where(x_ > 2.0f, x_, 0.0f),
                         zeros_like(x_),
                         ones_like(x_),
                         full_like(x_, 3),
                         tril(x_),
                         pad(x_, 1),
                         x_.reshape({6}),
                         astype(x_, int32),
                         x_.at(0).set(1.0f),
                         one_hot(astype(x_[0], int32), 4),
                         einsum("ij,kj->ik", {x_, x_}),
                         concatenate({x_, x_})}) {
    EXPECT_TRUE(is_here(y)) << to_string(y.aval());
  }
}

TEST_F(DevicePlacement, NumbersGoAlong) {
  const Array two(2.0f), strong = array(2.0f);
  EXPECT_EQ(strong.aval().device, 0);
  EXPECT_TRUE(array_equal(to_device(x_ * two + strong - 2.0f, cpu_device()), host_ * 2));
  EXPECT_EQ((two + strong).aval().device, 0);
}

TEST_F(DevicePlacement, TwoDevicesAreAnError) {
  EXPECT_EQ(message_of<DeviceError>([&] {
              x_ + ones({2, 3});
            }),
            "add: f32[2,3]@locked:0 is on locked:0 and f32[2,3] on cpu; move one to the device of "
            "the other with to_device(x, device)");
  EXPECT_THAT(message_of<DeviceError>([&] { x_* to_device(host_, other_locked_device()); }),
              HasSubstr("is on locked:0 and f32[2,3]@locked:1 on locked:1"));
  EXPECT_THAT(message_of<DeviceError>([&] { jit([&](const Array& a) { return a + host_; })(x_); }),
              HasSubstr("to_device(x, device)"));
}

TEST_F(DevicePlacement, DefaultDeviceIsForWhatFollowsNothing) {
  const DefaultDevice scope(locked_device());
  EXPECT_TRUE(is_here(zeros({2})));
  EXPECT_TRUE(is_here(zeros({})));
  EXPECT_TRUE(is_here(arange(3.0f)));
  EXPECT_TRUE(is_here(linspace(0, 1, 5)));
  EXPECT_TRUE(is_here(eye(3)));
  EXPECT_TRUE(is_here(array({1.0f, 2.0f})));
  EXPECT_TRUE(is_here(random::normal(Key(0), {3})));
  EXPECT_TRUE(is_here(new_net().first.weight));
  EXPECT_FALSE(is_here(host_ + 1.0f));
  EXPECT_FALSE(is_here(tril(host_)));
  EXPECT_FALSE(is_here(sort(host_)));
  EXPECT_FALSE(is_here(grad([](const Array& a) { return sum(sort(a) * a); })(host_)));
}

TEST_F(DevicePlacement, IndicesOfTheHostAreTaken) {
  const Array rows = array({1, 0}, int32);
  EXPECT_TRUE(array_equal(to_device(x_[rows], cpu_device()), host_[rows]));
  EXPECT_TRUE(array_equal(to_device(x_[here(rows)], cpu_device()), host_[rows]));
  EXPECT_TRUE(array_equal(to_device(take(x_, here(rows), 0), cpu_device()), host_[rows]));
  EXPECT_TRUE(array_equal(to_device(x_[x_ > 2.0f], cpu_device()), host_[host_ > 2.0f]));
  EXPECT_TRUE(
      array_equal(to_device(x_.at(here(rows)).add(x_), cpu_device()), host_.at(rows).add(host_)));
  EXPECT_EQ(nonzero(x_)[0].aval().device, x_.aval().device);
}

TEST_F(DevicePlacement, TreesAreMoved) {
  const Net net = to_device(new_net(), locked_device());
  EXPECT_TRUE(is_here(net.first.weight));
  EXPECT_TRUE(is_here(*net.last.bias));
  EXPECT_TRUE(allclose(to_device(net(x_), cpu_device()), new_net()(host_)));
  const Net back = to_device(net, cpu_device());
  EXPECT_TRUE(array_equal(back.first.weight, new_net().first.weight));
  EXPECT_TRUE(is_here(to_device(Key(3), locked_device()).data()));
}

TEST_F(DevicePlacement, OneDeviceToAnother) {
  const Array y = to_device(x_, other_locked_device());
  EXPECT_EQ(&y.device(), &other_locked_device());
  EXPECT_TRUE(array_equal(to_device(y, cpu_device()), host_));
  EXPECT_EQ(to_device(y, other_locked_device()).impl(), y.impl());
}

TEST_F(DeviceReads, OnTheHost) {
  EXPECT_EQ(sum(x_).item<float>(), 21.0f);
  EXPECT_EQ(x_.to_vector<float>(), host_.to_vector<float>());
  EXPECT_EQ(x_.data<float>()[4], 5.0f);
  EXPECT_EQ(to_string(x_), to_string(host_));
  EXPECT_TRUE(static_cast<bool>(all(x_ > 0.0f)));
  EXPECT_TRUE(allclose(x_, x_));
  EXPECT_TRUE(array_equal(x_, x_));
  set_debug_nans(true);
  EXPECT_THROW(log(x_ - 2.0f), ValueError);
  set_debug_nans(false);
}

TEST_F(DeviceReads, FilesOfArraysAndTrees) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("spruce_device_" + std::to_string(::getpid()));
  io::save_npy(path + ".npy", x_);
  EXPECT_TRUE(array_equal(io::load_npy(path + ".npy"), host_));
  io::save_npz(path + ".npz", NamedArrays{{"x", x_}});
  EXPECT_TRUE(array_equal(io::load_npz(path + ".npz").at("x"), host_));
  const Net net = to_device(new_net(), locked_device());
  io::save_tree(path + ".safetensors", net);
  const Net loaded = io::load_tree(path + ".safetensors", net);
  EXPECT_TRUE(is_here(loaded.first.weight));
  EXPECT_TRUE(array_equal(loaded.first.weight, net.first.weight));
  const auto apply = [](const Net& n, const Array& x) { return n(x); };
  save_function(path + ".fn", apply, net, x_);
  const auto f = load_function<Array(Net, Array)>(path + ".fn");
  const Array want = new_net()(host_);
  EXPECT_TRUE(allclose(f(new_net(), host_), want));
  EXPECT_TRUE(is_here(f(net, x_)));
  EXPECT_TRUE(allclose(to_device(f(net, x_), cpu_device()), want));
  const auto g = grad([&](const Array& x) { return sum(f(net, x)); })(x_);
  EXPECT_TRUE(is_here(g));
  for (const char* end : {".npy", ".npz", ".safetensors", ".fn"})
    std::filesystem::remove(path + end);
}

TEST_F(DeviceTransforms, DerivativesLiveWithTheirValues) {
  const auto loss = [](const Array& x) { return mean(sin(x) * x) + sum(sort(x)); };
  const Array g = grad(loss)(x_);
  EXPECT_TRUE(is_here(g));
  EXPECT_TRUE(allclose(to_device(g, cpu_device()), grad(loss)(host_)));
  EXPECT_TRUE(is_here(grad([](const Array& x) { return sum(zeros_like(x)); })(x_)));
  const auto [y, t] = jvp([](const Array& x) { return x * x; }, std::tuple{x_}, std::tuple{x_});
  EXPECT_TRUE(is_here(t));
  const auto f = [](const Array& x) { return sin(x) * sum(x); };
  EXPECT_TRUE(allclose(to_device(jacfwd(f)(x_[0]), cpu_device()), jacfwd(f)(host_[0])));
  EXPECT_TRUE(allclose(to_device(jacrev(f)(x_[0]), cpu_device()), jacrev(f)(host_[0])));
  EXPECT_TRUE(allclose(to_device(hessian(loss)(x_[0]), cpu_device()), hessian(loss)(host_[0])));
}

TEST_F(DeviceTransforms, VmapOnTheDevice) {
  const auto f = [](const Array& row) { return row * sum(row) + cumsum(row)[1]; };
  EXPECT_TRUE(allclose(to_device(vmap(f)(x_), cpu_device()), vmap(f)(host_)));
  const auto g = vmap(grad([](const Array& row) { return sum(row * sort(row)); }));
  EXPECT_TRUE(allclose(to_device(g(x_), cpu_device()), g(host_)));
}

TEST_F(DeviceTransforms, ThroughToDevice) {
  const auto across = [&](const Array& x) {
    return sum(to_device(to_device(x * x, locked_device()) * 3.0f, cpu_device()) * x);
  };
  const Array g = grad(across)(host_);
  EXPECT_EQ(g.aval().device, 0);
  EXPECT_TRUE(allclose(g, 9.0f * host_ * host_));
  EXPECT_TRUE(allclose(jit(grad(across))(host_), g));
  EXPECT_TRUE(allclose(vmap(across)(host_), 3.0f * sum(host_ * host_ * host_, 1)));
}

TEST_F(DeviceJit, RunsWhatTheDeviceCompiled) {
  const auto step = jit([](const Array& x) { return tanh(x * x) + sum(x); });
  const Array want = step(host_);
  const test_device::LockedRuns before = locked_runs();
  const Array y = step(x_);
  EXPECT_TRUE(is_here(y));
  EXPECT_EQ(locked_runs().graphs, before.graphs + 1);
  EXPECT_EQ(locked_runs().kernels, before.kernels);
  EXPECT_EQ(step.trace_count(), 2);
  EXPECT_TRUE(allclose(to_device(y, cpu_device()), want));
  step(x_);
  EXPECT_EQ(step.trace_count(), 2);
}

TEST_F(DeviceJit, TakesNumbersToTheDeviceOfTheOthers) {
  const auto step = jit([](const Array& x, const Array& count) {
    return std::pair{x * astype(count, float32), count + 1};
  });
  auto [y, next] = step(x_, array(1));
  EXPECT_TRUE(is_here(next));
  std::tie(y, next) = step(y, next);
  EXPECT_EQ(next.item<int32_t>(), 3);
  EXPECT_TRUE(array_equal(to_device(y, cpu_device()), host_ * 2));
  EXPECT_EQ(step.trace_count(), 1);
}

TEST_F(DeviceJit, GraphsNameTheDevice) {
  const Graph g = make_graph([](const Array& x) { return x + zeros_like(x); })(x_);
  EXPECT_THAT(g.text(), HasSubstr("graph(a: f32[2,3]@locked:0)"));
  const Graph back = parse_graph(g.text(true));
  EXPECT_EQ(back.text(true), g.text(true));
  EXPECT_TRUE(is_here(evaluate(back, std::vector{x_})[0]));
  EXPECT_THAT(message_of<GraphError>([] { parse_graph("graph(a: f32[2]@moon) {\n  return a\n}"); }),
              HasSubstr("there is no device `moon` here"));
}

TEST_F(DeviceJit, LoweredShowsTheGraphAndItsCost) {
  const auto f = jit([](const Array& x) { return matmul(x, transpose(x)); });
  EXPECT_EQ(f.lower(x_).cost().total.flops, f.lower(host_).cost().total.flops);
}

TEST_F(DeviceControl, LoopsAndBranches) {
  const auto sums = [](const Array& x) {
    return scan(
        [](const Array& c, const Array& row) {
          return std::pair{c + row, c * 2.0f};
        },
        zeros_like(x[0]), x);
  };
  const auto [last, ys] = sums(x_);
  EXPECT_TRUE(is_here(last));
  EXPECT_TRUE(allclose(to_device(ys, cpu_device()), sums(host_).second));
  const auto total = [](const Array& x) {
    return scan(
               [](const Array& c, const Array& row) {
                 return std::pair{c + sum(row), none};
               },
               0.0f, x)
        .first;
  };
  EXPECT_TRUE(is_here(total(x_)));
  EXPECT_EQ(total(x_).item<float>(), 21.0f);
  EXPECT_TRUE(is_here(jit(total)(x_)));
  EXPECT_TRUE(allclose(to_device(grad(total)(x_), cpu_device()), ones({2, 3})));
  EXPECT_TRUE(allclose(to_device(jit(grad(total))(x_), cpu_device()), ones({2, 3})));
  const Array doubled = while_loop([](const Array& c) { return sum(c) < 100.0f; },
                                   [](const Array& c) { return c * 2.0f; }, x_);
  EXPECT_EQ(sum(doubled).item<float>(), 168.0f);
  const auto branch = [](const Array& x) {
    return cond(
        sum(x) > 0.0f, [](const Array& a) { return a * 2.0f; }, [](const Array& a) { return -a; },
        x);
  };
  EXPECT_TRUE(array_equal(to_device(branch(x_), cpu_device()), host_ * 2));
  EXPECT_TRUE(array_equal(to_device(jit(branch)(-x_), cpu_device()), host_));
  EXPECT_EQ(fori_loop(
                0, 5, [](const Array& i, const Array& c) { return c + i; }, sum(x_))
                .item<float>(),
            31.0f);
}

TEST_F(DeviceControl, AsCarriesChangeTheirDevice) {
  const auto wrong = [&] {
    scan(
        [](const Array& c, const Array& row) {
          return std::pair{to_device(c + row, cpu_device()), none};
        },
        x_[0], x_);
  };
  EXPECT_THAT(message_of<DeviceError>(wrong),
              HasSubstr("carry is f32[3]@locked:0 before the body and f32[3] after it"));
}

TEST_F(DeviceTransforms, TrainingIsTheSame) {
  const auto train = [&](Net net, const Array& x, bool compiled) {
    const auto optimizer = optim::adam({.learning_rate = 0.05});
    auto state = optimizer.init(net);
    const auto step = [&](Net n, decltype(state) s, const Array& batch) {
      const auto [loss, g] =
          value_and_grad([](const Net& m, const Array& b) { return mean(square(m(b))); })(n, batch);
      const auto [updates, next] = optimizer.update(g, s, n);
      return std::tuple{optim::apply_updates(n, updates), next, loss};
    };
    const auto run = jit(step);
    Array loss;
    for (int i = 0; i < 5; ++i)
      std::tie(net, state, loss) = compiled ? run(net, state, x) : step(net, state, x);
    return std::pair{net, loss};
  };
  const auto [want, loss] = train(new_net(), host_, true);
  for (const bool compiled : {false, true}) {
    const auto [got, its] = train(to_device(new_net(), locked_device()), x_, compiled);
    EXPECT_TRUE(is_here(got.first.weight));
    EXPECT_TRUE(is_here(its));
    EXPECT_TRUE(allclose(to_device(got.first.weight, cpu_device()), want.first.weight));
  }
}

TEST_F(DevicePlacement, RandomMasksComeToTheValues) {
  nn::Context ctx{.training = true, .key = Key(0)};
  const Array y = nn::Dropout{.p = 0.5f}(x_, ctx);
  nn::Context same{.training = true, .key = Key(0)};
  EXPECT_TRUE(is_here(y));
  EXPECT_TRUE(array_equal(to_device(y, cpu_device()), nn::Dropout{.p = 0.5f}(host_, same)));
}

}  // namespace device_test
}  // namespace spruce
