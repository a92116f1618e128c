// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/tiny_moves.h"

#include "spruce/core/rules/index_maps.h"

namespace spruce::cpu::x64 {

using spruce::internal::is_view;

std::vector<int64_t> broadcast_elements(const Shape& from, const Shape& to) {
  std::vector<int64_t> all;
  for_each_index(to, [&](const Shape& index) {
    Shape at = from;
    for (int i = 0; i < from.rank(); ++i)
      at[i] = from[i] == 1 ? 0 : index[to.rank() - from.rank() + i];
    all.push_back(place(from, at));
  });
  return all;
}

std::optional<std::vector<Origin>> origins(const Graph& graph, const Equation& equation) {
  const auto shape = [&](ValueId v) -> const Shape& {
    return graph.avals[static_cast<size_t>(v)].shape;
  };
  if (!rules::only_moves(equation)) return std::nullopt;
  const Shape& out = shape(equation.outputs[0]);
  std::vector<Origin> all;
  for (int64_t i = 0; i < out.numel(); ++i) all.push_back({0, i});
  if (is_view(equation)) return all;
  for (const IndexMap& m : rules::index_maps_of(graph, equation)) {
    const rules::MappedMemory from = rules::memory_of_input(
                                  m, row_major_strides(shape(equation.inputs[m.input]))),
                              to = rules::memory_of_output(m, row_major_strides(out));
    for_each_index(m.count, [&](const Shape& index) {
      int64_t element = from.offset, place = to.offset;
      for (int i = 0; i < index.rank(); ++i) {
        element += index[i] * from.strides[i];
        place += index[i] * to.strides[i];
      }
      all[static_cast<size_t>(place)] = {static_cast<int>(m.input), element};
    });
  }
  return all;
}

}  // namespace spruce::cpu::x64
