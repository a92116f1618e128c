// SPDX-License-Identifier: Apache-2.0
// Each pass keeps the meaning of a graph: alone and after those before it, for every primitive and
// its derivatives and batches, and for functions as users write them.
#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/optim/optim.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace meaning_test {

constexpr double kTolerance = 1e-12;

void expect_meaning(const Graph& graph, const Arrays& args, double tol) {
  const Arrays want = evaluate(graph, args);
  const Graph settled = passes::drop_weak_types(graph);
  Graph staged = graph;
  for (const passes::Pass& pass : passes::pipeline()) {
    const Graph alone = pass.run(settled);
    ASSERT_NO_THROW(check(alone)) << pass.name << " alone:\n" << graph << "\n" << alone;
    expect_close(evaluate(alone, args), want, tol, std::string(pass.name) + " alone");
    const Graph before = staged;
    staged = pass.run(staged);
    ASSERT_NO_THROW(check(staged)) << pass.name << ":\n" << before << "\n" << staged;
    expect_close(evaluate(staged, args), want, tol, pass.name);
    if (testing::Test::HasFailure()) {
      std::cout << pass.name << ":\n" << before << "\n" << staged << "\n";
      return;
    }
  }
}

double tolerance_of(const Graph& g) {
  double tol = kTolerance;
  for (const Aval& a : g.avals) {
    if (!is_floating(a.dtype) || a.dtype == float64) continue;
    tol = std::max(tol, a.dtype == float32 ? 1e-5 : a.dtype == float16 ? 1e-2 : 6e-2);
  }
  return tol;
}

template <class F>
void expect_meaning_of(const F& f, const Arrays& args) {
  const Graph g = make_graph(f)(args);
  expect_meaning(g, args, tolerance_of(g));
}

using Meaning = PerPrimitive;

std::vector<Case> cases_of(const Primitive& p) {
  std::vector<Case> cases = all_cases(p, float64);
  for (Case& c : integer_cases(p)) cases.push_back(std::move(c));
  return cases;
}

TEST_P(Meaning, OfThePrimitive) {
  for (const Case& c : cases_of(p())) {
    run_case(c,
             [&] { expect_meaning_of([&](const Arrays& x) { return outputs(c, x); }, inputs(c)); });
  }
}

TEST_P(Meaning, OfConstantInputs) {
  for (const Case& c : cases_of(p())) {
    run_case(c, [&] {
      const Arrays in = inputs(c);
      expect_meaning_of([&](const Arrays&) { return outputs(c, in); }, {});
    });
  }
}

TEST_P(Meaning, OfItsDerivatives) {
  for (const Case& c : all_cases(p(), float64)) {
    for (const Partial& f : partials(c)) {
      run_case(c, [&] {
        const Arrays x = f.point(), v = directions(x, 1), ct = directions(f(x), 2);
        Arrays forward = x, backward = x;
        forward.insert(forward.end(), v.begin(), v.end());
        backward.insert(backward.end(), ct.begin(), ct.end());
        const auto split = [&](const Arrays& both) {
          const auto at = both.begin() + static_cast<std::ptrdiff_t>(x.size());
          return std::pair{Arrays(both.begin(), at), Arrays(at, both.end())};
        };
        expect_meaning_of(
            [&](const Arrays& both) {
              const auto [y, t] = split(both);
              return jvp(f, std::tuple<Arrays>(y), std::tuple<Arrays>(t)).second;
            },
            forward);
        expect_meaning_of(
            [&](const Arrays& both) {
              const auto [y, t] = split(both);
              return vjp(f, y).second(t);
            },
            backward);
      });
    }
  }
}

