// SPDX-License-Identifier: Apache-2.0
// Prints its inputs on stdout: a line for each example.
#include <cstdio>

#include "spruce/core/interpreter.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce {
namespace {

std::vector<Aval> debug_print_shapes(const ShapeArgs& a) {
  return internal::shapes_of_message(a, 0);
}

std::vector<Array> debug_print_call(std::span<const Array> in, const Params& params) {
  std::vector<Array> host;
  for (const Array& a : in) host.push_back(internal::on_host(a));
  const internal::Examples examples(params.get<MessageParams>(), host);
  for (int64_t n = 0; n < examples.count(); ++n) {
    const std::string line = examples.text(n, 0) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  std::fflush(stdout);
  return {internal::make_array({Dtype::kBool, false, Shape{0}})};
}

}  // namespace

extern constinit const Primitive debug_print_p = {
    .name = "debug_print",
    .public_name = "debug::print",
    .shapes = debug_print_shapes,
    .jvp = internal::jvp_of_message,
    .batch = internal::batch_of_message,
    .params = kParamsOf<MessageParams>,
    .call = debug_print_call,
};

}  // namespace spruce
