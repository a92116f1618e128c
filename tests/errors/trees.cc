// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Pair {
  Array w, b;
};
struct Single {
  Array w;
};

}  // namespace

Section tree_mistakes() {
  return {
      "Trees",
      __FILE__,
      {
          {"Trees of different lengths", CODE(sp::tree::map(sp::add, layers(2), layers(3))),
           CODE(sp::tree::map(sp::add, layers(2), layers(2))), "TreeError",
           "tree::map: the trees have different forms: at the root: 2 entries in the first, 3 "
           "entries in the second" HERE},
          {"A leaf that the first tree has besides",
           CODE(sp::tree::map(sp::add, Pair{sp::ones({2}), sp::ones({2})}, Single{sp::ones({2})})),
           CODE(sp::tree::map(sp::add, Single{sp::ones({2})}, Single{sp::ones({2})})), "TreeError",
           "tree::map: the trees have different forms: the first also has b: *" HERE},
          {"A leaf that the second tree has besides",
           CODE(sp::tree::map(sp::add, Single{sp::ones({2})}, Pair{sp::ones({2}), sp::ones({2})})),
           CODE(sp::tree::map(sp::add, Single{sp::ones({2})}, Single{sp::ones({2})})), "TreeError",
           "tree::map: the trees have different forms: the second also has b: *" HERE},
          {"A leaf that only one tree has",
           CODE(sp::tree::map(sp::add, nn::Linear{sp::ones({2, 2}), sp::ones({2})},
                              nn::Linear{sp::ones({2, 2}), std::nullopt})),
           CODE(sp::tree::map(sp::add, nn::Linear{sp::ones({2, 2}), sp::ones({2})},
                              nn::Linear{sp::ones({2, 2}), sp::ones({2})})),
           "TreeError",
           "tree::map: the trees have different forms: at bias: 1 entries in the first, 0 "
           "entries in the second" HERE},
          {"Trees of one form whose arrays do not fit",
           CODE(sp::tree::map(sp::add, std::vector{sp::ones({2}), sp::ones({3})},
                              std::vector{sp::ones({2}), sp::ones({4})})),
           CODE(sp::tree::map(sp::add, std::vector{sp::ones({2}), sp::ones({3})},
                              std::vector{sp::ones({2}), sp::ones({3})})),
           "ShapeError",
           "add: f32[3], f32[4] do not broadcast: axis -1 has sizes 3 and 4; sizes must be "
           "equal or 1, aligned at the last axis" WITHIN},
          {"Too few leaves for a tree",
           CODE(sp::tree::unflatten(layers(1), std::vector{sp::ones({2, 2})})),
           CODE(sp::tree::unflatten(layers(1), std::vector{sp::ones({2, 2}), sp::ones({2})})),
           "TreeError", "tree::unflatten: the tree has 2 leaves, 1 were given" HERE},
          {"A path that no leaf has",
           CODE(sp::tree::at(layers(2), "0.wieght").set(sp::ones({2, 2}))),
           CODE(sp::tree::at(layers(2), "0.weight").set(sp::ones({2, 2}))), "TreeError",
           "tree::at: no leaf has the path '0.wieght'; there are 0.weight, 0.bias, "
           "1.weight, 1.bias" HERE},
          {"A name that is not there",
           CODE(const sp::NamedArrays all{{"out.weight", sp::ones({2})}}; all.at("out.wieght")),
           CODE(const sp::NamedArrays all{{"out.weight", sp::ones({2})}}; all.at("out.weight")),
           "TreeError",
           "NamedArrays: no array is named 'out.wieght'; close to it are 'out.weight'" HERE},
          {"A name given twice",
           CODE(sp::NamedArrays all{{"a", sp::ones({2})}}; all.insert("a", sp::ones({2}))),
           CODE(sp::NamedArrays all{{"a", sp::ones({2})}}; all.insert("b", sp::ones({2}))),
           "ValueError", "NamedArrays: the name 'a' is taken; names must differ" HERE},
      }};
}

