// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/custom.h"

#include "spruce/core/escaped.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/function/function_form.h"
#include "spruce/transforms/vmap/batch.h"

namespace spruce::internal {
namespace {

constexpr RuleKind kCustomVjp{
    "custom_vjp",
    "hand it over as an argument of the function, so that the derivative rule knows of it; bwd "
    "gets what it needs as residuals"};

// Runs a flat function over a mapped axis. `batched` tells the inputs in front-axis form; the
// outputs all come in it.
std::vector<Array> run_batched(const FlatFunction& f, std::span<const Array> in,
                               const std::vector<bool>& batched, int64_t size) {
  BatchInterpreter batch(size, "");
  std::vector<Array> args(in.begin(), in.end()), out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (batched[i] && args[i].defined()) args[i] = batch.make(args[i]);
  }
  {
    const InterpreterScope scope(&batch);
    out = f(args);
  }
  for (Array& a : out) {
    if (a.defined()) a = rules::materialize_batch(batch.unwrap(a), batch.owns(a), size);
  }
  return out;
}

Array tangent_or_zeros(const Array& t, const Array& value) {
  return t.defined() ? t : rules::zeros_of(value.aval());
}

class JvpFunction final : public CustomFunction {
 public:
  JvpFunction(FlatFunction f, FlatFunction rule, const RuleKind& kind)
      : f_(std::move(f)), rule_(std::move(rule)), kind_(kind) {}

  std::vector<Array> call(std::span<const Array> in) const override { return f_(in); }
  void jvp(std::span<const Array> in, std::span<const Array> tangents, std::vector<Array>& out,
           std::vector<Array>& out_tangents) const override {
    std::vector<Array> both(in.begin(), in.end());
    for (size_t i = 0; i < in.size(); ++i) both.push_back(tangent_or_zeros(tangents[i], in[i]));
    const std::vector<Array> results = rule_(both);
    const size_t n = results.size() / 2;
    out.assign(results.begin(), results.begin() + static_cast<int64_t>(n));
    out_tangents.assign(results.begin() + static_cast<int64_t>(n), results.end());
  }
  std::shared_ptr<const CustomFunction> batch(int64_t size,
                                              std::vector<bool> batched) const override {
    std::vector<bool> twice = batched;
    twice.insert(twice.end(), batched.begin(), batched.end());
    return make_custom_jvp(
        [f = f_, size, batched](std::span<const Array> in) {
          return run_batched(f, in, batched, size);
        },
        [f = rule_, size, twice](std::span<const Array> in) {
          return run_batched(f, in, twice, size);
        },
        kind_);
  }
  const RuleKind& kind() const override { return kind_; }

 private:
  FlatFunction f_, rule_;
  const RuleKind& kind_;
};

struct Backward {
  FlatFunction run;
};

class VjpFunction final : public CustomFunction {
 public:
  VjpFunction(FlatFunction f, FlatFunction fwd, FlatFunction bwd,
              std::shared_ptr<std::atomic<size_t>> outputs)
      : f_(std::move(f)),
        fwd_(std::move(fwd)),
        bwd_(std::move(bwd)),
        outputs_(std::move(outputs)) {}

