// SPDX-License-Identifier: Apache-2.0
// Training in the way of scikit-learn: fit gives a fitted value, which predicts.
#pragma once

#include <functional>

#include "spruce/core/ops/index.h"
#include "spruce/core/ops/take.h"
#include "spruce/nn/factory.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::nn {

/// Options of estimator().
struct EstimatorOptions {
  int64_t epochs = 10;      ///< how often fit goes through the data
  int64_t batch_size = 32;  ///< examples in one step; all at once where there are fewer
  bool shuffle = true;      ///< another order in each epoch, from the key of fit
  bool drop_last = false;   ///< leave out the last batch of an epoch where it is smaller
  bool jit = true;          ///< compile steps and predictions
};

namespace internal {

/// Throws ValueError for options that cannot be.
EstimatorOptions checked_options(const EstimatorOptions& options);
/// Throws ShapeError unless both have rank 1 or more and one size along axis 0, which is not 0.
int64_t checked_examples(const char* op, const Array& x, const Array& y);
/// The places of the examples of one epoch, batch by batch.
std::vector<Array> batches(const EstimatorOptions& options, const Key& key, int64_t n);
/// A loss as a number. Throws ValueError where it is NaN, naming the step and epoch of `fit`.
float known_loss(const char* op, const Array& loss, int64_t step = -1, int64_t epoch = -1);
/// Throws the error again, with the next step, of a last batch with one example.
[[noreturn]] void throw_one_example(const ValueError& e, int64_t batch_size);
/// f(), the step on the rows of a batch of n examples.
template <class F>
auto step_on(const Array& rows, int64_t n, int64_t batch_size, const F& f) {
  try {
    return f();
  } catch (const ValueError& e) {
    if (rows.size() > 1 || n == 1 || batch_size == 1) throw;
    throw_one_example(e, batch_size);
  }
}
/// See Fitted::score.
float score(const Array& predicted, const Array& y);
/// params + updates where they are trained, in the dtype of the parameter.
template <class P, class U>
P updated_parameters(const P& params, const U& updates) {
  const auto trained = [](tree::Leaf kind, const Array& a) {
    return kind == tree::Leaf::kArray && a.defined() && is_floating(a.dtype());
  };
  return tree::internal::map_leaves(
      tree::internal::MapSelected{"estimator", LocScope::current(), trained},
      [](const Array& p, const Array& u) { return (p + u).astype(p.dtype()); }, params, updates);
}

}  // namespace internal

/// What fit has seen.
struct History {
  std::vector<float> loss;  ///< the mean loss of each epoch, of fit; then that of each step()
};

/// A model that has been fitted, with the state of its optimizer: a value, that no call changes.
template <class Model, class State>
class Fitted {
 public:
  /// Parameters of the model.
  using Parameters = std::remove_cvref_t<decltype(std::declval<Model>().parameters())>;
  /// Of the library: {next parameters, next state, loss} of a batch.
  using Step = std::function<std::tuple<Parameters, State, Array>(
      const Parameters&, const State&, const Key&, const Array&, const Array&)>;
  /// Of the library: the model in evaluation mode.
  using Predict = std::function<Array(const Parameters&, const Array&)>;

  /// Of the library: made by Estimator::fit.
  Fitted(Model model, State state, Key key, History history, std::shared_ptr<const Step> step,
         std::shared_ptr<const Predict> predict)
      : model_(std::move(model)),
        state_(std::move(state)),
        key_(std::move(key)),
        history_(std::move(history)),
        step_(std::move(step)),
        predict_(std::move(predict)) {}

  /// The model's result in evaluation mode.
  Array predict(const Array& x) const { return (*predict_)(parameters(), x); }
  /// How good predict(x) is: where y are integers or bool, the share of rows whose largest entry
  /// stands at y, or, where predictions are one logit for each row and y are 0 and 1, in which the
  /// logit is positive where y is 1 and only there; else the coefficient of determination R^2, 1
  /// for a perfect fit and 0 for the mean of y. Throws ShapeError where they do not fit.
  float score(const Array& x, const Array& y, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    internal::checked_examples("score", x, y);
    return internal::score(predict(x), y);
  }
  /// One step of the optimizer on these examples: a new value; this one is unchanged. Throws
  /// ShapeError where they do not fit, ValueError where the loss is NaN.
  Fitted step(const Array& x, const Array& y, Loc loc = Loc::current()) const {
    {
      const LocScope at(loc);
      internal::checked_examples("step", x, y);
    }
    const auto [own, next] = random::split<2>(key_);
    auto [params, state, loss] = (*step_)(parameters(), state_, own, x, y);
    History history = history_;
    const LocScope at(loc);
    history.loss.push_back(internal::known_loss("step", loss));
    return {model_.factory()(std::move(params)),
            std::move(state),
            next,
            std::move(history),
            step_,
            predict_};
  }