Section random_mistakes() {
  return {
      "Random numbers",
      __FILE__,
      {
          {"A batch of keys where one is due",
           CODE(sp::random::normal(sp::random::split(sp::Key(0), 4), {3})),
           CODE(sp::vmap([](const sp::Key& key) { return sp::random::normal(key, {3}); })(
               sp::random::split(sp::Key(0), 4))),
           "ShapeError",
           "normal: takes one key, got a batch of keys of shape [4]; map over it with vmap, or "
           "take one with key[i]" HERE},
          {"No key", CODE(sp::random::uniform(sp::Key(), {3})),
           CODE(sp::random::uniform(sp::Key(0), {3})), "ValueError",
           "uniform: the key is empty (default-constructed); make one with Key(seed)" HERE},
          {"One key out of one", CODE(sp::Key(0)[1]), CODE(sp::random::split(sp::Key(0), 2)[1]),
           "ShapeError",
           "Key: a single key has no element 1; random::split(key, n) makes a batch of n keys"},
          {"A key beyond the batch", CODE(sp::random::split(sp::Key(0), 2)[2]),
           CODE(sp::random::split(sp::Key(0), 2)[-1]), "IndexError",
           "Key: a batch of keys of shape [2] has no key 2; use indices from -2 to 1"},
          {"Data that is no key", CODE(sp::Key::wrap(sp::ones({2}))),
           CODE(sp::Key::wrap(sp::ones({2}, sp::uint32))), "DtypeError",
           "Key::wrap: the data of a key is u32[...,2], got f32[2]; use Key(seed) for a seed" HERE},
          {"A negative number of keys", CODE(sp::random::split(sp::Key(0), -1)),
           CODE(sp::random::split(sp::Key(0), 1)), "ValueError", "split: cannot make -1 keys" HERE},
          {"A number that does not fit into a key",
           CODE(sp::random::fold_in(sp::Key(0), int64_t{1} << 40)),
           CODE(sp::random::fold_in(sp::Key(0), 1)), "ValueError",
           "fold_in: 1099511627776 does not fit in 32 bits; fold in its halves one after the "
           "other" HERE},
          {"Uniform integers from uniform",
           CODE(sp::random::uniform(sp::Key(0), {3}, {.dtype = sp::int32})),
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 10)), "DtypeError",
           "uniform: makes f16, bf16, f32 and f64, not i32; use randint or bits for integers" HERE},
          {"A range upside down", CODE(sp::random::uniform(sp::Key(0), {3}, {.low = 1, .high = 0})),
           CODE(sp::random::uniform(sp::Key(0), {3}, {.low = 0, .high = 1})), "ValueError",
           "uniform: low 1.000000 and high 0.000000 are no range of f32; low <= high must hold and "
           "both, and high - low, be finite" HERE},
          {"An empty range of integers", CODE(sp::random::randint(sp::Key(0), {3}, 5, 5)),
           CODE(sp::random::randint(sp::Key(0), {3}, 5, 6)), "ValueError",
           "randint: the range [5, 5) is empty; low must be below high" HERE},
          {"A range that the dtype does not hold",
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 1000, {.dtype = sp::int8})),
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 1000, {.dtype = sp::int16})), "ValueError",
           "randint: i8 does not hold all of [0, 1000); ask for a wider dtype or a smaller "
           "range" HERE},
          {"More draws than there are",
           CODE(sp::random::choice(sp::Key(0), 3, {4}, {.replace = false})),
           CODE(sp::random::choice(sp::Key(0), 3, {3}, {.replace = false})), "ValueError",
           "choice: cannot draw 4 of 3 without replacement; draw fewer, or set .replace" HERE},
          {"Integer logits", CODE(sp::random::categorical(sp::Key(0), sp::arange(3))),
           CODE(sp::random::categorical(sp::Key(0), sp::arange(3.0f))), "DtypeError",
           "categorical: the logits must be floating, got i32[3]; convert them with astype" HERE},
      }};
}