  std::vector<Array> call(std::span<const Array> in) const override { return f_(in); }
  void jvp(std::span<const Array> in, std::span<const Array> tangents, std::vector<Array>& out,
           std::vector<Array>& out_tangents) const override {
    const std::vector<Array> all = fwd_(in);
    const size_t n = *outputs_;
    out.assign(all.begin(), all.begin() + static_cast<int64_t>(n));
    PullbackRule rule;
    rule.name = kCustomVjp.name;
    rule.residuals = all.size() - n;
    std::vector<Array> ts;
    for (size_t i = 0; i < in.size(); ++i) {
      ts.push_back(tangent_or_zeros(tangents[i], in[i]));
      rule.in_avals.push_back(in[i].aval());
    }
    for (const Array& a : out) rule.out_avals.push_back(a.aval());
    rule.self = std::make_shared<const Backward>(Backward{bwd_});
    rule.run = [](const void* self, std::span<const Array> residuals, std::span<const Array> cts) {
      const RuleKindScope here(kCustomVjp);
      std::vector<Array> args(residuals.begin(), residuals.end());
      args.insert(args.end(), cts.begin(), cts.end());
      return static_cast<const Backward*>(self)->run(args);
    };
    out_tangents = bind_pullback(std::move(rule), std::span<const Array>(all).subspan(n), ts);
    for (size_t k = 0; k < n; ++k) {
      if (!is_floating(out[k].dtype())) out_tangents[k] = Array();
    }
  }
  std::shared_ptr<const CustomFunction> batch(int64_t size,
                                              std::vector<bool> batched) const override {
    const auto forward = [f = fwd_, size, batched](std::span<const Array> in) {
      return run_batched(f, in, batched, size);
    };
    const auto backward = [f = bwd_, size, batched](std::span<const Array> in) {
      std::vector<Array> cts = run_batched(f, in, std::vector<bool>(in.size(), true), size);
      for (size_t i = 0; i < cts.size(); ++i) {
        if (cts[i].defined() && !batched[i]) cts[i] = sum(cts[i], 0);
      }
      return cts;
    };
    return make_custom_vjp(
        [f = f_, size, batched](std::span<const Array> in) {
          return run_batched(f, in, batched, size);
        },
        forward, backward, outputs_);
  }
  const RuleKind& kind() const override { return kCustomVjp; }

 private:
  FlatFunction f_, fwd_, bwd_;
  std::shared_ptr<std::atomic<size_t>> outputs_;
};

}  // namespace

std::shared_ptr<const CustomFunction> make_custom_jvp(FlatFunction f, FlatFunction rule,
                                                      const RuleKind& kind) {
  return std::make_shared<JvpFunction>(std::move(f), std::move(rule), kind);
}

std::shared_ptr<const CustomFunction> make_custom_vjp(
    FlatFunction f, FlatFunction fwd, FlatFunction bwd,
    std::shared_ptr<std::atomic<size_t>> outputs) {
  return std::make_shared<VjpFunction>(std::move(f), std::move(fwd), std::move(bwd),
                                       std::move(outputs));
}

namespace {

// "argument 0 at weight", "the result at hidden": what a rule gives the derivative of.
std::string value_name(bool arguments, const std::string& path) {
  if (arguments) return argument_name(path);
  return path.empty() ? "the result" : "the result at " + path;
}

}  // namespace

std::vector<Array> derivatives_of(const char* op, const std::vector<tree::Entry>& values,
                                  const std::vector<tree::Entry>& given) {
  const std::string head(op);
  const bool arguments = head.starts_with("custom_vjp");
  const std::string what = arguments ? "cotangent" : "tangent";
  std::vector<Array> out;
  for (size_t i = 0; i < std::max(values.size(), given.size()); ++i) {
    if (i >= given.size() || i >= values.size() || given[i].path != values[i].path) {
      const bool extra = i >= values.size();
      throw TreeError(head + " returned " + (extra ? "a " : "no ") + what + " for " +
                      value_name(arguments, (extra ? given : values)[i].path) +
                      (extra ? ", where there is no array" : "") + "; return one " + what +
                      " for each array, in its place; an undefined Array is zero");
    }
    const Array &value = values[i].value, &t = given[i].value;
    out.push_back(Array());
    if (!value.defined() || !t.defined()) continue;
    if (values[i].kind != tree::Leaf::kArray || !is_floating(value.dtype())) continue;
    const Aval &want = value.aval(), &got = t.aval();
    const bool same_shape = got.shape == want.shape;
    if (!same_shape || (got.dtype != want.dtype && !takes_dtype(got, want))) {
      const std::string text = head + " returned " + to_string(got) + " as the " + what + " of " +
                               value_name(arguments, values[i].path) + ", which is " +
                               to_string(want) + "; they must have one ";
      if (!same_shape) throw ShapeError(text + "shape");
      throw DtypeError(text + "dtype: convert it with astype");
    }
    out.back() = number_as(t, want);
  }
  return out;
}

}  // namespace spruce::internal
