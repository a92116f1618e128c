// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

namespace {

Array square_sum(const Array& x) { return sp::sum(x * x); }
Array dot(const Array& a, const Array& b) { return sp::sum(a * b); }

}  // namespace

Section transform_mistakes() {
  return {
      "Transforms",
      __FILE__,
      {
          {"The gradient of a loss that is no number",
           CODE(sp::grad([](const Array& x) { return x * x; })(sp::ones({3}))),
           CODE(sp::grad([](const Array& x) { return sp::sum(x * x); })(sp::ones({3}))), "?", "?"},
          {"The gradient of an integer result",
           CODE(sp::grad([](const Array& x) { return sp::argmax(x); })(sp::ones({3}))),
           CODE(sp::grad([](const Array& x) { return sp::max(x); })(sp::ones({3}))), "?", "?"},
          {"The gradient with respect to integers", CODE(sp::grad(square_sum)(sp::arange(3))),
           CODE(sp::grad(square_sum)(sp::arange(3.0f))), "?", "?"},
          {"The Jacobian with respect to integers", CODE(sp::jacfwd(sp::sin)(sp::arange(3))),
           CODE(sp::jacfwd(sp::sin)(sp::arange(3.0f))), "?", "?"},
          {"The Hessian of a function with several results",
           CODE(sp::hessian(sp::sin)(sp::ones({3}))), CODE(sp::hessian(square_sum)(sp::ones({3}))),
           "?", "?"},
          {"A tangent of another shape",
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})}, std::tuple{sp::ones({2})})),
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})), "?",
           "?"},
          {"A tangent of another dtype",
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})},
                        std::tuple{sp::ones({3}, sp::float64)})),
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})},
                        std::tuple{sp::ones({3}, sp::float32)})),
           "?", "?"},
          {"A cotangent of another shape",
           CODE(const auto [y, pullback] = sp::vjp(sp::sin, sp::ones({3}));
                pullback(sp::ones({2}))),
           CODE(const auto [y, pullback] = sp::vjp(sp::sin, sp::ones({3}));
                pullback(sp::ones({3}))),
           "?", "?"},
          {"Mapped axes of different sizes",
           CODE(sp::vmap(dot)(sp::ones({4, 3}), sp::ones({5, 3}))),
           CODE(sp::vmap(dot)(sp::ones({4, 3}), sp::ones({4, 3}))), "?", "?"},
          {"A mapped axis that is not there",
           CODE(sp::vmap(dot, {.in_axes = {0, 2}})(sp::ones({4, 3}), sp::ones({3, 4}))),
           CODE(sp::vmap(dot, {.in_axes = {0, 1}})(sp::ones({4, 3}), sp::ones({3, 4}))), "?", "?"},
          {"Mapping a number", CODE(sp::vmap(dot)(sp::ones({4, 3}), sp::array(2.0f))),
           CODE(sp::vmap(dot, {.in_axes = {0, sp::none}})(sp::ones({4, 3}), sp::array(2.0f))), "?",
           "?"},
          {"in_axes with too few entries",
           CODE(sp::vmap(dot, {.in_axes = {0}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           CODE(sp::vmap(dot, {.in_axes = 0})(sp::ones({4, 3}), sp::ones({4, 3}))), "?", "?"},
          {"in_axes with too many entries",
           CODE(sp::vmap(dot, {.in_axes = {0, 0, sp::none}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           CODE(sp::vmap(dot, {.in_axes = {0, 0}})(sp::ones({4, 3}), sp::ones({4, 3}))), "?", "?"},
          {"in_axes with a list for an array",
           CODE(sp::vmap(dot, {.in_axes = {0, {0, 1}}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           CODE(sp::vmap(dot, {.in_axes = {0, 0}})(sp::ones({4, 3}), sp::ones({4, 3}))), "?", "?"},
          {"Nothing is mapped",
           CODE(sp::vmap(dot, {.in_axes = sp::none})(sp::ones({3}), sp::ones({3}))),
           CODE(dot(sp::ones({3}), sp::ones({3}))), "?", "?"},
          {"No axis for a result that has one",
           CODE(sp::vmap(sp::sin, {.out_axes = sp::none})(sp::ones({3}))),
           CODE(sp::vmap(sp::sin, {.out_axes = 0})(sp::ones({3}))), "?", "?"},
          {"An axis for a result beyond its rank",
           CODE(sp::vmap(sp::sin, {.out_axes = 2})(sp::ones({3, 2}))),
           CODE(sp::vmap(sp::sin, {.out_axes = 1})(sp::ones({3, 2}))), "?", "?"},
          {"A shape that is wrong inside of vmap",
           CODE(sp::vmap([](const Array& x) { return x + sp::zeros({4}); })(sp::ones({5, 3}))),
           CODE(sp::vmap([](const Array& x) { return x + sp::zeros({3}); })(sp::ones({5, 3}))), "?",
           "?"},
          {"A sum over an axis that no vmap has",
           CODE(sp::vmap([](const Array& x) { return sp::psum(x, "batch"); })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::psum(x, "batch"); },
                         {.axis_name = "batch"})(sp::ones({3}))),
           "?", "?"},
          {"Forward mode through a reverse-mode rule",
           CODE(const auto f = sp::custom_vjp(
                    [](const Array& x) { return x; },
                    [](const Array& x) {
                      return std::pair{x, std::tuple<>{}};
                    },
                    [](const std::tuple<>&, const Array& ct) { return std::tuple{ct}; });
                sp::jvp(f, std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})),
           CODE(const auto f = sp::custom_vjp(
                    [](const Array& x) { return x; },
                    [](const Array& x) {
                      return std::pair{x, std::tuple<>{}};
                    },
                    [](const std::tuple<>&, const Array& ct) { return std::tuple{ct}; });
                sp::vjp(f, sp::ones({3})).second(sp::ones({3}))),
           "?", "?"},
          {"A vector of another length for a tree",
           CODE(const auto raveled = sp::tree::ravel(std::pair{sp::ones({2}), sp::ones({3})});
                raveled.unravel(sp::ones({4}))),
           CODE(const auto raveled = sp::tree::ravel(std::pair{sp::ones({2}), sp::ones({3})});
                raveled.unravel(sp::ones({5}))),
           "?", "?"},
          {"Text that is no graph", CODE(sp::parse_graph("in a: f32[2]\nout b\n")),
           CODE(sp::parse_graph(sp::make_graph(square_sum)(sp::ones({2})).text())), "?", "?"},
      }};
}

Section tracer_mistakes() {
  return {
      "Values without a number yet",
      __FILE__,
      {
          {"A traced value kept for later: grad",
           CODE(Array kept; sp::grad([&](const Array& x) {
                  kept = 2.0f * x;
                  return sp::sum(x);
                })(sp::ones({3}));
                kept + 1.0f),
           CODE(const auto [grads, kept] = sp::grad([](const Array& x) {
                  return std::pair{sp::sum(x), 2.0f * x};
                })(sp::ones({3}));
                kept + 1.0f),
           "?", "?"},
          {"A traced value kept for later: vmap",
           CODE(Array kept; sp::vmap([&](const Array& x) {
                  kept = x;
                  return x;
                })(sp::ones({3}));
                sp::sin(kept)),
           CODE(const auto [y, kept] = sp::vmap([](const Array& x) {
                  return std::pair{x, x};
                })(sp::ones({3}));
                sp::sin(kept)),
           "?", "?"},
          {"A traced value kept for later: jit",
           CODE(Array kept; sp::jit([&](const Array& x) {
                  kept = x;
                  return x;
                })(sp::ones({3}));
                sp::sin(kept)),
           CODE(const auto [y, kept] = sp::jit([](const Array& x) {
                  return std::pair{x, x};
                })(sp::ones({3}));
                sp::sin(kept)),
           "?", "?"},
          {"A traced value kept for later and read",
           CODE(Array kept; sp::vmap([&](const Array& x) {
                  kept = x;
                  return x;
                })(sp::ones({3}));
                kept.item<float>()),
           CODE(sp::vmap([](const Array& x) { return x; })(sp::ones({3}))[0].item<float>()), "?",
           "?"},
          {"Deciding by a value under vmap",
           CODE(sp::vmap([](const Array& x) { return x > 0.0f ? x : -x; })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::where(x > 0.0f, x, -x); })(sp::ones({3}))),
           "?", "?"},
          {"Deciding by a value under jit",
           CODE(sp::jit([](const Array& x) { return x > 0.0f ? x : -x; })(sp::array(1.0f))),
           CODE(
               sp::jit([](const Array& x) { return sp::where(x > 0.0f, x, -x); })(sp::array(1.0f))),
           "?", "?"},
          {"Reading a number under vmap",
           CODE(sp::vmap([](const Array& x) { return x * x.item<float>(); })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return x * x; })(sp::ones({3}))), "?", "?"},
          {"Reading a number under jit",
           CODE(sp::jit([](const Array& x) { return x * x.item<float>(); })(sp::array(2.0f))),
           CODE(sp::grad([](const Array& x) { return x * x.item<float>(); })(sp::array(2.0f))), "?",
           "?"},
          {"Reading elements under jit", CODE(sp::jit([](const Array& x) {
             return sp::array(x.to_vector<float>());
           })(sp::ones({3}))),
           CODE(sp::jit([](const Array& x) { return x; })(sp::ones({3}))), "?", "?"},
          {"A mask under jit, whose result has an unknown shape",
           CODE(sp::jit([](const Array& x) { return x[x > 0.0f]; })(sp::ones({3}))),
           CODE(
               sp::jit([](const Array& x) { return sp::where(x > 0.0f, x, 0.0f); })(sp::ones({3}))),
           "?", "?"},
          {"The places of what is not zero, under jit",
           CODE(sp::jit([](const Array& x) { return sp::argwhere(x); })(sp::ones({3}))),
           CODE(sp::argwhere(sp::ones({3}))), "?", "?"},
          {"Comparing whole arrays under vmap", CODE(sp::vmap([](const Array& x) {
             return sp::allclose(x, 1.0f) ? x : -x;
           })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::where(sp::isclose(x, 1.0f), x, -x); })(
               sp::ones({3}))),
           "?", "?"},
          {"Saving a traced value", CODE(sp::jit([](const Array& x) {
             sp::io::save_npy("traced.npy", x);
             return x;
           })(sp::ones({3}))),
           CODE(sp::jit([](const Array& x) { return x; })(sp::ones({3}))), "?", "?"},
      }};
}
