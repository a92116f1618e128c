// SPDX-License-Identifier: Apache-2.0
// The masks of make_layer_cases.py.
#pragma once

#include "spruce/nn/attention.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {

/// bool [n, s].
inline Array padding() { return sp::array({{0, 0, 0, 1}, {0, 1, 0, 0}}) > 0; }
/// bool [t, s]: true from `offset` above the diagonal.
inline Array later(int64_t t, int64_t s, int64_t offset) {
  return sp::logical_not(sp::tri(t, {.columns = s, .offset = offset - 1, .dtype = sp::bool_}));
}

inline nn::MultiheadMasks masks_of(const std::string& kind, int64_t t, int64_t s, int64_t heads) {
  nn::MultiheadMasks m{.is_causal = kind == "causal"};
  if (kind == "padding" || kind == "both")
    m.key_padding_mask = padding()[{sp::slice(), sp::slice(s)}];
  if (kind == "bool" || kind == "both") m.attn_mask = later(t, s, 2);
  if (kind == "float") m.attn_mask = torch_cases::wave({t, s}, 0.7);
  if (kind == "heads") m.attn_mask = torch_cases::wave({2 * heads, t, s}, 0.7);
  return m;
}

}  // namespace functional_cases
