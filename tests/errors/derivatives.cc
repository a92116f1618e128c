// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

namespace {

struct Model {
  Array weight, bias;
};

Array square_sum(const Array& x) { return sp::sum(x * x); }
Array penalty(const Model& m) { return sp::sum(m.weight * m.weight) + sp::sum(m.bias); }
Array total(const std::vector<Array>& xs) {
  Array out = 0.0f;
  for (const Array& x : xs) out += sp::sum(x);
  return out;
}
Array noise(const sp::Key& key) { return sp::sum(sp::random::normal(key, {3})); }

// x * y with a rule that gives these as the derivatives of x and y.
template <class Bwd>
Array product(const Bwd& bwd) {
  const auto f = sp::custom_vjp([](const Array& x, const Array& y) { return x * y; },
                                [](const Array& x, const Array& y) {
                                  return std::pair{x * y, std::pair{x, y}};
                                },
                                bwd);
  return sp::grad([&](const Array& x) { return sp::sum(f(x, x)); })(sp::ones({2}));
}
using Two = std::pair<Array, Array>;

// The square root of 2 by Newton's method, or by `solve`.
template <class Solve>
Array root(const Solve& solve) {
  return sp::custom_root([](const Array& x) { return x * x - 2.0f; }, sp::array(1.0f), solve,
                         [](const auto& j, const Array& y) { return y / j(sp::ones({})); });
}

// The x with x - a = 0.
template <class Solve>
Array root_of(const Array& a, const Solve& solve) {
  return sp::custom_root([&](const Array& x) { return x - a; }, sp::array(5.0f), solve,
                         [](const auto& j, const Array& y) { return y / j(sp::ones({})); });
}

}  // namespace

