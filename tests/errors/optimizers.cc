// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
namespace optim = spruce::optim;
using sp::Array;

Section optimizer_mistakes() {
  return {
      "Optimizers",
      __FILE__,
      {
          {"Updates for another model", CODE(optim::apply_updates(layers(2), layers(1))),
           CODE(optim::apply_updates(layers(2), layers(2))), "TreeError",
           "apply_updates: the trees have different forms: at the root: 2 entries in the first, 1 "
           "entries in the second" HERE},
          {"Updates for a model that was moved from",
           CODE(auto net = layers(1); const auto next = std::move(net[0]);
                optim::apply_updates(net, layers(1))),
           CODE(auto net = layers(1); optim::apply_updates(net, layers(1))), "TreeError",
           "apply_updates: all arrays of the parameters are undefined: they have been moved from, "
           "as by step(std::move(model)), or were never given values" HERE},
          {"The state of an optimizer for another model",
           CODE(const auto adam = optim::adam();
                adam.update(layers(2), adam.init(layers(1)), layers(2))),
           CODE(const auto adam = optim::adam();
                adam.update(layers(2), adam.init(layers(2)), layers(2))),
           "TreeError",
           "adam: the trees have different forms: at the root: 2 entries in the first, 1 "
           "entries in the second" HERE},
          {"Updates for a layer of another size",
           CODE(auto wide = layers(2); wide[1] = nn::Linear::init(sp::Key(0), 2, 3);
                optim::apply_updates(layers(2), wide)),
           CODE(optim::apply_updates(layers(2), layers(2))), "ShapeError",
           "apply_updates: f32[2,2] meets f32[3,2] at 1.weight; gradients, parameters and state "
           "must come from one model" HERE},
          {"A schedule that is all warmup", CODE(optim::warmup_cosine_decay(0.0f, 1e-3f, 10, 10)),
           CODE(optim::warmup_cosine_decay(0.0f, 1e-3f, 10, 100)), "ValueError",
           "warmup_cosine_decay: 10 steps of warmup in a total of 10; the total counts both and "
           "must be the larger one" HERE},
          {"A schedule without steps", CODE(optim::cosine_decay(1e-3f, 0)),
           CODE(optim::cosine_decay(1e-3f, 10)), "ValueError",
           "cosine_decay: 0 steps; a schedule needs at least one" HERE},
          {"The state of an sgd without momentum",
           CODE(const Layers net = layers(1); const auto state = optim::sgd().init(net);
                optim::sgd({.momentum = 0.9f}).update(net, state, net)),
           CODE(const Layers net = layers(1);
                const auto state = optim::sgd({.momentum = 0.9f}).init(net);
                optim::sgd({.momentum = 0.9f}).update(net, state, net)),
           "TreeError",
           "sgd: momentum is 0.9, and the state has no trace; make the state by init(params) of "
           "this optimizer" HERE},
          {"The state of an rmsprop that is centered",
           CODE(const Layers net = layers(1);
                const auto state = optim::rmsprop({.centered = true}).init(net);
                optim::rmsprop().update(net, state, net)),
           CODE(const Layers net = layers(1); const auto state = optim::rmsprop().init(net);
                optim::rmsprop().update(net, state, net)),
           "TreeError",
           "rmsprop: centered is false, and the state has a mean of gradients; make the state by "
           "init(params) of this optimizer" HERE},
          {"A state that nobody has made",
           CODE(const Array w = sp::ones({2});
                optim::adam().update(w, optim::AdamState<Array>{}, w)),
           CODE(const Array w = sp::ones({2}); optim::adam().update(w, optim::adam().init(w), w)),
           "TreeError",
           "adam: the count of the state is an empty array, it must be i32[]; make the state by "
           "init(params) of this optimizer" HERE},
          {"Gradients in another precision than the parameters",
           CODE(const std::vector<Array> w{sp::ones({2}, sp::bfloat16)};
                const std::vector<Array> g{sp::ones({2})};
                optim::adam().update(g, optim::adam().init(w), w)),
           CODE(const std::vector<Array> w{sp::ones({2}, sp::bfloat16)};
                const std::vector<Array> g{sp::ones({2}).astype(sp::bfloat16)};
                optim::adam().update(g, optim::adam().init(w), w)),
           "DtypeError",
           "adam: f32[2] meets bf16[2] at 0; gradients and state must have one dtype: convert "
           "the gradients with astype, or keep the parameters in f32 and compute in half precision "
           "by nn::mixed" HERE},
          {"Gradients of whole numbers",
           CODE(const std::vector<Array> w{sp::ones({2})};
                const std::vector<Array> g{sp::array({3, 4})};
                optim::adam().update(g, optim::adam().init(w), w)),
           CODE(const std::vector<Array> w{sp::ones({2})};
                const std::vector<Array> g{sp::array({3.0f, 4.0f})};
                optim::adam().update(g, optim::adam().init(w), w)),
           "DtypeError",
           "adam: i32[2] meets f32[2] at 0; what is trained and its gradients are floating: use "
           "astype" HERE},
          {"An update of whole numbers",
           CODE(const std::vector<Array> w{sp::ones({2})};
                optim::apply_updates(w, std::vector<Array>{sp::array({3, 4})})),
           CODE(const std::vector<Array> w{sp::ones({2})};
                optim::apply_updates(w, std::vector<Array>{sp::array({3.0f, 4.0f})})),
           "DtypeError",
           "apply_updates: f32[2] meets i32[2] at 0; what is trained and its gradients are "
           "floating: use astype" HERE},
          {"A negative learning rate", CODE(optim::sgd({.learning_rate = -0.1f})),
           CODE(optim::sgd({.learning_rate = 0.1f})), "ValueError",
           "sgd: learning_rate is -0.1, it must be finite and not negative" HERE},
          {"A mean that never takes anything new", CODE(optim::adam({.b1 = 1})),
           CODE(optim::adam({.b1 = 0.9})), "ValueError",
           "adam: b1 is 1, it must be at least 0 and below 1" HERE},
          {"A momentum above 1", CODE(optim::sgd({.momentum = 9})),
           CODE(optim::sgd({.momentum = 0.9f})), "ValueError",
           "sgd: momentum is 9, it must be within 0..1" HERE},
          {"A norm to clip by that is negative", CODE(optim::clip_by_global_norm(-1)),
           CODE(optim::clip_by_global_norm(1)), "ValueError",
           "clip_by_global_norm: max_norm is -1, it must be positive" HERE},
          {"A schedule that falls below 0 behind its end",
           CODE(const Array w = sp::ones({2});
                const auto falling =
                    [](const Array& count) { return 0.5f - 0.25f * count.astype(sp::float32); };
                const auto sgd = optim::sgd({.learning_rate = falling}); auto state = sgd.init(w);
                for (int i = 0; i < 5; ++i) state = sgd.update(w, state, w).second),
           CODE(const Array w = sp::ones({2});
                const auto falling = optim::linear_schedule(0.5f, 0, 2);
                const auto sgd = optim::sgd({.learning_rate = falling}); auto state = sgd.init(w);
                for (int i = 0; i < 5; ++i) state = sgd.update(w, state, w).second),
           "ValueError",
           "sgd: learning_rate is -0.25 at update 3, it must be finite and not negative; end the "
           "schedule by join_schedules, or clip what the function gives" HERE},
          {"A schedule that divides by 0",
           CODE(const Array w = sp::ones({2});
                const auto inverse =
                    [](const Array& count) { return 0.1f / count.astype(sp::float32); };
                const auto adam = optim::adam({.learning_rate = inverse});
                adam.update(w, adam.init(w), w)),
           CODE(const Array w = sp::ones({2});
                const auto inverse =
                    [](const Array& count) { return 0.1f / (count.astype(sp::float32) + 1); };
                const auto adam = optim::adam({.learning_rate = inverse});
                adam.update(w, adam.init(w), w)),
           "ValueError",
           "adam: learning_rate is inf at update 0, it must be finite and not negative; end the "
           "schedule by join_schedules, or clip what the function gives" HERE},
          {"A learning rate that is NaN", CODE(optim::adam({.learning_rate = std::nan("")})),
           CODE(optim::adam({.learning_rate = 1e-3})), "ValueError",
           "adam: learning_rate is nan, it must be finite and not negative" HERE},
          {"A batch that is no multiple of its parts",
           CODE(const auto loss = [](const Array& x) { return sp::sum(x); };
                optim::microbatch(loss, {.size = 4})(sp::ones({6, 2}))),
           CODE(const auto loss = [](const Array& x) { return sp::sum(x); };
                optim::microbatch(loss, {.size = 3})(sp::ones({6, 2}))),
           "ShapeError",
           "microbatch: f32[6,2] in a batch of 6 and parts of 4; all arrays of the batch need one "
           "first axis, a multiple of the size" HERE},
          {"A private mean over no examples",
           CODE(const auto mean = optim::differentially_private_aggregate();
                const Array w = sp::ones({2}); mean.update(sp::ones({0, 2}), mean.init(w), w)),
           CODE(optim::per_example_global_norm_clip(sp::ones({0, 2}), 1.0)), "ShapeError",
           "differentially_private_aggregate: the batch has no examples, and there is no mean over "
           "none; leave the update out, or add noise to the sums of per_example_global_norm_clip "
           "and divide by the expected size of a batch" HERE},
          {"A schedule that begins below 0", CODE(optim::linear_schedule(-0.1f, 0, 10)),
           CODE(optim::linear_schedule(0.1f, 0, 10)), "ValueError",
           "linear_schedule: init is -0.1, it must be finite and not negative" HERE},
          {"Scales for another number of boundaries",
           CODE(optim::piecewise_constant_schedule(0.1f, {100, 200}, {0.5f})),
           CODE(optim::piecewise_constant_schedule(0.1f, {100, 200}, {0.5f, 0.1f})), "ValueError",
           "piecewise_constant_schedule: 2 boundaries and 1 scales; give one scale for each "
           "boundary" HERE},
          {"A label that no transformation has",
           CODE(const auto label = [](const std::string& path, const Array&) { return path; };
                optim::partition(label, std::pair{"0.weight", optim::adam()}).init(layers(1))),
           CODE(const auto label = [](const std::string&, const Array&) { return "all"; };
                optim::partition(label, std::pair{"all", optim::adam()}).init(layers(1))),
           "ValueError",
           "partition: the label of 0.bias is \"0.bias\", and there are transformations for "
           "\"0.weight\"; give one more, such as std::pair{\"0.bias\", set_to_zero()}" HERE},
          {"A hyperparameter without a value",
           CODE(const auto make =
                    [](const optim::Hyperparams& h) {
                      return optim::sgd({.learning_rate = h["learning_rate"]});
                    };
                optim::inject_hyperparams(make, {{"rate", 0.1}}).init(sp::ones({2}))),
           CODE(const auto make =
                    [](const optim::Hyperparams& h) {
                      return optim::sgd({.learning_rate = h["rate"]});
                    };
                optim::inject_hyperparams(make, {{"rate", 0.1}}).init(sp::ones({2}))),
           "ValueError",
           "inject_hyperparams: no hyperparameter \"learning_rate\" among \"rate\"; give it a "
           "value, such as {\"learning_rate\", 1e-3}" HERE},
          {"A learning rate for each element", CODE(optim::sgd({.learning_rate = sp::ones({2})})),
           CODE(optim::sgd({.learning_rate = sp::array(0.1f)})), "ShapeError",
           "optim: a hyperparameter is f32[2], it must be a number or an array of rank 0, such as "
           "f32[]" HERE},
          {"Updates of no gradients", CODE(optim::multi_steps(optim::adam(), 0)),
           CODE(optim::multi_steps(optim::adam(), 4)), "ValueError",
           "multi_steps: k is 0, it must be within 1..2147483647" HERE},
          {"Schedules without a boundary between them",
           CODE(optim::join_schedules({0.1f, 0.01f}, {})),
           CODE(optim::join_schedules({0.1f, 0.01f}, {100})), "ValueError",
           "join_schedules: 2 schedules and 0 boundaries; give one boundary between each two "
           "schedules" HERE},
      }};
}
