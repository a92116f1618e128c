// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/rules/effect_rules.h"

#include "spruce/core/graph/graph.h"
#include "spruce/core/public_name.h"
#include "spruce/transforms/control/body/body.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/vmap/collectives.h"

namespace spruce::internal {
namespace {

constexpr size_t kMostAxes = kMaxRank;  // that vmap may put in front

int64_t mask_of(const MessageParams& p, size_t i) { return i < p.mapped.size() ? p.mapped[i] : 0; }

// The numbers of example n along the mapped axes.
Shape indices(const std::vector<int64_t>& sizes, int64_t n) {
  Shape at = Shape::filled(static_cast<int>(sizes.size()), 0);
  for (size_t k = sizes.size(); k-- > 0;) {
    at[static_cast<int>(k)] = n % sizes[k];
    n /= sizes[k];
  }
  return at;
}

}  // namespace

std::string current_place() {
  const std::string whole = to_string(LocScope::current());
  return whole.substr(whole.find_last_of('/') + 1);
}

std::vector<std::string> format_pieces(std::string_view format, std::string* problem) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (c != '{' && c != '}') {
      pieces.back() += c;
    } else if (next == c) {
      pieces.back() += c;
      ++i;
    } else if (c == '{' && next == '}') {
      pieces.emplace_back();
      ++i;
    } else {
      *problem = std::string("has a lone ") + c + " at character " + std::to_string(i) +
                 "; values go where {} stands, and {{ and }} are braces";
      break;
    }
  }
  return pieces;
}

Examples::Examples(const MessageParams& params, std::span<const Array> in)
    : params_(params), in_(in) {
  std::string problem;
  pieces_ = format_pieces(params.format, &problem);
  for (const int64_t size : params.sizes) count_ *= size;
}

Array Examples::input(size_t i, int64_t n) const {
  const Array& x = in_[i];
  const int64_t mask = mask_of(params_, i);
  if (mask == 0) return x;
  Aval type = x.aval();
  const Shape at = indices(params_.sizes, n);
  int64_t place = 0;
  for (size_t k = 0; k < params_.sizes.size(); ++k) {
    if ((mask >> k & 1) == 0) continue;
    place = place * params_.sizes[k] + at[static_cast<int>(k)];
    type.shape.erase(0);
  }
  return make_array(type, static_cast<const char*>(mutable_data(x)) + place * type.bytes());
}

std::string Examples::text(int64_t n, size_t first) const {
  std::string s = pieces_[0];
  for (size_t k = 1; k < pieces_.size(); ++k) s += to_string(input(first + k - 1, n)) + pieces_[k];
  return s;
}

std::string Examples::name(int64_t n) const {
  if (params_.sizes.empty()) return "";
  return to_string(indices(params_.sizes, n)) + " of " + to_string(Shape(params_.sizes));
}

std::vector<Aval> shapes_of_message(const ShapeArgs& a, size_t first) {
  const auto& p = a.params.get<MessageParams>();
  const auto wrong = [&](const std::string& what) {
    throw GraphError(std::string(a.op) + ": " + what);
  };
  std::string problem;
  const size_t values = format_pieces(p.format, &problem).size() - 1;
  if (!problem.empty()) wrong("the format " + problem);
  if (first + values > a.in.size())
    wrong("takes " + std::to_string(first + values) + " inputs, there are " +
          std::to_string(a.in.size()));
  if (p.sizes.size() > kMostAxes) wrong("more than 16 mapped axes");
  int64_t count = 1, all = 0;
  for (const int64_t size : p.sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) wrong("sizes that do not fit");
  }
  for (size_t i = 0; i < p.mapped.size(); ++i) {
    const int64_t mask = p.mapped[i];
    if (i >= a.in.size() || mask < 0 || mask >> p.sizes.size() != 0) wrong("a wrong mask");
    all |= mask;
    int axis = 0;
    for (size_t k = 0; k < p.sizes.size(); ++k) {
      if ((mask >> k & 1) == 0) continue;
      if (axis >= a.in[i]->shape.rank() || a.in[i]->shape[axis++] != p.sizes[k])
        wrong("input " + std::to_string(i) + " lacks a mapped axis");
    }
  }
  if (all != (int64_t{1} << p.sizes.size()) - 1) wrong("no input has a mapped axis");
  return {{Dtype::kBool, false, Shape{0}}};
}

void jvp_of_message(const JvpArgs& a) { a.out[0] = bind1(a.p, a.in, a.params); }

void batch_of_message(const BatchArgs& a) {
  MessageParams p = a.params.get<MessageParams>();
  p.sizes.insert(p.sizes.begin(), a.size);
  if (p.sizes.size() > kMostAxes)
    throw ShapeError(internal::public_name(a.p.name) + ": is mapped by more than 16 vmaps");
  p.mapped.resize(a.in.size(), 0);
  for (size_t i = 0; i < a.in.size(); ++i)
    p.mapped[i] = p.mapped[i] << 1 | static_cast<int64_t>(a.batched[i]);
  a.out[0] = bind1(a.p, a.in, Params::make(std::move(p)));
  a.out_batched[0] = false;
}

bool has_effects(const Params& params) { return passes::has_effects(params); }

void batch_one_by_one(const BatchArgs& a) {
  if (asks_for_any_axis(a.params)) {
    throw ValueError(std::string(a.p.name) +
                     ": vmap runs one with effects (debug::print, check, host_call) example by "
                     "example, and it uses an axis by its name, which takes all of them at once; "
                     "move one of the two out of it");
  }
  std::vector<size_t> place(a.in.size());  // of the body's inputs: constants, then slices
  std::vector<Array> in;
  std::vector<Aval> types;
  for (const bool mapped : {false, true}) {
    for (size_t i = 0; i < a.in.size(); ++i) {
      if (a.batched[i] != mapped) continue;
      place[i] = in.size();
      in.push_back(a.in[i]);
      types.push_back(a.in[i].aval());
      if (mapped) types.back().shape.erase(0);
    }
  }
  const Body body = stage_body(
      "vmap",
      [&](std::span<const Array> x) {
        std::vector<Array> one;
        for (const size_t i : place) one.push_back(x[i]);
        return bind_all(a.p, one, a.params);
      },
      types);
  ScanParams p;
  p.length = a.size;
  for (const bool mapped : a.batched) p.consts += mapped ? 0 : 1;
  p.consts += static_cast<int64_t>(body.consts.size());
  p.body = std::make_shared<const Graph>(body.graph);
  in.insert(in.begin(), body.consts.begin(), body.consts.end());
  const std::vector<Array> out = rules::scan(p, in);
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

}  // namespace spruce::internal
