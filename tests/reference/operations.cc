// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {

const Table& operations() {
  static const Table table = [] {
    Table t;
    add_unary(t);
    add_binary(t);
    add_reductions(t);
    add_shapes(t);
    add_indexing(t);
    add_products(t);
    add_activations(t);
    add_layers(t);
    add_losses(t);
    return t;
  }();
  return table;
}

}  // namespace reference
