// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/implicit/root.h"

#include "spruce/core/custom.h"
#include "spruce/core/ops/math.h"
#include "spruce/transforms/control/body_rules.h"
#include "spruce/transforms/custom.h"

namespace spruce::internal {
namespace {

struct Root {
  Graph f;  // constants, x -> f(x)
  size_t consts;
  std::vector<Aval> types;  // of x
  FlatSolve solve, tangent_solve;
};

std::vector<Array> joined(std::span<const Array> a, std::span<const Array> b) {
  std::vector<Array> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

std::shared_ptr<const CustomFunction> root_function(const std::shared_ptr<const Root>& root);

std::vector<Array> find(const Root& r, std::span<const Array> in) {
  const auto consts = in.first(r.consts);
  std::vector<Array> x =
      r.solve([&](std::span<const Array> y) { return evaluate(r.f, joined(consts, y)); },
              in.subspan(r.consts));
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k].shape() == r.types[k].shape && x[k].dtype() == r.types[k].dtype) continue;
    throw ShapeError("custom_root: the guess is " + to_string(r.types[k]) + ", solve returned " +
                     to_string(x[k].aval()) + "; a root has the type of the guess");
  }
  return x;
}

// {x, dx} from constants, guess and their tangents: J dx = -df.
std::vector<Array> rule(const std::shared_ptr<const Root>& root, std::span<const Array> in) {
  const Root& r = *root;
  const size_t n = r.types.size();
  const auto primals = in.first(r.consts + n), consts = in.first(r.consts);
  const std::vector<Array> x = bind_custom(root_function(root), primals);
  Mask of_consts, of_x(r.consts, false);
  std::vector<Array> tangents;
  for (size_t i = 0; i < r.consts; ++i) {
    of_consts.push_back(is_floating(in[i].dtype()));
    if (of_consts[i]) tangents.push_back(in[r.consts + n + i]);
  }
  of_consts.resize(r.consts + n, false);
  of_x.resize(r.consts + n, true);
  const auto derivative = [&](const Mask& varies) {
    JvpBody body = jvp_body(r.f, varies, Mask(n, true));
    body.graph.outputs.erase(body.graph.outputs.begin(),
                             body.graph.outputs.begin() + static_cast<ptrdiff_t>(n));
    return body.graph;
  };
  const std::vector<Array> at = joined(consts, x);
  std::vector<Array> rhs = evaluate(derivative(of_consts), joined(at, tangents));
  for (Array& a : rhs) a = -a;
  const Graph jacobian = derivative(of_x);
  const FlatBody map = [&](std::span<const Array> v) { return evaluate(jacobian, joined(at, v)); };
  return joined(x, flat_linear_solve(map, rhs, r.tangent_solve, r.tangent_solve, {}));
}

std::shared_ptr<const CustomFunction> root_function(const std::shared_ptr<const Root>& root) {
  return make_custom_jvp([root](std::span<const Array> in) { return find(*root, in); },
                         [root](std::span<const Array> in) { return rule(root, in); });
}

}  // namespace

std::vector<Array> flat_root(const FlatBody& f, const std::vector<Array>& guess,
                             const FlatSolve& solve, const FlatSolve& tangent_solve) {
  auto root = std::make_shared<Root>();
  for (const Array& a : guess) {
    root->types.push_back(a.aval());
    root->types.back().weak = false;
    if (!is_floating(a.dtype()))
      throw DtypeError("custom_root: the guess must be floating, got " + to_string(a.aval()) +
                       "; convert with astype");
  }
  Body body = stage_body("custom_root", f, root->types);
  const std::vector<Aval> results = body.results();
  bool fits = results.size() == root->types.size();
  for (size_t k = 0; fits && k < results.size(); ++k) {
    if (!(results[k].shape == root->types[k].shape)) {
      throw ShapeError("custom_root: the guess is " + to_string(root->types[k]) + ", f of it is " +
                       to_string(results[k]) + "; there must be as many equations as unknowns");
    }
    convert_output(body.graph, k, root->types[k]);
  }
  if (!fits) {
    throw TreeError("custom_root: the guess has " + std::to_string(root->types.size()) +
                    " arrays, f of it has " + std::to_string(results.size()));
  }
  root->f = std::move(body.graph);
  root->consts = body.consts.size();
  root->solve = solve;
  root->tangent_solve = tangent_solve;
  return bind_custom(root_function(root), joined(body.consts, guess));
}

}  // namespace spruce::internal
