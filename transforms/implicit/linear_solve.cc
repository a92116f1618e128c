// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/implicit/linear_solve.h"

#include "spruce/core/interpreter.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/linear_solve_rules.h"

namespace spruce::internal {

void check_types(const char* wanted_name, const char* got_name, const std::vector<Aval>& got,
                 const std::vector<Aval>& wanted, const char* rule) {
  if (got.size() != wanted.size()) {
    throw TreeError(std::string(wanted_name) + " has " + std::to_string(wanted.size()) +
                    " arrays, " + got_name + " has " + std::to_string(got.size()) + "; " + rule);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string text = std::string(wanted_name) + " is " + to_string(wanted[i]) + ", " +
                             got_name + " is " + to_string(got[i]) + "; " + rule;
    if (!(got[i].shape == wanted[i].shape)) throw ShapeError(text);
    if (got[i].dtype != wanted[i].dtype) throw DtypeError(text);
  }
}

std::vector<Aval> types_of(std::span<const Array> leaves) {
  std::vector<Aval> out;
  for (const Array& a : leaves) {
    out.push_back(a.aval());
    out.back().weak = false;
  }
  return out;
}

namespace {

void check_like_b(const char* what, const std::vector<Aval>& got, const std::vector<Aval>& b) {
  check_types("custom_linear_solve: b", what, got, b, "the map takes trees like b to trees like b");
}

// Stages f and gives its results the types of b.
Body stage_like(const char* what, const FlatBody& f, const std::vector<Aval>& types) {
  Body body = stage_body("custom_linear_solve", f, types);
  check_like_b(what, body.results(), types);
  for (size_t k = 0; k < types.size(); ++k) convert_output(body.graph, k, types[k]);
  return body;
}

FlatBody applied(const Graph& graph, const std::vector<Array>& consts,
                 const std::vector<Aval>& types) {
  return [&](std::span<const Array> in) {
    check_like_b("what the map is called with", types_of(in), types);
    std::vector<Array> all = consts;
    all.insert(all.end(), in.begin(), in.end());
    return apply_graph(graph, all);
  };
}

Body stage_solve(const char* what, const FlatSolve& solve, const Graph& map,
                 const std::vector<Array>& consts, const std::vector<Aval>& types) {
  const FlatBody of_map = applied(map, consts, types);
  return stage_like(
      what, [&](std::span<const Array> b) { return solve(of_map, b); }, types);
}

}  // namespace

std::vector<Array> flat_linear_solve(const FlatBody& map, const std::vector<Array>& b,
                                     const FlatSolve& solve, const FlatSolve& transpose_solve,
                                     const LinearSolveOptions& options) {
  const std::vector<Aval> types = types_of(b);
  if (Interpreter::current() == nullptr) {
    std::vector<Array> x = solve(map, b);
    check_like_b("the solution", types_of(x), types);
    return x;
  }
  const Body of_map = stage_like("map(x)", map, types);
  const Body of_solve = stage_solve("the solution", solve, of_map.graph, of_map.consts, types);
  LinearSolveParams p;
  p.map = std::make_shared<const Graph>(of_map.graph);
  p.map_consts = static_cast<int64_t>(of_map.consts.size());
  p.solve = std::make_shared<const Graph>(of_solve.graph);
  p.solve_consts = static_cast<int64_t>(of_solve.consts.size());
  std::vector<Array> in = of_map.consts;
  in.insert(in.end(), of_solve.consts.begin(), of_solve.consts.end());
  if (options.symmetric) {
    p.transpose_map = p.map;
    p.transpose_solve = p.solve;
    p.transpose_consts = p.solve_consts;
    in.insert(in.end(), of_solve.consts.begin(), of_solve.consts.end());
  } else if (transpose_solve != nullptr) {
    Mask linear(of_map.consts.size(), false);
    linear.resize(linear.size() + types.size(), true);
    const Graph transposed = transpose_body(p.map, linear, Mask(types.size(), true), linear).graph;
    const Body other = stage_solve("the solution for the transpose", transpose_solve, transposed,
                                   of_map.consts, types);
    p.transpose_map = std::make_shared<const Graph>(transposed);
    p.transpose_solve = std::make_shared<const Graph>(other.graph);
    p.transpose_consts = static_cast<int64_t>(other.consts.size());
    in.insert(in.end(), other.consts.begin(), other.consts.end());
  }
  in.insert(in.end(), b.begin(), b.end());
  return bind_all(linear_solve_p, in, Params::make(std::move(p)));
}

}  // namespace spruce::internal
