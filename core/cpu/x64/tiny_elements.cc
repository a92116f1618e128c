// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/tiny_elements.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/x64/tiny_moves.h"

namespace spruce::cpu::x64 {

Elements::Elements(TinyProgram& program, Width width, int free_inputs)
    : program_(program),
      width_(width),
      free_inputs_(free_inputs),
      lanes_(width == Width::k64 ? 4 : 8),
      builder_(program.program, IsaLevel::kV3) {}

std::vector<int> Elements::inputs(int input, Dtype dtype, int64_t count) {
  std::vector<int> list;
  for (int64_t i = 0; i < count; ++i) {
    Element e{dtype};
    e.input = input;
    e.at = static_cast<int>(i);
    list.push_back(add(e));
  }
  return list;
}

std::vector<int> Elements::constants(const Array& value) {
  std::vector<int> list;
  const char* data = static_cast<const char*>(internal::mutable_data(value));
  const size_t size = static_cast<size_t>(size_of(value.dtype()));
  for (int64_t i = 0; i < value.shape().numel(); ++i) {
    Element e{value.dtype()};
    e.constant = true;
    std::memcpy(&e.bits, data + static_cast<size_t>(i) * size, size);
    if (is_bool(e.dtype) && e.bits != 0) e.bits = ~uint64_t{0};
    list.push_back(add(e));
  }
  return list;
}

// --- vectors ----------------------------------------------------------------------------------

int Elements::load(int input, std::vector<int> elements) {
  const int which = static_cast<int>(program_.loads.size());
  program_.loads.push_back({input, std::move(elements)});
  return builder_.add(Op::kInput, -1, -1, -1, 0, which);
}

int Elements::uniform(int element) {
  if (of(element).uniform >= 0) return of(element).uniform;
  set_width(of(element).dtype);
  int made = -1;
  if (of(element).constant) {
    made = builder_.bits(of(element).bits).id;
  } else if (of(element).pack >= 0) {
    made = permuted(of(element).pack, {of(element).lane}, {});
  } else {
    made = load(of(element).input, {of(element).at});
  }
  return of(element).uniform = made;
}

// Lane wanted[i] of the vector in lane lanes[i]; with one lane, in all lanes.
int Elements::permuted(int vector, const std::vector<int>& lanes, const std::vector<int>& wanted) {
  std::vector<uint32_t> places(lanes_, static_cast<uint32_t>(lanes[0]));
  for (size_t i = 0; i < wanted.size(); ++i)
    places[static_cast<size_t>(wanted[i])] = static_cast<uint32_t>(lanes[i]);
  if (wide()) {
    uint32_t imm = 0;
    for (size_t i = 0; i < 4; ++i) imm |= places[i] << 2 * i;
    return builder_.add(Op::kPermute, vector, -1, -1, static_cast<int>(imm));
  }
  Constant c{};
  std::copy(places.begin(), places.end(), c.words.begin());
  return builder_.add(Op::kPermute, vector, builder_.constant(c).id);
}

bool Elements::in_lanes(const std::vector<int>& list) const {
  const int vector = of(list[0]).pack;
  if (vector < 0) return false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (of(list[i]).pack != vector || of(list[i]).lane != static_cast<int>(i)) return false;
  }
  return true;
}

// Elements of one input that lie side by side, or as one wants.
bool Elements::loadable(const std::vector<int>& list) const {
  const Element& first = of(list[0]);
  for (size_t i = 0; i < list.size(); ++i) {
    const Element& e = of(list[i]);
    if (e.input < 0 || e.input != first.input || is_bool(e.dtype)) return false;
    if (e.input >= free_inputs_ && e.at != first.at + static_cast<int>(i)) return false;
  }
  return true;
}

bool Elements::all_constant(const std::vector<int>& list) const {
  return std::all_of(list.begin(), list.end(), [&](int e) { return of(e).constant; });
}

int Elements::vector(const std::vector<int>& list) {
  const bool one = std::all_of(list.begin(), list.end(), [&](int e) { return e == list[0]; });
  return one ? uniform(list[0]) : pack(list);
}