TEST_P(Meaning, OfItsBatches) {
  for (const Case& c : all_cases(p(), float64)) {
    const Arrays first = inputs(c, 0), second = inputs(c, 1);
    for (size_t mapped = 0; mapped <= first.size(); ++mapped) {
      if (first.empty()) break;
      run_case(c, [&] {
        Arrays args = first;  // the last round maps all inputs, the others one
        for (size_t i = 0; i < args.size(); ++i) {
          if (mapped == i || mapped == first.size()) args[i] = stack({first[i], second[i]});
        }
        expect_meaning_of(
            [&](const Arrays& x) {
              if (mapped == first.size())
                return vmap([&](const Arrays& y) { return outputs(c, y); })(x);
              return vmap([&](const Array& one) {
                Arrays all = x;
                all[mapped] = one;
                return outputs(c, all);
              })(x[mapped]);
            },
            args);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Meaning, testing::ValuesIn(primitives_with_samples()), name_of);

// === functions ===

Array noise(int64_t seed, const Shape& shape) {
  return random::normal(Key(seed), shape, {.dtype = float64});
}

struct Net {
  nn::Linear a, b;

  static Net init(int64_t in, int64_t hidden, int64_t out) {
    const Net net{nn::Linear::init(Key(1), in, hidden), nn::Linear::init(Key(2), hidden, out)};
    return tree::map([](const Array& x) { return astype(x, float64); }, net);
  }
  Array operator()(const Array& x) const { return b(tanh(a(x))); }
};

template <class F, class... Args>
void expect_meaning_of_call(const F& f, const Args&... args) {
  const Graph g = make_graph(f)(args...);
  expect_meaning(g, tree::leaves(std::tuple(args...)), tolerance_of(g));
}

TEST(MeaningOfFunctions, ATrainingStep) {
  const auto optimizer = optim::adam({.learning_rate = 1e-2f});
  const Net net = Net::init(3, 8, 4);
  const auto step = [&](const Net& p, const auto& state, const Array& x, const Array& y) {
    const auto loss = [](const Net& q, const Array& u, const Array& v) {
      return nn::cross_entropy(q(u), v);
    };
    const auto [value, grads] = value_and_grad(loss)(p, x, y);
    const auto [updates, next] = optimizer.update(grads, state, p);
    return std::tuple{optim::apply_updates(p, updates), next, value};
  };
  expect_meaning_of_call(step, net, optimizer.init(net), noise(3, {6, 3}),
                         array({0, 1, 2, 3, -100, 0}));
}

Array squared(const Array& a, const Array& b) { return mean(square(a - b)); }

TEST(MeaningOfFunctions, AnInnerStepOfLearning) {
  const auto adapted = [](Net p, const Array& x, const Array& y) {
    const auto loss = [&](const Net& q) { return squared(q(x), y); };
    const Net g = grad(loss)(p);
    p = tree::map([](const Array& a, const Array& d) { return a - 0.01f * d; }, p, g);
    return loss(p);
  };
  const auto outer = [&](const Net& p, const Array& x, const Array& y) {
    return grad([&](const Net& q) {
      return mean(vmap(adapted, {.in_axes = {none, 0, 0}})(q, x, y));
    })(p);
  };
  expect_meaning_of_call(outer, Net::init(1, 5, 1), noise(4, {3, 4, 1}), noise(5, {3, 4, 1}));
}

TEST(MeaningOfFunctions, AHessian) {
  const auto net = tree::ravel(Net::init(2, 3, 1));
  const auto f = [&](const Array& v, const Array& x, const Array& y) {
    return squared(net.unravel(v)(x), y);
  };
  expect_meaning_of_call(hessian(f), net.flat, noise(6, {4, 2}), noise(7, {4, 1}));
}

TEST(MeaningOfFunctions, GradientsPerExample) {
  const auto loss = [](const Net& p, const Array& x, const Array& y) {
    return nn::cross_entropy(p(expand_dims(x, 0)), expand_dims(y, 0));
  };
  expect_meaning_of_call(vmap(grad(loss), {.in_axes = {none, 0, 0}}), Net::init(3, 4, 5),
                         noise(8, {6, 3}), array({0, 1, 2, 3, 4, 0}));
}

TEST(MeaningOfFunctions, AnEquationOfSecondOrder) {
  const auto f = [](const Net& p, const Array& points) {
    const auto laplacian = [](const Net& net, const Array& x) {
      return trace(hessian([&](const Array& z) { return net(z)[0]; })(x));
    };
    return mean(square(vmap(laplacian, {.in_axes = {none, 0}})(p, points)));
  };
  expect_meaning_of_call(grad(f), Net::init(2, 4, 1), noise(9, {5, 2}));
}

TEST(MeaningOfFunctions, PiecesAndTheirDerivative) {
  const auto f = [](const Array& x) {
    const Array a = x[{ellipsis, slice(0, 2)}], b = x[{ellipsis, slice(2, 5)}],
                c = x[{ellipsis, slice(5, 7)}];
    return sum(a * b[{ellipsis, slice(0, 2)}]) + sum(exp(b)) + sum(concatenate({c, a}, 1) * 3.0f);
  };
  expect_meaning_of_call(grad(f), noise(10, {3, 7}));
}

// Wide enough for loops to read the gates where they stand.
TEST(MeaningOfFunctions, GatesAndTheirDerivative) {
  const nn::LSTM net = nn::LSTM::init(Key(1), 3, 128, {.dtype = float64});
  const auto loss = [](const nn::LSTM& p, const Array& x) { return mean(square(p(x).output)); };
  expect_meaning_of_call(grad(loss), net, noise(11, {3, 2, 3}));
}

TEST(MeaningOfFunctions, AStencilAndItsDerivative) {
  const auto f = [](const Array& start) {
    const auto step = [](const Array& u) {
      const Array around =
                      roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, {-1, 1}, {0, 1}),
                  wall = pad(u[{slice(1, none)}], {{1, 0}, {0, 0}}, {.value = 0.5});
      return std::pair{u + 0.1 * tanh(around - 4.0 * u) * flip(wall, 1), none};
    };
    return sum(square(scan(step, start, {.length = 3}).first));
  };
  expect_meaning_of_call(f, noise(12, {7, 9}));
  expect_meaning_of_call(grad(f), noise(12, {7, 9}));
}

}  // namespace meaning_test
}  // namespace spruce::properties
