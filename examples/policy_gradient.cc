// SPDX-License-Identifier: Apache-2.0
// REINFORCE (Williams 1992) on the pole that is balanced on a cart (Barto, Sutton and Anderson
// 1983): many carts at once by vmap, their time by scan, and the whole update in one compiled step.
//
//   policy_gradient --updates 150
//
// Exits 0 if the poles stand four times as long as at the start.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

constexpr int64_t kCarts = 64, kLength = 200;

struct Policy {
  nn::Linear a, b;
  Array operator()(const Array& state) const { return b(nn::tanh(a(state))); }
};

// The next place, speed, angle and angular speed f32[4] after a push to the left (0) or right (1);
// the numbers are those of the paper, in metres, seconds and radians.
Array pushed(const Array& state, const Array& action) {
  constexpr float kStep = 0.02f, kHalf = 0.5f, kPole = 0.1f, kAll = 1.1f, kGravity = 9.8f;
  const Array speed = state[1], angle = state[2], turn = state[3];
  const Array force = sp::where(action == 1, 10.0f, -10.0f);
  const Array sine = sp::sin(angle), cosine = sp::cos(angle);
  const Array push = (force + kPole * kHalf * turn * turn * sine) / kAll;
  const Array turning =
      (kGravity * sine - cosine * push) / (kHalf * (4.0f / 3.0f - kPole * cosine * cosine / kAll));
  const Array rate = push - kPole * kHalf * turning * cosine / kAll;
  return state + kStep * sp::stack({speed, rate, turn, turning});
}

struct Episode {
  Array states, actions, alive;  // f32[kLength, 4], i32[kLength], f32[kLength]: 1 while it stands
};

Episode play(const Policy& policy, const sp::Key& key) {
  const auto step = [&](const std::pair<Array, Array>& at, const Array& i) {
    const auto& [state, alive] = at;
    const Array action = sp::random::categorical(sp::random::fold_in(key, i), policy(state));
    const Array next = pushed(state, action);
    const Array stands = (sp::abs(next[2]) < 0.21f) & (sp::abs(next[0]) < 2.4f);
    return std::pair{std::pair{next, alive * stands.astype(sp::float32)},
                     Episode{state, action, alive}};
  };
  const Array start = sp::random::uniform(key, {4}, {.low = -0.05, .high = 0.05});
  return sp::scan(step, std::pair{start, sp::ones({})}, sp::arange(kLength)).second;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t updates = number_argument(argc, argv, "--updates", 150);
  const auto [k1, k2] = sp::random::split<2>(sp::Key(0));
  Policy policy{nn::Linear::init(k1, 4, 32), nn::Linear::init(k2, 32, 2)};
  const auto optimizer = sp::optim::adam({.learning_rate = 1e-2});
  auto state = optimizer.init(policy);
  const auto step = sp::jit([&](const Policy& p, const auto& s, const sp::Key& key) {
    const Episode all =
        sp::vmap([&](const sp::Key& k) { return play(p, k); })(sp::random::split(key, kCarts));
    // What is still to come at each time, beside what is usual then.
    const Array to_come = sp::flip(sp::cumsum(sp::flip(all.alive, 1), 1), 1);
    const Array advantage = (to_come - sp::mean(to_come, 0)) / 20.0f * all.alive;
    const auto loss = [&](const Policy& q) {
      const Array logs = nn::log_softmax(q(all.states));
      const Array taken = sp::take_along_axis(logs, sp::expand_dims(all.actions, -1), -1);
      return -sp::mean(taken[{sp::ellipsis, 0}] * advantage);
    };
    const auto [next_updates, next] = optimizer.update(sp::grad(loss)(p), s, p);
    return std::tuple{sp::optim::apply_updates(p, next_updates), next,
                      sp::mean(sp::sum(all.alive, 1))};
  });
  std::vector<double> lengths;
  sp::io::Progress progress({.steps = updates});
  for (int64_t i = 0; i < updates; ++i) {
    Array length;
    std::tie(policy, state, length) =
        step(std::move(policy), std::move(state), sp::random::fold_in(sp::Key(1), i));
    lengths.push_back(length.item<float>());
    progress.step({{"length", lengths.back()}});
  }
  std::printf("%s", sp::data::curves_text({{"*", lengths}}, {.title = "steps until the pole falls",
                                                             .x_label = "updates"})
                        .c_str());
  std::printf("at first %.1f, at last %.1f of %lld\n", lengths.front(), lengths.back(),
              static_cast<long long>(kLength));
  return lengths.back() > 4 * lengths.front() ? 0 : 1;
}