  /// The pure function, to be called with a context or differentiated.
  const Model& model() const { return model_; }
  /// Its parameters, a tree.
  const Parameters& parameters() const { return model_.parameters(); }
  /// The state of the optimizer.
  const State& state() const { return state_; }
  /// The losses so far.
  const History& history() const { return history_; }

 private:
  Model model_;
  State state_;
  Key key_;
  History history_;
  std::shared_ptr<const Step> step_;
  std::shared_ptr<const Predict> predict_;
};

/// A factory with a loss and an optimizer: what fit needs besides data.
template <class F, class Loss, class Optimizer>
class Estimator {
 public:
  /// Throws ValueError for options that cannot be: a batch without examples, negative epochs.
  Estimator(F factory, Loss loss, Optimizer optimizer, const EstimatorOptions& options = {},
            Loc loc = Loc::current())
      : factory_(std::move(factory)), loss_(std::move(loss)), optimizer_(std::move(optimizer)) {
    const LocScope at(loc);
    options_ = internal::checked_options(options);
  }

  /// New parameters, trained on the examples x and y along axis 0: a fitted value; the estimator is
  /// unchanged. The key gives the parameters, the order of the examples and what dropout draws.
  /// Throws ShapeError unless there are examples, as many of x as of y; ValueError, naming the
  /// step, where a loss is NaN.
  auto fit(const Key& key, const Array& x, const Array& y, Loc loc = Loc::current()) const {
    const FunctionScope within(loc);
    const int64_t n = [&] {
      const LocScope at(loc);
      return internal::checked_examples("fit", x, y);
    }();
    const auto [k_init, k_order, k_step, k_later] = random::split<4>(key);
    auto params = factory_.init(k_init, x[slice(0, std::min(n, options_.batch_size))]);
    using Params = decltype(params);
    auto state = optimizer_.init(params);
    using State = decltype(state);
    using Result = Fitted<decltype(factory_(params)), State>;
    const auto step = std::make_shared<const typename Result::Step>(make_step<Params, State>());
    History history;
    int64_t count = 0;
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      double total = 0, seen = 0;
      for (const Array& rows : internal::batches(options_, random::fold_in(k_order, epoch), n)) {
        auto [next, next_state, loss] =
            internal::step_on(rows, n, options_.batch_size, [&, &keys = k_step] {
              return (*step)(params, state, random::fold_in(keys, count), take(x, rows, 0),
                             take(y, rows, 0));
            });
        params = std::move(next);
        state = std::move(next_state);
        const auto size = static_cast<double>(rows.size());
        const LocScope at(loc);
        total += size * static_cast<double>(internal::known_loss("fit", loss, count, epoch));
        ++count;
        seen += size;
      }
      history.loss.push_back(static_cast<float>(total / seen));
    }
    return Result(factory_(std::move(params)), std::move(state), k_later, std::move(history), step,
                  std::make_shared<const typename Result::Predict>(make_predict<Params>()));
  }

 private:
  template <class Params, class State>
  std::function<std::tuple<Params, State, Array>(const Params&, const State&, const Key&,
                                                 const Array&, const Array&)>
  make_step() const {
    const auto step = [factory = factory_, loss = loss_, optimizer = optimizer_](
                          const Params& params, const State& state, const Key& key, const Array& x,
                          const Array& y) {
      const auto of = [&](const Params& p) {
        Context ctx;
        ctx.training = true;
        ctx.key = key;
        const auto model = factory(p);
        const Array value = loss(model(x, ctx), y);
        return std::pair{value, ctx.updated(model.parameters())};
      };
      const auto [out, grads] = value_and_grad(of)(params);
      auto [updates, next] = optimizer.update(grads, state, params);
      return std::tuple<Params, State, Array>(internal::updated_parameters(out.second, updates),
                                              std::move(next), out.first);
    };
    if (options_.jit) return jit(step, {.name = "estimator step"});
    return step;
  }
  template <class Params>
  std::function<Array(const Params&, const Array&)> make_predict() const {
    const auto predict = [factory = factory_](const Params& params, const Array& x) -> Array {
      return factory(params)(x);
    };
    if (options_.jit) return jit(predict, {.name = "estimator predict"});
    return predict;
  }

  F factory_;
  Loss loss_;
  Optimizer optimizer_;
  EstimatorOptions options_;
};

/// estimator(sequential(dense(8), relu, dense(3)), cross_entropy, optim::adam(), {.epochs = 5}):
/// the loss is a function of what the model gives and of y, the optimizer anything with init and
/// update. Throws ValueError for options that cannot be.
template <class F, class Loss, class Optimizer>
Estimator<F, Loss, Optimizer> estimator(F factory, Loss loss, Optimizer optimizer,
                                        const EstimatorOptions& options = {},
                                        Loc loc = Loc::current()) {
  return Estimator<F, Loss, Optimizer>(std::move(factory), std::move(loss), std::move(optimizer),
                                       options, loc);
}

}  // namespace spruce::nn