int Elements::pack(const std::vector<int>& list) {
  if (in_lanes(list)) return of(list[0]).pack;
  const auto found = packs_.find(list);
  if (found != packs_.end()) return found->second;
  set_width(of(list[0]).dtype);
  int made = -1;
  if (all_constant(list)) {
    Constant c{};
    for (size_t i = 0; i < lanes_; ++i) {
      const uint64_t bits = of(list[std::min(i, list.size() - 1)]).bits;
      if (wide()) {
        c.words[2 * i] = static_cast<uint32_t>(bits);
        c.words[2 * i + 1] = static_cast<uint32_t>(bits >> 32);
      } else {
        c.words[i] = static_cast<uint32_t>(bits);
      }
    }
    made = builder_.constant(c).id;
  } else if (loadable(list)) {
    std::vector<int> at;
    for (const int e : list) at.push_back(of(e).at);
    made = load(of(list[0]).input, at);
  } else {
    made = assemble(list);
  }
  return packs_[list] = made;
}

// Each source moves its lanes to their places; then they are blended.
int Elements::assemble(const std::vector<int>& list) {
  std::map<int, std::vector<int>> sources;  // by vector: the lanes of the result
  for (size_t i = 0; i < list.size(); ++i) {
    const Element& e = of(list[i]);
    const int vector = e.uniform < 0 && e.pack >= 0 ? e.pack : uniform(list[i]);
    sources[vector].push_back(static_cast<int>(i));
  }
  set_width(of(list[0]).dtype);
  int made = -1;
  for (const auto& [vector, wanted] : sources) {
    int source = vector;
    std::vector<int> lanes;
    bool moves = false;
    int mask = 0;
    for (const int i : wanted) {
      const Element& e = of(list[static_cast<size_t>(i)]);
      const bool from_pack = e.pack == vector && e.uniform != vector;
      lanes.push_back(from_pack ? e.lane : i);
      moves = moves || lanes.back() != i;
      mask |= 1 << i;
    }
    if (moves) source = permuted(vector, lanes, wanted);
    made = made < 0 ? source : builder_.add(Op::kBlend, made, source, -1, mask);
  }
  return made;
}

void Elements::need_load(int element) {
  const Element& e = of(element);
  for (const TinyLoad& l : program_.loads) {
    if (l.input == e.input &&
        std::find(l.elements.begin(), l.elements.end(), e.at) != l.elements.end())
      return;
  }
  uniform(element);
}

// --- operations -------------------------------------------------------------------------------

double Elements::uniform_cost(int element) const {
  const Element& e = of(element);
  if (e.uniform >= 0 || e.constant) return 0;
  return e.pack >= 0 ? 1 : 0.5;
}

double Elements::cost(const std::vector<int>& list) const {
  if (std::all_of(list.begin(), list.end(), [&](int e) { return e == list[0]; }))
    return uniform_cost(list[0]);
  if (in_lanes(list) || packs_.count(list) != 0 || all_constant(list)) return 0;
  if (loadable(list)) return 0.5;
  double sum = -1;
  int last = -1;
  for (const int e : list) {
    const bool packed = of(e).uniform < 0 && of(e).pack >= 0;
    if (packed && of(e).pack == last) continue;
    last = packed ? of(e).pack : -1;
    sum += packed ? 2 : 1 + uniform_cost(e);
  }
  return sum;
}

// The elements of one axis belong together, at most a vector of them; axis -1: those in a row.
Elements::Lists Elements::groups(const Shape& shape, int axis) const {
  Lists all;
  const int n = static_cast<int>(shape.numel());
  if (axis < 0) {
    for (int i = 0; i < n; ++i) {
      if (static_cast<size_t>(i) % lanes_ == 0) all.emplace_back();
      all.back().push_back(i);
    }
    return all;
  }
  int stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= static_cast<int>(shape[i]);
  const int size = static_cast<int>(shape[axis]);
  for (int i = 0; i < n; ++i) {
    if (i / stride % size != 0) continue;
    for (int k = 0; k < size; ++k) {
      if (static_cast<size_t>(k) % lanes_ == 0) all.emplace_back();
      all.back().push_back(i + k * stride);
    }
  }
  return all;
}

