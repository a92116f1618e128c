// SPDX-License-Identifier: Apache-2.0
// Which function of Spruce stands behind each operation of cases.bin.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spruce/spruce.h"
#include "tests/reference/cases.h"
#include "tests/reference/compare.h"

namespace reference {

namespace sp = spruce;
using sp::Array;
using Arrays = std::vector<Array>;

/// Takes the inputs of a case as arrays and returns its outputs.
using Function = std::function<Arrays(const Arrays& inputs, const Params& params)>;

struct Operation {
  Function run;
  Closeness values = Closeness::kScaled;  // gradients are always compared as kScaled
  bool traceable = true;                  // false: the shape of the result depends on values
};

inline Operation exact(Function f) { return {std::move(f), Closeness::kExact}; }
inline Operation relative(Function f) { return {std::move(f), Closeness::kRelative}; }
inline Operation scaled(Function f) { return {std::move(f), Closeness::kScaled}; }

using Table = std::map<std::string, Operation>;

void add_unary(Table& table);
void add_binary(Table& table);
void add_reductions(Table& table);
void add_shapes(Table& table);
void add_indexing(Table& table);
void add_products(Table& table);
void add_activations(Table& table);
void add_layers(Table& table);
void add_losses(Table& table);

/// All of them.
const Table& operations();

/// The axes in parameter `name`; none where it is absent.
inline sp::AxisArg axes(const Params& p, const std::string& name = "axis") {
  return p.has(name) ? sp::AxisArg(p.integers(name)) : sp::AxisArg(sp::none);
}

}  // namespace reference
