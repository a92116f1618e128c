// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/implicit/root.h"

#include "spruce/core/custom.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/derive/custom.h"
#include "spruce/transforms/implicit/tangents.h"

namespace spruce::internal {
namespace {

constexpr RuleKind kCustomRoot{
    "custom_root",
    "f may do so, but solve and tangent_solve reach it through the function that they are called "
    "with"};

struct Root {
  GraphPtr f;  // constants, x -> f(x)
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
  const FlatBody f = [&](std::span<const Array> y) {
    check_types("custom_root: the guess", "what f is called with", types_of(y), r.types,
                "f takes what has the type of the guess");
    return apply_graph(*r.f, joined(consts, y));
  };
  std::vector<Array> x = r.solve(f, in.subspan(r.consts));
  check_types("custom_root: the guess", "what solve returned", types_of(x), r.types,
              "a root has the type of the guess");
  return x;
}

// {x, dx} from constants, guess and their tangents: J dx = -df.
std::vector<Array> rule(const std::shared_ptr<const Root>& root, std::span<const Array> in) {
  const Root& r = *root;
  const size_t n = r.types.size();
  const auto primals = in.first(r.consts + n), consts = in.first(r.consts);
  const std::vector<Array> x = bind_custom(root_function(root), primals);
  const std::vector<Array> at = joined(consts, x);
  std::vector<Array> tangents(at.size());
  for (size_t i = 0; i < r.consts; ++i) {
    if (is_floating(in[i].dtype())) tangents[i] = in[r.consts + n + i];
  }
  std::vector<Array> rhs = body_tangents(r.f, at, tangents);
  for (size_t k = 0; k < n; ++k) rhs[k] = rhs[k].defined() ? -rhs[k] : rules::zeros_of(r.types[k]);
  // Staged, the map is transposed; computed now, loops in f need no bound.
  std::unique_ptr<const BodyDerivative> jacobian;
  if (Interpreter::current() != nullptr) {
    Mask of_x(r.consts, false);
    of_x.resize(r.consts + n, true);
    jacobian = std::make_unique<const BodyDerivative>(*r.f, at, of_x);
  }
  const FlatBody map = [&](std::span<const Array> v) {
    const std::vector<Array> none(r.consts);
    std::vector<Array> out =
        jacobian != nullptr ? (*jacobian)(v) : body_tangents(r.f, at, joined(none, v));
    for (size_t k = 0; k < n; ++k) {
      if (!out[k].defined()) out[k] = rules::zeros_of(r.types[k]);
    }
    return out;
  };
  return joined(x, flat_linear_solve(map, rhs, r.tangent_solve, r.tangent_solve, {}));
}

std::shared_ptr<const CustomFunction> root_function(const std::shared_ptr<const Root>& root) {
  return make_custom_jvp([root](std::span<const Array> in) { return find(*root, in); },
                         [root](std::span<const Array> in) { return rule(root, in); }, kCustomRoot);
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
  root->f = std::make_shared<const Graph>(std::move(body.graph));
  root->consts = body.consts.size();
  root->solve = solve;
  root->tangent_solve = tangent_solve;
  return bind_custom(root_function(root), joined(body.consts, guess));
}

}  // namespace spruce::internal
