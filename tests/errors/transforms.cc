// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

namespace {

Array square_sum(const Array& x) { return sp::sum(x * x); }
Array sum_of_products(const Array& a, const Array& b) { return sp::sum(a * b); }
// Calls itself without an end.
Array again(const Array& x) { return sp::jit(again)(x - 1.0f); }

}  // namespace

Section transform_mistakes() {
  return {
      "Transforms",
      __FILE__,
      {
          {"The gradient of a loss that is no number",
           CODE(sp::grad([](const Array& x) { return x * x; })(sp::ones({3}))),
           CODE(sp::grad([](const Array& x) { return sp::sum(x * x); })(sp::ones({3}))),
           "DerivativeError",
           "grad: the function must return a floating scalar, it returned f32[3]; reduce it with "
           "sum or mean, or take jacrev or vjp of it" HERE},
          {"The gradient of a function that gives its result no value",
           CODE(sp::grad([](const Array&) { return Array(); })(sp::ones({3}))),
           CODE(sp::grad([](const Array& x) { return sp::sum(x); })(sp::ones({3}))),
           "DerivativeError",
           "grad: the function returned an Array that was never given a value" HERE},
          {"A function pointer that is null",
           CODE(Array(*f)(const Array&) = nullptr; sp::jit(f)(sp::ones({3}))),
           CODE(Array(*f)(const Array&) = square_sum; sp::jit(f)(sp::ones({3}))), "ValueError",
           "jit: the function is a null pointer or an empty std::function; give it one first" HERE},
          {"A compiled function that calls itself without an end", CODE(again(sp::ones({3}))),
           CODE(sp::fori_loop(
               0, 3, [](const Array&, const Array& x) { return x - 1.0f; }, sp::ones({3}))),
           "ValueError",
           "transforms: 400 of them, or loops and branches, run within each other; does a function "
           "call itself by jit, grad, vmap or cond without an end? A loop over arrays is "
           "while_loop or scan" HERE},
          {"The gradient of an integer result",
           CODE(sp::grad([](const Array& x) { return sp::argmax(x); })(sp::ones({3}))),
           CODE(sp::grad([](const Array& x) { return sp::max(x); })(sp::ones({3}))),
           "DerivativeError",
           "grad: the function must return a floating scalar, it returned i32[]; convert it with "
           "astype" HERE},
          {"The gradient with respect to integers", CODE(sp::grad(square_sum)(sp::arange(3))),
           CODE(sp::grad(square_sum)(sp::arange(3.0f))), "DerivativeError",
           "grad: argument 0 is i32[3]; derivatives are taken with respect to Arrays of f16, bf16, "
           "f32 and f64: convert with astype, or choose another argument, as in grad<1>(f)" HERE},
          {"The Jacobian with respect to integers", CODE(sp::jacfwd(sp::sin)(sp::arange(3))),
           CODE(sp::jacfwd(sp::sin)(sp::arange(3.0f))), "DerivativeError",
           "jacfwd: argument 0 is i32[3]; derivatives are taken with respect to Arrays of f16, "
           "bf16, f32 and f64: convert with astype, or choose another argument, as in "
           "grad<1>(f)" HERE},
          {"The Hessian of a function with several results",
           CODE(sp::hessian(sp::sin)(sp::ones({3}))), CODE(sp::hessian(square_sum)(sp::ones({3}))),
           "DerivativeError",
           "hessian: the function must return a floating scalar, it returned f32[3]; reduce it "
           "with "
           "sum or mean, or take jacrev or vjp of it" HERE},
          {"A tangent of another shape",
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})}, std::tuple{sp::ones({2})})),
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})),
           "ShapeError",
           "jvp: tangent 0 is f32[2], its value is f32[3]; they must have one shape" HERE},
          {"A tangent of another dtype",
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})},
                        std::tuple{sp::ones({3}, sp::float64)})),
           CODE(sp::jvp(square_sum, std::tuple{sp::ones({3})},
                        std::tuple{sp::ones({3}, sp::float32)})),
           "DtypeError",
           "jvp: tangent 0 is f64[3], its value is f32[3]; they must have one dtype" HERE},
          {"A cotangent of another shape",
           CODE(const auto [y, pullback] = sp::vjp(sp::sin, sp::ones({3}));
                pullback(sp::ones({2}))),
           CODE(const auto [y, pullback] = sp::vjp(sp::sin, sp::ones({3}));
                pullback(sp::ones({3}))),
           "ShapeError",
           "vjp: cotangent 0 is f32[2], its value is f32[3]; they must have one shape" HERE},
          {"Mapped axes of different sizes",
           CODE(sp::vmap(sum_of_products)(sp::ones({4, 3}), sp::ones({5, 3}))),
           CODE(sp::vmap(sum_of_products)(sp::ones({4, 3}), sp::ones({4, 3}))), "ShapeError",
           "vmap: the mapped axes have different sizes: argument 0 is f32[4,3] with 4 on axis 0, "
           "argument 1 is f32[5,3] with 5 on axis 0; set in_axes to none for what is not "
           "mapped" HERE},
          {"A mapped axis that is not there",
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, 2}})(sp::ones({4, 3}), sp::ones({3, 4}))),
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, 1}})(sp::ones({4, 3}), sp::ones({3, 4}))),
           "ShapeError",
           "vmap: in_axes names axis 2 of argument 1, which is f32[3,4]; map an axis that it "
           "has, or none" HERE},
          {"Mapping a number", CODE(sp::vmap(sum_of_products)(sp::ones({4, 3}), sp::array(2.0f))),
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, sp::none}})(sp::ones({4, 3}),
                                                                      sp::array(2.0f))),
           "ShapeError",
           "vmap: in_axes names axis 0 of argument 1, which is f32[]; map an axis that it has, "
           "or none" HERE},
          {"in_axes with too few entries",
           CODE(sp::vmap(sum_of_products, {.in_axes = {0}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           CODE(sp::vmap(sum_of_products, {.in_axes = 0})(sp::ones({4, 3}), sp::ones({4, 3}))),
           "TreeError",
           "vmap: in_axes has 1 entries, and there is no entry for argument 1; give one for each "
           "argument, field or element" HERE},
          {"in_axes with too many entries",
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, 0, sp::none}})(sp::ones({4, 3}),
                                                                         sp::ones({4, 3}))),
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, 0}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           "TreeError",
           "vmap: in_axes has 3 entries for 2 arguments, fields or elements; give one for "
           "each" HERE},
          {"in_axes with a list for an array",
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, {0, 1}}})(sp::ones({4, 3}),
                                                                    sp::ones({4, 3}))),
           CODE(sp::vmap(sum_of_products, {.in_axes = {0, 0}})(sp::ones({4, 3}), sp::ones({4, 3}))),
           "TreeError",
           "vmap: in_axes has a list for argument 1, which is a single array; give one axis or "
           "none" HERE},
          {"Nothing is mapped",
           CODE(sp::vmap(sum_of_products, {.in_axes = sp::none})(sp::ones({3}), sp::ones({3}))),
           CODE(sum_of_products(sp::ones({3}), sp::ones({3}))), "TreeError",
           "vmap: no argument is mapped: in_axes is none for every array; map at least one "
           "axis" HERE},
          {"No axis for a result that has one",
           CODE(sp::vmap(sp::sin, {.out_axes = sp::none})(sp::ones({3}))),
           CODE(sp::vmap(sp::sin, {.out_axes = 0})(sp::ones({3}))), "TreeError",
           "vmap: out_axes is none for the result, f32[], which depends on the mapped arguments; "
           "give it an axis" HERE},
          {"An axis for a result beyond its rank",
           CODE(sp::vmap(sp::sin, {.out_axes = 2})(sp::ones({3, 2}))),
           CODE(sp::vmap(sp::sin, {.out_axes = 1})(sp::ones({3, 2}))), "ShapeError",
           "vmap: out_axes names axis 2 of a result whose slices are f32[2]; it must be within the "
           "rank of the stacked result, 2" HERE},
          {"A shape that is wrong inside of vmap",
           CODE(sp::vmap([](const Array& x) { return x + sp::zeros({4}); })(sp::ones({5, 3}))),
           CODE(sp::vmap([](const Array& x) { return x + sp::zeros({3}); })(sp::ones({5, 3}))),
           "ShapeError",
           "add: f32[5,3], f32[4] do not broadcast: axis -1 has sizes 3 and 4; sizes must be equal "
           "or 1, aligned at the last axis" HERE},
          {"A sum over an axis that no vmap has",
           CODE(sp::vmap([](const Array& x) { return sp::psum(x, "batch"); })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::psum(x, "batch"); },
                         {.axis_name = "batch"})(sp::ones({3}))),
           "ValueError",
           "psum: no enclosing vmap has the axis_name 'batch'; name it: vmap(f, {.axis_name = "
           "\"batch\"})" HERE},
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
           "DerivativeError",
           "custom_vjp: the function has a rule for reverse mode only; forward mode (jvp, jacfwd, "
           "linearize) needs custom_jvp" WITHIN},
          {"A vector of another length for a tree",
           CODE(const auto raveled = sp::tree::ravel(std::pair{sp::ones({2}), sp::ones({3})});
                raveled.unravel(sp::ones({4}))),
           CODE(const auto raveled = sp::tree::ravel(std::pair{sp::ones({2}), sp::ones({3})});
                raveled.unravel(sp::ones({5}))),
           "ShapeError", "tree::unravel: the vector is f32[4], the tree has 5 elements" HERE},
          {"A graph that uses a value before it is defined",
           CODE(sp::Graph graph = sp::make_graph(square_sum)(sp::ones({2}));
                std::swap(graph.equations[0], graph.equations[1]); sp::check(graph)),
           CODE(sp::check(sp::make_graph(square_sum)(sp::ones({2})))), "GraphError",
           "check: equation 0, `c: f32[] = reduce_sum[axes=[0]] b`: input b is not defined before "
           "it" HERE},
          {"Text that is no graph",
           CODE(sp::parse_graph("graph(a: f32[2]) {\n  b: f32[2] = sine a\n  return b\n}")),
           CODE(sp::parse_graph("graph(a: f32[2]) {\n  b: f32[2] = sin a\n  return b\n}")),
           "GraphError", "parse_graph: line 2, column 15: there is no primitive `sine`" HERE},
          {"A graph for arguments of other types",
           CODE(const sp::Graph graph = sp::make_graph(square_sum)(sp::ones({2}));
                sp::evaluate(graph, std::vector{sp::ones({3})})),
           CODE(const sp::Graph graph = sp::make_graph(square_sum)(sp::ones({2}));
                sp::evaluate(graph, std::vector{sp::ones({2})})),
           "ShapeError", "evaluate: argument 0 is f32[3], the graph takes f32[2]" HERE},
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
           "TracerError",
           "add: a traced value of grad of type f32[3] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
          {"A traced value as the result of another function",
           CODE(Array kept; sp::grad([&](const Array& x) { return kept = x * x; })(sp::ones({}));
                sp::grad([&](const Array&) { return kept; })(sp::ones({}))),
           CODE(Array kept; sp::grad([&](const Array& x) { return kept = x * x; })(sp::ones({}));
                sp::grad([&](const Array& x) { return x; })(sp::ones({}))),
           "TracerError",
           "grad: a traced value of grad of type f32[] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
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
           "TracerError",
           "sin: a traced value of vmap of type f32[] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
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
           "TracerError",
           "sin: a traced value of jit of type f32[3] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
          {"A traced value kept for later and captured by jit",
           CODE(Array kept; sp::grad([&](const Array& x) {
                  kept = 2.0f * x;
                  return sp::sum(x);
                })(sp::ones({3}));
                sp::jit([&](const Array& x) { return x + kept; })(sp::ones({3}))),
           CODE(const auto [grads, kept] = sp::grad([](const Array& x) {
                  return std::pair{sp::sum(x), 2.0f * x};
                })(sp::ones({3}));
                const Array scaled = kept;
                sp::jit([&](const Array& x) { return x + scaled; })(sp::ones({3}))),
           "TracerError",
           "add: a traced value of grad of type f32[3] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
          {"A traced value kept for later and read",
           CODE(Array kept; sp::vmap([&](const Array& x) {
                  kept = x;
                  return x;
                })(sp::ones({3}));
                kept.item<float>()),
           CODE(sp::vmap([](const Array& x) { return x; })(sp::ones({3}))[0].item<float>()),
           "TracerError",
           "item: a traced value of vmap of type f32[] is used outside of the function that it "
           "was traced in, or on another thread; return it from that function (or hand it on as "
           "a second result) instead of storing it elsewhere" HERE},
          {"Deciding by a value under vmap",
           CODE(sp::vmap([](const Array& x) { return x > 0.0f ? x : -x; })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::where(x > 0.0f, x, -x); })(sp::ones({3}))),
           "TracerError",
           "bool: a traced value of vmap of type bool[] has no value while its function is traced; "
           "use where instead of if and ?:, & instead of &&, | instead of ||, or hand the value "
           "out "
           "as a result" WITHIN},
          {"Deciding by a value under jit",
           CODE(sp::jit([](const Array& x) { return x > 0.0f ? x : -x; })(sp::array(1.0f))),
           CODE(
               sp::jit([](const Array& x) { return sp::where(x > 0.0f, x, -x); })(sp::array(1.0f))),
           "TracerError",
           "bool: a traced value of jit of type bool[] has no value while its function is traced; "
           "use where instead of if and ?:, & instead of &&, | instead of ||, or hand the value "
           "out "
           "as a result" WITHIN},
          {"Joining conditions with && under jit", CODE(sp::jit([](const Array& x) {
             return sp::where(x > 0.0f && x < 1.0f, x, 0.0f);
           })(sp::ones({3}))),
           CODE(sp::jit([](const Array& x) { return sp::where((x > 0.0f) & (x < 1.0f), x, 0.0f); })(
               sp::ones({3}))),
           "TracerError",
           "bool: a traced value of jit of type bool[3] has no value while its function is traced; "
           "use where instead of if and ?:, & instead of &&, | instead of ||, or hand the value "
           "out "
           "as a result" WITHIN},
          {"Reading a number under vmap",
           CODE(sp::vmap([](const Array& x) { return x * x.item<float>(); })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return x * x; })(sp::ones({3}))), "TracerError",
           "item: a traced value of vmap of type f32[] has no value while its function is traced; "
           "use where or another array operation instead, or hand the value out as a result" HERE},
          {"Reading a number under jit",
           CODE(sp::jit([](const Array& x) { return x * x.item<float>(); })(sp::array(2.0f))),
           CODE(sp::jit([](const Array& x) { return x * x; })(sp::array(2.0f)).item<float>()),
           "TracerError",
           "item: a traced value of jit of type f32[] has no value while its function is traced; "
           "use where or another array operation instead, or hand the value out as a result" HERE},
          {"Reading elements under jit", CODE(sp::jit([](const Array& x) {
             return sp::array(x.to_vector<float>());
           })(sp::ones({3}))),
           CODE(sp::jit([](const Array& x) { return x; })(sp::ones({3}))), "TracerError",
           "to_vector: a traced value of jit of type f32[3] has no value while its function is "
           "traced; use where or another array operation instead, or hand the value out as a "
           "result" HERE},
          {"A mask under jit, whose result has an unknown shape",
           CODE(sp::jit([](const Array& x) { return x[x > 0.0f]; })(sp::ones({3}))),
           CODE(
               sp::jit([](const Array& x) { return sp::where(x > 0.0f, x, 0.0f); })(sp::ones({3}))),
           "TracerError",
           "operator[]: the shape of x[mask] depends on the values of the mask, a traced value of "
           "jit of type bool[3], which are not known while its function is traced; use where(mask, "
           "x, other), which keeps the shape" HERE},
          {"The places of what is not zero, under jit",
           CODE(sp::jit([](const Array& x) { return sp::argwhere(x); })(sp::ones({3}))),
           CODE(sp::argwhere(sp::ones({3}))), "TracerError",
           "argwhere: the shape of the result depends on the values of a traced value of jit of "
           "type f32[3], which are not known while its function is traced; use where(condition, a, "
           "b)" HERE},
          {"Comparing whole arrays under vmap", CODE(sp::vmap([](const Array& x) {
             return sp::allclose(x, 1.0f) ? x : -x;
           })(sp::ones({3}))),
           CODE(sp::vmap([](const Array& x) { return sp::where(sp::isclose(x, 1.0f), x, -x); })(
               sp::ones({3}))),
           "TracerError",
           "allclose: a traced value of vmap of type f32[] has no value while its function is "
           "traced; use isclose or equal, whose result is an array" HERE},
          {"Saving a traced value", CODE(sp::jit([](const Array& x) {
             sp::io::save_npy("traced.npy", x);
             return x;
           })(sp::ones({3}))),
           CODE(sp::jit([](const Array& x) { return x; })(sp::ones({3}))), "TracerError",
           "save_npy: the array 'traced.npy' of type f32[3] has no value while its function is "
           "traced; return it and save it outside" HERE},
      }};
}
