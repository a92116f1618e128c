// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/rejection.h"

#include "spruce/cuda/codegen/loops.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kRounds = R"cuda(
namespace sp {
struct Round {
  Words next, first, second;
  SP_MEMBER static Round of(Words key) {
    Round r;
    r.next = threefry(key, 0);
    r.first = threefry(key, 1);
    r.second = threefry(key, 2);
    return r;
  }
};
}  // namespace sp
)cuda";

}  // namespace

Kernels draw_by_rejection(const PrepareArgs& args, std::string_view text,
                          std::string_view computed) {
  Kernels out;
  const int64_t n = args.out[0]->numel();
  if (n == 0) return out;
  const int64_t keys = args.in[0]->numel() / 2, per_key = n / keys;
  // For each key the rounds that its elements take, 0 where none needs them, then whether any does.
  const int64_t at = reserve(out, (keys + 1) * 4);
  out.steps.push_back(Fill{Argument::workspace(at), (keys + 1) * 4, 0});
  const std::string c(computed);
  for (const int step : {0, 1, 2}) {
    KernelBuilder kernel(step == 0 ? "any" : step == 1 ? "rounds" : "draw", args);
    kernel.front(special_prelude());
    kernel.front(random_prelude());
    kernel.front(kRounds);
    kernel.front(text);
    const std::string words = kernel.input(0);
    std::string elements;
    for (size_t k = 1; k < args.in.size(); ++k)
      elements += (k > 1 ? ", " : "") + ("sp::widen(" + kernel.input(k) + "[i])");
    kernel.workspace("sp::u32", "rounds_of", at);
    kernel.value("keys", keys);
    kernel.value("per_key", per_key);
    std::string body = "    const sp::Task task = sp::Task::of(" + elements + ");\n";
    if (step == 0) {
      body += "    if (!task.few) rounds_of[keys] = 1;\n";
    } else {
      body +=
          "    const sp::u64 place = sp::u64(i % per_key);\n"
          "    sp::Words key = sp::key_at(" +
          words + ", i / per_key);\n";
    }
    if (step == 1) {
      body += "    if (rounds_of[keys] == 0) continue;\n    " + c +
              " value = 0;\n    sp::u32 used = 0;\n"
              "    for (bool accepted = false; !accepted && used < 10000; ++used) {\n"
              "      const sp::Round round = sp::Round::of(key);\n"
              "      accepted = task.attempt(round.first, round.second, place, value);\n"
              "      key = round.next;\n    }\n    atomicMax(rounds_of + i / per_key, used);\n";
    }
    if (step == 2) {
      const std::string y = kernel.output(0);
      body += "    if (task.few) {\n      task.own(key, place, " + y +
              "[i]);\n      continue;\n    }\n    const sp::u32 rounds = rounds_of[i / per_key];\n "
              "   " +
              c +
              " last = -1, value = 0;\n"
              "    for (sp::u32 r = 0; r < rounds; ++r) {\n"
              "      const sp::Round round = sp::Round::of(key);\n"
              "      if (task.attempt(round.first, round.second, place, value)) last = value;\n"
              "      key = round.next;\n    }\n    " +
              y + "[i] = task.finish(last);\n";
    }
    out.steps.push_back(kernel.for_each(n, body));
  }
  return out;
}

}  // namespace spruce::cuda