Section derivative_mistakes() {
  return {
      "Derivatives",
      __FILE__,
      {
          {"The gradient with respect to a model that was moved from",
           CODE(Model model{sp::ones({2, 2}), sp::ones({2})};
                const Model other = sp::jit([](const Model& m) { return m; })(std::move(model));
                sp::grad(penalty)(model)),
           CODE(Model model{sp::ones({2, 2}), sp::ones({2})};
                const Model other = sp::jit([](const Model& m) { return m; })(std::move(model));
                sp::grad(penalty)(other)),
           "DerivativeError",
           "grad: all 2 arrays are undefined, the first is argument 0 at weight: they have been "
           "moved from, as by step(std::move(model)), or were never given values" HERE},
          {"The gradient with respect to nothing", CODE(sp::grad(total)(std::vector<Array>{})),
           CODE(sp::grad(total)(std::vector<Array>{sp::ones({2})})), "DerivativeError",
           "grad: argument 0 is empty: there is no array to take the derivative of" HERE},
          {"The gradient with respect to an array that has no value yet",
           CODE(sp::grad(square_sum)(Array())), CODE(sp::grad(square_sum)(sp::zeros({2}))),
           "DerivativeError",
           "grad: argument 0 is an undefined Array (default-constructed, or moved from); give it a "
           "value before" HERE},
          {"The gradient with respect to a key", CODE(sp::grad(noise)(sp::Key(0))),
           CODE(sp::grad([](const Array& scale, const sp::Key& key) { return scale * noise(key); })(
               sp::array(2.0f), sp::Key(0))),
           "DerivativeError",
           "grad: argument 0 is a Key; derivatives are taken with respect to Arrays of f16, bf16, "
           "f32 and f64: convert with astype, or choose another argument, as in grad<1>(f)" HERE},
          {"Reading a number that has a derivative",
           CODE(sp::grad([](const Array& x) { return x * x.item<float>(); })(sp::array(2.0f))),
           CODE(sp::grad([](const Array& x) { return x * sp::stop_gradient(x).item<float>(); })(
               sp::array(2.0f))),
           "TracerError",
           "item: a traced value of grad of type f32[] is read as C++ numbers, which have no "
           "derivative; read stop_gradient(x), or hand the value out as a second result" HERE},
          {"Reading elements that have a derivative",
           CODE(sp::jvp([](const Array& x) { return x * x.to_vector<float>()[0]; },
                        std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})),
           CODE(sp::jvp([](const Array& x) { return x * x[0]; }, std::tuple{sp::ones({3})},
                        std::tuple{sp::ones({3})})),
           "TracerError",
           "to_vector: a traced value of jvp of type f32[3] is read as C++ numbers, which have no "
           "derivative; read stop_gradient(x), or hand the value out as a second result" HERE},
          {"Looking at elements that have a derivative",
           CODE(sp::vjp([](const Array& x) { return x * x.data<float>()[0]; }, sp::ones({3}))),
           CODE(sp::vjp([](const Array& x) { return x * x[0]; }, sp::ones({3}))), "TracerError",
           "data: a traced value of vjp of type f32[3] is read as C++ numbers, which have no "
           "derivative; read stop_gradient(x), or hand the value out as a second result" HERE},
          {"A rule whose cotangent has another shape",
           CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{sp::ones({7}), ct * r.first};
           })),
           CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{ct * r.second, ct * r.first};
           })),
           "ShapeError",
           "custom_vjp: bwd returned f32[7] as the cotangent of argument 0, which is f32[2]; they "
           "must have one shape" WITHIN},
          {"A rule whose cotangent has another dtype",
           CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{ct * r.second, sp::astype(ct * r.first, sp::float64)};
           })),
           CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{ct * r.second, ct * r.first};
           })),
           "DtypeError",
           "custom_vjp: bwd returned f64[2] as the cotangent of argument 1, which is f32[2]; they "
           "must have one dtype: convert it with astype" WITHIN},
          {"A rule that leaves a cotangent out", CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{ct * r.second, 0.0f};
           })),
           CODE(product([](const Two& r, const Array& ct) {
             return std::tuple{ct * r.second, Array()};
           })),
           "TreeError",
           "custom_vjp: bwd returned no cotangent for argument 1; return one cotangent for each "
           "array, in its place; an undefined Array is zero" WITHIN},
          {"A rule whose tangent has another shape",
           CODE(const auto f = sp::custom_jvp(
                    [](const Array& x) { return 2.0f * x; },
                    [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                      return std::pair{2.0f * std::get<0>(p), sp::sum(std::get<0>(t))};
                    });
                sp::jvp(f, std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})),
           CODE(const auto f =
                    sp::custom_jvp([](const Array& x) { return 2.0f * x; },
                                   [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                     return std::pair{2.0f * std::get<0>(p), 2.0f * std::get<0>(t)};
                                   });
                sp::jvp(f, std::tuple{sp::ones({3})}, std::tuple{sp::ones({3})})),
           "ShapeError",
           "custom_jvp: the rule returned f32[] as the tangent of the result, which is f32[3]; "
           "they "
           "must have one shape" WITHIN},
          {"A rule that captures what is differentiated", CODE(sp::grad([](const Array& a) {
             const auto scaled =
                 sp::custom_vjp([&](const Array& x) { return a * x; },
                                [&](const Array& x) {
                                  return std::pair{a * x, x};
                                },
                                [&](const Array&, const Array& ct) { return std::tuple{a * ct}; });
             return scaled(a);
           })(sp::ones({}))),
           CODE(sp::grad([](const Array& a) {
             const auto scaled =
                 sp::custom_vjp([](const Array& a, const Array& x) { return a * x; },
                                [](const Array& a, const Array& x) {
                                  return std::pair{a * x, std::pair{a, x}};
                                },
                                [](const Two& r, const Array& ct) {
                                  return std::tuple{r.second * ct, r.first * ct};
                                });
             return scaled(a, a);
           })(sp::ones({}))),
           "TracerError",
           "custom_vjp: a function that it was given captures a traced value of grad of type "
           "f32[]; hand it over as an argument of the function, so that the derivative rule knows "
           "of it; bwd gets what it needs as residuals" HERE},
          {"A solver that captures what is differentiated", CODE(sp::grad([](const Array& a) {
             return root_of(a, [&](const auto&, const Array& x) { return x - (x - a); });
           })(sp::ones({}))),
           CODE(sp::grad([](const Array& a) {
             return root_of(a, [](const auto& f, const Array& x) { return x - f(x); });
           })(sp::ones({}))),
           "TracerError",
           "custom_root: a function that it was given captures a traced value of grad of type "
           "f32[]; f may do so, but solve and tangent_solve reach it through the function that "
           "they are called with" HERE},
          {"A root of another shape than its guess",
           CODE(root([](const auto&, const Array&) { return sp::full({2}, 1.414f); })),
           CODE(root([](const auto&, const Array&) { return sp::array(1.414f); })), "ShapeError",
           "custom_root: the guess is f32[], what solve returned is f32[2]; a root has the type of "
           "the guess" HERE},
          {"A root of another dtype than its guess",
           CODE(root([](const auto&, const Array&) { return sp::array(1.414, sp::float64); })),
           CODE(root([](const auto&, const Array&) { return sp::array(1.414f); })), "DtypeError",
           "custom_root: the guess is f32[], what solve returned is f64[]; a root has the type of "
           "the guess" HERE},
          {"A solution of another dtype",
           CODE(sp::custom_linear_solve(
               [](const Array& x) { return 2.0f * x; }, sp::ones({3}),
               [](const auto&, const Array& b) { return sp::astype(b, sp::float64) / 2.0f; })),
           CODE(sp::custom_linear_solve([](const Array& x) { return 2.0f * x; }, sp::ones({3}),
                                        [](const auto&, const Array& b) { return b / 2.0f; })),
           "DtypeError",
           "custom_linear_solve: b is f32[3], the solution is f64[3]; the map takes trees like b "
           "to "
           "trees like b" HERE},
          {"Mapping one key", CODE(sp::vmap(noise)(sp::Key(0))),
           CODE(sp::vmap(noise)(sp::random::split(sp::Key(0), 4))), "ShapeError",
           "vmap: argument 0 is one key, which has no axis to map over; give a key for each "
           "example, random::split(key, n), or in_axes with none for it, so that all share "
           "it" HERE},
          {"A compiled function whose result is larger than the memory",
           CODE(sp::jit([](const Array& x) {
             return sp::broadcast_to(x, {1 << 25, 1 << 25});
           })(sp::array(1.0f))),
           CODE(sp::jit([](const Array& x) {
             return sp::broadcast_to(x, {25, 25});
           })(sp::array(1.0f))),
           "DeviceError",
           "jit: there is no memory on the device cpu for the compiled function 'jit': its plan "
           "takes 0 bytes for what it computes on the way and 4503599627370496 bytes for results; "
           "lower().memory() says which values these are" HERE},
      }};
}
