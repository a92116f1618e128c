// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

template <class F>
Operation binary(const F& f, Operation (*compared)(Function) = relative) {
  return compared([f](const Arrays& in, const Params&) { return Arrays{f(in[0], in[1])}; });
}

}  // namespace

void add_binary(Table& t) {
  t["add"] = binary(sp::add);
  t["subtract"] = binary(sp::subtract);
  t["multiply"] = binary(sp::multiply);
  t["divide"] = binary(sp::divide);
  t["power"] = binary(sp::power);
  t["maximum"] = binary(sp::maximum, exact);
  t["minimum"] = binary(sp::minimum, exact);
  t["atan2"] = binary(sp::atan2);
  t["remainder"] = binary(sp::remainder);
  t["floor_divide"] = binary(sp::floor_divide, exact);
  t["fmod"] = binary(sp::fmod);
  t["hypot"] = binary(sp::hypot);
  t["logaddexp"] = binary(sp::logaddexp, scaled);
  t["logaddexp2"] = binary(sp::logaddexp2, scaled);
  t["float_power"] = binary(sp::float_power);
  t["fmax"] = binary(sp::fmax, exact);
  t["fmin"] = binary(sp::fmin, exact);
  t["copysign"] = binary(sp::copysign, exact);
  t["gcd"] = binary(sp::gcd, exact);
  t["lcm"] = binary(sp::lcm, exact);
  t["left_shift"] = binary(sp::left_shift, exact);
  t["right_shift"] = binary(sp::right_shift, exact);
  t["equal"] = binary(sp::equal, exact);
  t["not_equal"] = binary(sp::not_equal, exact);
  t["less"] = binary(sp::less, exact);
  t["less_equal"] = binary(sp::less_equal, exact);
  t["greater"] = binary(sp::greater, exact);
  t["greater_equal"] = binary(sp::greater_equal, exact);
  t["logical_and"] = binary(sp::logical_and, exact);
  t["logical_or"] = binary(sp::logical_or, exact);
  t["logical_xor"] = binary(sp::logical_xor, exact);
  t["bitwise_and"] = binary(sp::bitwise_and, exact);
  t["bitwise_or"] = binary(sp::bitwise_or, exact);
  t["bitwise_xor"] = binary(sp::bitwise_xor, exact);
  t["where"] =
      exact([](const Arrays& in, const Params&) { return Arrays{sp::where(in[0], in[1], in[2])}; });
  t["clip"] = relative([](const Arrays& in, const Params& p) {
    return Arrays{sp::clip(in[0], p.number("low"), p.number("high"))};
  });
}

}  // namespace reference