bool Elements::apply(const Operation& operation, double weight, const Lists& in, Dtype out,
                     const Shape& shape, std::vector<int>& result) {
  // What is computed on the same elements is computed once.
  const size_t n = static_cast<size_t>(shape.numel());
  std::map<std::vector<int>, int> seen;
  std::vector<int> which(n);
  Lists unique(in.size());
  for (size_t i = 0; i < n; ++i) {
    std::vector<int> operands;
    for (const auto& list : in) operands.push_back(list[i]);
    const auto [at, added] = seen.try_emplace(operands, static_cast<int>(seen.size()));
    which[i] = at->second;
    if (!added) continue;
    for (size_t k = 0; k < in.size(); ++k) unique[k].push_back(operands[k]);
  }
  if (seen.size() == n) return apply_unique(operation, weight, in, out, shape, result);
  std::vector<int> made;
  if (!apply_unique(operation, weight, unique, out, Shape{static_cast<int64_t>(seen.size())}, made))
    return false;
  for (const int i : which) result.push_back(made[static_cast<size_t>(i)]);
  return true;
}

bool Elements::apply_unique(const Operation& operation, double weight, const Lists& in, Dtype out,
                            const Shape& shape, std::vector<int>& result) {
  constexpr double kLaterUse = 0.5;  // what taking an element out of its vector may cost
  const size_t n = static_cast<size_t>(shape.numel());
  if (n == 0) return true;
  if (n == 1 || width_ == Width::kMixed) return apply_scalar(operation, in, out, result);
  double best = weight * static_cast<double>(n);
  for (const auto& list : in) {
    for (const int e : list) best += uniform_cost(e);
  }
  Lists chosen;
  for (int axis = -1; axis < shape.rank(); ++axis) {
    if (axis >= 0 && shape[axis] == 1) continue;
    const Lists candidate = groups(shape, axis);
    double sum = kLaterUse * static_cast<double>(n);
    for (const auto& group : candidate) {
      sum += weight;
      for (const auto& list : in) {
        std::vector<int> operands;
        for (const int i : group) operands.push_back(list[static_cast<size_t>(i)]);
        sum += cost(operands);
      }
    }
    if (sum < best) best = sum, chosen = candidate;
  }
  if (chosen.empty()) return apply_scalar(operation, in, out, result);
  result.assign(n, -1);
  for (const auto& group : chosen) {
    std::vector<int> operands;
    for (const auto& list : in) {
      std::vector<int> lane;
      for (const int i : group) lane.push_back(list[static_cast<size_t>(i)]);
      operands.push_back(vector(lane));
    }
    const int made = operation(builder_, operands);
    if (made < 0) return false;
    for (size_t i = 0; i < group.size(); ++i) {
      Element e{out};
      (group.size() == 1 ? e.uniform : e.pack) = made;
      e.lane = static_cast<int>(i);
      result[static_cast<size_t>(group[i])] = add(e);
    }
  }
  return true;
}

bool Elements::apply_scalar(const Operation& operation, const Lists& in, Dtype out,
                            std::vector<int>& result) {
  const size_t n = in[0].size();
  for (size_t i = 0; i < n; ++i) {
    std::vector<int> operands;
    for (const auto& list : in) operands.push_back(uniform(list[i]));
    const int made = operation(builder_, operands);
    if (made < 0) return false;
    Element e{out};
    e.uniform = made;
    result.push_back(add(e));
  }
  return true;
}

// --- results ----------------------------------------------------------------------------------

void Elements::store(int output, const std::vector<int>& list) {
  const int n = static_cast<int>(list.size());
  for (int i = 0; i < n;) {
    // As many as lie side by side in a vector, from its first lane on.
    int count = 1;
    const Element first = of(list[static_cast<size_t>(i)]);
    const bool run = first.pack >= 0 && first.lane == 0 && !is_bool(first.dtype);
    while (run && i + count < n) {
      const Element& e = of(list[static_cast<size_t>(i + count)]);
      if (e.pack != first.pack || e.lane != count) break;
      ++count;
    }
    const int value = count > 1 || (run && first.uniform < 0)
                          ? first.pack
                          : uniform(list[static_cast<size_t>(i)]);
    set_width(first.dtype);
    const int which = static_cast<int>(program_.stores.size());
    program_.stores.push_back({output, i, count, -1});
    builder_.add(Op::kStore, value, -1, -1, 0, which);
    i += count;
  }
}

void Elements::store_carry(int load, int vector) {
  const int which = static_cast<int>(program_.stores.size());
  program_.stores.push_back({-1, 0, 0, load});
  builder_.add(Op::kStore, vector, -1, -1, 0, which);
}

}  // namespace spruce::cpu::x64
