// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

using Layers = std::vector<nn::Linear>;

Layers layers(int n) {
  Layers out;
  for (int i = 0; i < n; ++i) out.push_back(nn::Linear::init(sp::Key(i), 2, 2));
  return out;
}

}  // namespace

Section tree_mistakes() {
  return {"Trees",
          __FILE__,
          {
              {"Trees of different lengths", CODE(sp::tree::map(sp::add, layers(2), layers(3))),
               CODE(sp::tree::map(sp::add, layers(2), layers(2))), "?", "?"},
              {"A leaf that only one tree has",
               CODE(sp::tree::map(sp::add, nn::Linear{sp::ones({2, 2}), sp::ones({2})},
                                  nn::Linear{sp::ones({2, 2}), std::nullopt})),
               CODE(sp::tree::map(sp::add, nn::Linear{sp::ones({2, 2}), sp::ones({2})},
                                  nn::Linear{sp::ones({2, 2}), sp::ones({2})})),
               "?", "?"},
              {"Trees of one form whose arrays do not fit",
               CODE(sp::tree::map(sp::add, std::vector{sp::ones({2}), sp::ones({3})},
                                  std::vector{sp::ones({2}), sp::ones({4})})),
               CODE(sp::tree::map(sp::add, std::vector{sp::ones({2}), sp::ones({3})},
                                  std::vector{sp::ones({2}), sp::ones({3})})),
               "?", "?"},
              {"Too few leaves for a tree",
               CODE(sp::tree::unflatten(layers(1), std::vector{sp::ones({2, 2})})),
               CODE(sp::tree::unflatten(layers(1), std::vector{sp::ones({2, 2}), sp::ones({2})})),
               "?", "?"},
              {"A path that no leaf has",
               CODE(sp::tree::at(layers(2), "[0].wieght").set(sp::ones({2, 2}))),
               CODE(sp::tree::at(layers(2), "[0].weight").set(sp::ones({2, 2}))), "?", "?"},
              {"Updates for another model", CODE(sp::optim::apply_updates(layers(2), layers(1))),
               CODE(sp::optim::apply_updates(layers(2), layers(2))), "?", "?"},
              {"The state of an optimizer for another model",
               CODE(const auto adam = sp::optim::adam();
                    adam.update(layers(2), adam.init(layers(1)), layers(2))),
               CODE(const auto adam = sp::optim::adam();
                    adam.update(layers(2), adam.init(layers(2)), layers(2))),
               "?", "?"},
              {"A schedule without steps", CODE(sp::optim::cosine_decay(1e-3f, 0)),
               CODE(sp::optim::cosine_decay(1e-3f, 10)), "?", "?"},
              {"A name that is not there",
               CODE(const sp::NamedArrays all{{"out.weight", sp::ones({2})}}; all.at("out.wieght")),
               CODE(const sp::NamedArrays all{{"out.weight", sp::ones({2})}}; all.at("out.weight")),
               "?", "?"},
              {"A name given twice",
               CODE(sp::NamedArrays all{{"a", sp::ones({2})}}; all.insert("a", sp::ones({2}))),
               CODE(sp::NamedArrays all{{"a", sp::ones({2})}}; all.insert("b", sp::ones({2}))), "?",
               "?"},
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
           "?", "?"},
          {"No key", CODE(sp::random::uniform(sp::Key(), {3})),
           CODE(sp::random::uniform(sp::Key(0), {3})), "?", "?"},
          {"One key out of one", CODE(sp::Key(0)[1]), CODE(sp::random::split(sp::Key(0), 2)[1]),
           "?", "?"},
          {"A key beyond the batch", CODE(sp::random::split(sp::Key(0), 2)[2]),
           CODE(sp::random::split(sp::Key(0), 2)[-1]), "?", "?"},
          {"Data that is no key", CODE(sp::Key::wrap(sp::ones({2}))),
           CODE(sp::Key::wrap(sp::ones({2}, sp::uint32))), "?", "?"},
          {"A negative number of keys", CODE(sp::random::split(sp::Key(0), -1)),
           CODE(sp::random::split(sp::Key(0), 1)), "?", "?"},
          {"A number that does not fit into a key",
           CODE(sp::random::fold_in(sp::Key(0), int64_t{1} << 40)),
           CODE(sp::random::fold_in(sp::Key(0), 1)), "?", "?"},
          {"Uniform integers from uniform",
           CODE(sp::random::uniform(sp::Key(0), {3}, {.dtype = sp::int32})),
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 10)), "?", "?"},
          {"A range upside down", CODE(sp::random::uniform(sp::Key(0), {3}, {.low = 1, .high = 0})),
           CODE(sp::random::uniform(sp::Key(0), {3}, {.low = 0, .high = 1})), "?", "?"},
          {"An empty range of integers", CODE(sp::random::randint(sp::Key(0), {3}, 5, 5)),
           CODE(sp::random::randint(sp::Key(0), {3}, 5, 6)), "?", "?"},
          {"A range that the dtype does not hold",
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 1000, {.dtype = sp::int8})),
           CODE(sp::random::randint(sp::Key(0), {3}, 0, 1000, {.dtype = sp::int16})), "?", "?"},
          {"More draws than there are",
           CODE(sp::random::choice(sp::Key(0), 3, {4}, {.replace = false})),
           CODE(sp::random::choice(sp::Key(0), 3, {3}, {.replace = false})), "?", "?"},
          {"Integer logits", CODE(sp::random::categorical(sp::Key(0), sp::arange(3))),
           CODE(sp::random::categorical(sp::Key(0), sp::arange(3.0f))), "?", "?"},
      }};
}
