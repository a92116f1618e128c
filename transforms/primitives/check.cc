// SPDX-License-Identifier: Apache-2.0
// Throws unless its first input, bool of any shape, is true for each example.
#include <algorithm>

#include "spruce/core/interpreter.h"
#include "spruce/transforms/effects/debugging.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce {
namespace {

std::vector<Aval> check_shapes(const ShapeArgs& a) {
  std::vector<Aval> out = internal::shapes_of_message(a, 1);
  if (a.in[0]->dtype != Dtype::kBool)
    throw GraphError(std::string(a.op) + ": the condition is " + to_string(*a.in[0]) +
                     "; it must be bool");
  return out;
}

[[noreturn]] void fail(const MessageParams& p, const internal::Examples& examples, int64_t n) {
  const std::string where = examples.name(n);
  const std::string message =
      "check: " + examples.text(n, 1) + (where.empty() ? "" : ", in example " + where);
  // Where the check itself is running, its line is known in full.
  if (internal::current_place() == p.place || p.place.empty()) throw CheckError(message);
  const LocReset reset;
  const LocScope at(Loc::text(p.place.c_str()));
  throw CheckError(message);
}

std::vector<Array> check_call(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<MessageParams>();
  std::vector<Array> host;
  for (const Array& a : in) host.push_back(internal::on_host(a));
  const bool* truth = static_cast<const bool*>(internal::mutable_data(host[0]));
  if (!std::all_of(truth, truth + host[0].size(), [](bool b) { return b; })) {
    const internal::Examples examples(p, host);
    for (int64_t n = 0; n < examples.count(); ++n) {
      const Array one = examples.input(0, n);
      const bool* of_one = static_cast<const bool*>(internal::mutable_data(one));
      if (!std::all_of(of_one, of_one + one.size(), [](bool b) { return b; })) fail(p, examples, n);
    }
  }
  return {internal::make_array({Dtype::kBool, false, Shape{0}})};
}

}  // namespace

extern constinit const Primitive check_p = {
    .name = "check",
    .shapes = check_shapes,
    .jvp = internal::jvp_of_message,
    .batch = internal::batch_of_message,
    .params = kParamsOf<MessageParams>,
    .call = check_call,
};

}  // namespace spruce
