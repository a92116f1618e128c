// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {

void add_products(Table& t) {
  t["matmul"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::matmul(in[0], in[1])}; });
  t["dot"] = scaled([](const Arrays& in, const Params&) { return Arrays{sp::dot(in[0], in[1])}; });
  t["outer"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::outer(in[0], in[1])}; });
  t["vdot"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::vdot(in[0], in[1])}; });
  t["inner"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::inner(in[0], in[1])}; });
  t["vecdot"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::vecdot(in[0], in[1])}; });
  t["kron"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::kron(in[0], in[1])}; });
  t["cross"] =
      scaled([](const Arrays& in, const Params&) { return Arrays{sp::cross(in[0], in[1])}; });
  t["diagonal"] = exact([](const Arrays& in, const Params& p) {
    const int64_t axis1 = p.integer("axis1", 0), axis2 = p.integer("axis2", 1);
    return Arrays{
        sp::diagonal(in[0], {.offset = p.integer("offset"), .axis1 = axis1, .axis2 = axis2})};
  });
  t["tensordot"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{sp::tensordot(in[0], in[1], static_cast<int>(p.integer("axes")))};
  });
  t["tensordot_axes"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{sp::tensordot(in[0], in[1], p.integers("first"), p.integers("second"))};
  });
  t["einsum"] = scaled(
      [](const Arrays& in, const Params& p) { return Arrays{sp::einsum(p.text("equation"), in)}; });
}

}  // namespace reference
