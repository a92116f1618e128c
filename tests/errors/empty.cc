// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Affine {
  Array w, b;
};
Array same(const Array& x) { return x; }
Array forward(const std::vector<Affine>& net, const Array& x) {
  Array y = x;
  for (const Affine& layer : net) y = sp::matmul(y, layer.w) + layer.b;
  return y;
}

}  // namespace

#define EMPTY(op, argument)                          \
  op ": this Array is empty, the argument " argument \
     " (default-constructed, or moved from); give it a value before it is used" HERE

Section empty_mistakes() {
  return {
      "Arrays that are empty",
      __FILE__,
      {
          {"A weight that was moved away",
           CODE(Array w = sp::ones({2, 2}); const Array kept = std::move(w);
                nn::linear(sp::ones({2}), w)),
           CODE(Array w = sp::ones({2, 2}); const Array kept = w; nn::linear(sp::ones({2}), w)),
           "ValueError", EMPTY("linear", "weight")},
          {"An element of an empty array", CODE(Array x; x[0]), CODE(Array x = sp::ones({1}); x[0]),
           "ValueError", EMPTY("operator[]", "x")},
          {"An empty array as index", CODE(Array i; sp::arange(3)[i]),
           CODE(Array i = sp::array({0}); sp::arange(3)[i]), "ValueError",
           EMPTY("operator[]", "index")},
          {"An update of an empty array", CODE(Array x; x.at(0).add(1.0f)),
           CODE(Array x = sp::ones({1}); x.at(0).add(1.0f)), "ValueError", EMPTY("at.add", "x")},
          {"An update by an empty array", CODE(Array v; sp::ones({2}).at(0).subtract(v)),
           CODE(Array v = 1.0f; sp::ones({2}).at(0).subtract(v)), "ValueError",
           EMPTY("at.subtract", "v")},
          {"Padding with an empty array", CODE(sp::pad(sp::ones({2}), 1, {.value = Array()})),
           CODE(sp::pad(sp::ones({2}), 1, {.value = 0})), "ValueError", EMPTY("pad", "value")},
          {"A start that is empty", CODE(sp::dynamic_slice(sp::ones({2, 2}), {0, Array()}, {1, 1})),
           CODE(sp::dynamic_slice(sp::ones({2, 2}), {0, 1}, {1, 1})), "ValueError",
           EMPTY("dynamic_slice", "1 of the list")},
          {"Memory of an empty array", CODE(sp::to_dlpack(Array())),
           CODE(sp::to_dlpack(sp::ones({2}))), "ValueError", EMPTY("to_dlpack", "x")},
          {"A target that is empty", CODE(nn::mse_loss(sp::ones({2}), Array())),
           CODE(nn::mse_loss(sp::ones({2}), sp::ones({2}))), "ValueError",
           EMPTY("mse_loss", "target")},
          {"Labels that are empty", CODE(nn::cross_entropy(sp::ones({2, 3}), Array())),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "ValueError",
           EMPTY("cross_entropy", "target")},
          {"A layer that nobody has made", CODE(nn::Conv2d layer; layer(sp::ones({1, 4, 4}))),
           CODE(const auto layer = nn::Conv2d::init(sp::Key(0), 1, 2, 3);
                layer(sp::ones({1, 4, 4}))),
           "ValueError", EMPTY("Conv2d", "weight")},
          {"Attention without values",
           CODE(const Array q = sp::ones({2, 4}); nn::scaled_dot_product_attention(q, q, Array())),
           CODE(const Array q = sp::ones({2, 4}); nn::scaled_dot_product_attention(q, q, q)),
           "ValueError", EMPTY("scaled_dot_product_attention", "value")},
          {"A bound that is empty",
           CODE(sp::random::randint(sp::Key(0), {2}, sp::array(0), Array())),
           CODE(sp::random::randint(sp::Key(0), {2}, sp::array(0), sp::array(9))), "ValueError",
           EMPTY("randint", "high")},
          {"A predicate that is empty", CODE(sp::cond(Array(), same, same, sp::ones({2}))),
           CODE(sp::cond(Array(true), same, same, sp::ones({2}))), "ValueError",
           EMPTY("cond", "predicate")},
          {"A tree with an empty leaf as a vector",
           CODE(const Affine a{sp::ones({2}), {}}; sp::tree::ravel(a)),
           CODE(const Affine a{sp::ones({2}), sp::ones({2})}; sp::tree::ravel(a)), "ValueError",
           EMPTY("tree::ravel", "b")},
          {"An empty array for a function by name", CODE(sp::jit(sp::sum)(Array())),
           CODE(sp::jit(sp::sum)(sp::ones({2}))), "ValueError",
           "sum: this Array is empty (default-constructed, or moved from); give it a value before "
           "it is used; empty among the arguments of jit: argument 0" WITHIN},
          {"A layer without a weight among the arguments of a compiled function",
           CODE(std::vector<Affine> net(2, {sp::ones({2, 2}), sp::ones({2})}); net[1].w = Array();
                sp::jit(forward)(net, sp::ones({2}))),
           CODE(std::vector<Affine> net(2, {sp::ones({2, 2}), sp::ones({2})});
                sp::jit(forward)(net, sp::ones({2}))),
           "ValueError",
           "matmul: this Array is empty, the argument b (default-constructed, or moved from); give "
           "it a value before it is used; empty among the arguments of jit: argument 0 at "
           "1.w" HERE},
          {"A layer without a bias under a gradient",
           CODE(std::vector<Affine> net{{sp::ones({2, 2}), {}}}; sp::jit([](const auto& n) {
                  return sp::grad([](const auto& m) { return sp::sum(forward(m, sp::ones({2}))); })(
                      n);
                })(net)),
           CODE(std::vector<Affine> net{{sp::ones({2, 2}), sp::ones({2})}};
                sp::jit([](const auto& n) {
                  return sp::grad([](const auto& m) { return sp::sum(forward(m, sp::ones({2}))); })(
                      n);
                })(net)),
           "ValueError",
           "add: this Array is empty, the argument b (default-constructed, or moved from); give it "
           "a value before it is used; empty among the arguments of grad: argument 0 at 0.b" HERE},
          {"Weights that vmap is given empty",
           CODE(sp::vmap(forward, {sp::none, 0})(std::vector<Affine>(3), sp::ones({4, 2}))),
           CODE(sp::vmap(forward, {sp::none, 0})(
               std::vector<Affine>{{sp::ones({2, 2}), sp::ones({2})}}, sp::ones({4, 2}))),
           "ValueError",
           "matmul: this Array is empty, the argument b (default-constructed, or moved from); give "
           "it a value before it is used; empty among the arguments of vmap: argument 0 at 0.w, "
           "argument 0 at 0.b, argument 0 at 1.w, argument 0 at 1.b and 2 others" HERE},
          {"A carry with an empty leaf",
           CODE(const Affine start{sp::ones({2}), {}}; sp::scan(
                    [](const Affine& c, const Array& x) {
                      return std::pair{Affine{c.w + x, c.b * x}, sp::none};
                    },
                    start, sp::ones({3}))),
           CODE(const Affine start{sp::ones({2}), sp::ones({2})}; sp::scan(
                    [](const Affine& c, const Array& x) {
                      return std::pair{Affine{c.w + x, c.b * x}, sp::none};
                    },
                    start, sp::ones({3}))),
           "ValueError",
           "multiply: this Array is empty, the argument a (default-constructed, or moved from); "
           "give it a value before it is used; empty among the arguments of the function of scan: "
           "argument 0 at b" HERE},
          {"A branch whose operand has an empty leaf",
           CODE(const auto f = [](const Affine& a, const Array& x) { return x * a.w + a.b; };
                sp::cond(Array(true), f, f, Affine{{}, sp::ones({2})}, sp::ones({2}))),
           CODE(const auto f = [](const Affine& a, const Array& x) { return x * a.w + a.b; };
                sp::cond(Array(true), f, f, Affine{sp::ones({2}), sp::ones({2})}, sp::ones({2}))),
           "ValueError",
           "multiply: this Array is empty, the argument b (default-constructed, or moved from); "
           "give it a value before it is used; empty among the arguments of the function of cond: "
           "argument 0 at w" HERE},
          {"A loop that is given nothing",
           CODE(sp::fori_loop(
               0, 3, [](const Array& i, const Array& x) { return x + i; }, Array())),
           CODE(sp::fori_loop(
               0, 3, [](const Array& i, const Array& x) { return x + i; }, sp::array(0))),
           "ValueError",
           "add: this Array is empty, the argument a (default-constructed, or moved from); give it "
           "a value before it is used; empty among the arguments of the function of fori_loop: "
           "argument 1" HERE},
          {"Updates with an empty leaf",
           CODE(const Affine a{sp::ones({2}), sp::ones({2})};
                sp::optim::apply_updates(a, Affine{a.w, {}})),
           CODE(const Affine a{sp::ones({2}), sp::ones({2})};
                sp::optim::apply_updates(a, Affine{a.w, a.b})),
           "TreeError",
           "apply_updates: f32[2] meets an empty array at b; gradients, parameters and state must "
           "come from one model" HERE},
      }};
}
