# SPDX-License-Identifier: Apache-2.0
"""Writes optax_cases.inc: parameters along 200 steps of Optax's and PyTorch's optimizers, in f64.

    python tests/optim/make_optax_cases.py > tests/optim/optax_cases.inc
    (optax 0.2.8, jax 0.10.2, torch 2.15.0; names of cases behind it: those alone)

The parameters are three arrays, a f64[3], b f64[] and w f64[2,3]; the gradient at step t of element i
is sin(1.3 t + i) + 0.1 p, where b is element 3 and w has 4..9. The loss that some optimizers ask for
is half the sum of squares of the parameters. One line a case: its name, and the ten numbers after
each step of STEPS.
"""

import sys
import warnings

import jax

jax.config.update("jax_enable_x64", True)
warnings.filterwarnings("ignore")
import jax.numpy as jnp
import numpy as np
import optax
import torch
from optax import contrib

STEPS = (1, 2, 5, 20, 200)
START = {
    "a": np.array([1.0, -2.0, 0.5]),
    "b": np.array(3.0),
    "w": np.array([[0.5, -1.5, 2.5], [-0.25, 1.25, 0.75]]),
}


def is_matrix(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


def label_of(params):
    return {"a": "first", "b": "first", "w": "second"}


def every_k(step):
    return jnp.where(step < 3, 2, 3)


def factored(**options):
    """scale_by_factored_rms with a decay rate in f64."""
    return optax.scale_by_factored_rms(
        decay_rate_fn=lambda i, exponent: 1.0 - (jnp.float64(i) + 1.0) ** (-exponent), **options
    )


def of_two_examples(optimizer):
    """For the gradients g and 2 g of two examples."""

    def update(grads, state, params):
        return optimizer.update(jax.tree.map(lambda g: jnp.stack([g, 2 * g]), grads), state, params)

    return optax.GradientTransformation(optimizer.init, update)


def of_measures(measured, factor):
    """Updates times factor(state) of what a monitor or snapshot has measured."""

    def update(grads, state, params=None):
        updates, state = measured.update(grads, state, params)
        return jax.tree.map(lambda u: u * factor(state), updates), state

    return optax.GradientTransformation(measured.init, update)


def largest(tree):
    return jnp.max(jnp.stack([jnp.max(jnp.abs(a)) for a in jax.tree.leaves(tree)]))


def clipped_units(grads, params):
    """unitwise_clip at half the norms of the rows of weights f[out, in], or of whole arrays."""

    def clip(g, p):
        axis = -1 if g.ndim > 1 else None
        norm = optax.transforms.unitwise_norm
        return optax.transforms.unitwise_clip(norm(g, axis), 0.5 * norm(p, axis), g)

    return jax.tree.map(clip, grads, params)


def over_parts(grads, params):
    """The gradients times the mean over parts of a batch of sums of sines."""

    def f(grads, x):
        return jax.tree.map(lambda g: jnp.sum(jnp.sin(x)) * g, grads)

    mean = optax.microbatching.AccumulationType.MEAN
    return optax.microbatch(f, 1, 2, mean)(grads, jnp.arange(6.0) / 4)


def of_transposed(optimizer):
    """For matrices f[out, in], where Optax takes f[in, out]."""

    def turned(tree):
        return None if tree is None else jax.tree.map(jnp.transpose, tree)

    def update(grads, state, params=None):
        updates, state = optimizer.update(turned(grads), state, turned(params))
        return turned(updates), state

    return optax.GradientTransformation(lambda params: optimizer.init(turned(params)), update)


def with_wide_count(optimizer):
    """madgrad whose count is f64: of i32, JAX takes the root in f32."""

    def init(params):
        decay, state = optimizer.init(params)
        return decay, state._replace(count=jnp.zeros([], jnp.float64))

    return optax.GradientTransformation(init, optimizer.update)


def of_vectors(optimizer):
    """For f[1] where the parameter is f[], which sm3 does not take."""

    def turned(tree):
        return None if tree is None else jax.tree.map(jnp.atleast_1d, tree)

    def update(grads, state, params=None):
        updates, state = optimizer.update(turned(grads), state, turned(params))
        return jax.tree.map(lambda u, g: u.reshape(g.shape), updates, grads), state

    return optax.GradientTransformation(lambda params: optimizer.init(turned(params)), update)


def shampoo(learning_rate, decay=1.0, eps=1e-4):
    """Shampoo as in its paper, its roots by eigenvalues; Adagrad for what is no matrix."""

    def root(a):
        values, vectors = jnp.linalg.eigh(a)
        return (vectors * values**-0.25) @ vectors.T

    def init(params):
        def sums(p):
            return [eps * jnp.eye(n) for n in p.shape] if p.ndim == 2 else [jnp.full(p.shape, eps)]

        return {name: sums(p) for name, p in params.items()}

    def update(grads, state, params=None):
        updates, after = {}, {}
        for name, g in grads.items():
            if g.ndim == 2:
                left, right = decay * state[name][0] + g @ g.T, decay * state[name][1] + g.T @ g
                after[name] = [left, right]
                updates[name] = -learning_rate * root(left) @ g @ root(right)
            else:
                after[name] = [decay * state[name][0] + g**2]
                updates[name] = -learning_rate * g / jnp.sqrt(after[name][0])
        return updates, after

    return optax.GradientTransformation(init, update)


CASES = {}
WITH_LOSS = ("polyak", "reduce_on_plateau", "momo")


def case(name, optimizer):
    assert name not in CASES, name
    CASES[name] = optimizer


case("sgd", optax.sgd(0.1))
case("momentum", optax.sgd(0.1, momentum=0.75))
case("nesterov", optax.sgd(0.1, momentum=0.75, nesterov=True))
case("adam", optax.adam(0.1))
case("adam_options", optax.adam(0.1, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125))
case("adamw", optax.adamw(0.1, weight_decay=0.25))
case("adamw_mask", optax.adamw(0.1, weight_decay=0.25, mask=is_matrix))
case("nadam", optax.nadam(0.1))
case("nadam_options", optax.nadam(0.01, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125))
case("nadamw", optax.nadamw(0.1, weight_decay=0.25))
case("nadamw_mask", optax.nadamw(0.1, b1=0.5, weight_decay=0.25, mask=is_matrix))
case("rmsprop", optax.rmsprop(0.1))
case("rmsprop_centered", optax.rmsprop(0.1, centered=True, initial_scale=1.0))
case("rmsprop_momentum", optax.rmsprop(0.1, decay=0.75, momentum=0.5))
case(
    "rmsprop_nesterov",
    optax.rmsprop(0.1, decay=0.75, momentum=0.5, nesterov=True, centered=True, eps=0.125),
)
case("rmsprop_outside", optax.rmsprop(0.1, eps=0.125, eps_in_sqrt=False, bias_correction=True))
case(
    "rmsprop_outside_centered",
    optax.rmsprop(0.1, eps=0.125, initial_scale=1.0, eps_in_sqrt=False, centered=True),
)
case("amsgrad", optax.amsgrad(0.1))
case("amsgrad_options", optax.amsgrad(0.1, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125))
case(
    "amsgrad_plain",
    optax.amsgrad(0.1, b2=0.75, bias_correction_mu=False, bias_correction_nu=False),
)
case("adamax", optax.adamax(0.1))
case("adamax_options", optax.adamax(0.1, b1=0.5, b2=0.75, eps=0.25))
case("adamaxw", optax.adamaxw(0.1, weight_decay=0.25))
case("adamaxw_mask", optax.adamaxw(0.1, b1=0.5, weight_decay=0.25, mask=is_matrix))
case("radam", optax.radam(0.1))
case("radam_options", optax.radam(0.1, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125, threshold=4.5))
case("radam_nesterov", optax.radam(0.1, b2=0.9, nesterov=True))
case("adabelief", optax.adabelief(0.1))
case("adabelief_options", optax.adabelief(0.1, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125))
case("adabelief_nesterov", optax.adabelief(0.1, eps=1e-4, nesterov=True))
case("yogi", optax.yogi(0.1))
case("yogi_options", optax.yogi(0.1, b1=0.5, b2=0.75, eps=0.25))
case("lion", optax.lion(0.01))
case("lion_options", optax.lion(0.01, b1=0.5, b2=0.75, weight_decay=0.25, mask=is_matrix))
case("adan", optax.adan(0.1))
case("adan_options", optax.adan(0.1, 0.5, 0.75, 0.25, 0.5, 0.125, 0.25, is_matrix))
case("ademamix", contrib.ademamix(0.1))
case(
    "ademamix_options",
    contrib.ademamix(0.01, 0.5, 0.75, 0.625, 2.0, 0.25, 0.125, weight_decay=0.25, mask=is_matrix),
)
case("ademamix_schedules", contrib.ademamix(0.1, b3=lambda c: c / (c + 8.0), alpha=lambda c: c / 64.0))
case("adopt", contrib.adopt(0.1))
case("adopt_options", contrib.adopt(0.1, b1=0.5, b2=0.75, eps=0.25, use_clipping=False))
case("adopt_nesterov", contrib.adopt(0.1, nesterov=True))
case("adagrad", optax.adagrad(0.1))
case("adagrad_options", optax.adagrad(0.5, initial_accumulator_value=0.0, eps=0.25))
case("adadelta", optax.adadelta(1.0))
case("adadelta_options", optax.adadelta(0.5, 0.75, 0.125, 0.25, is_matrix))
case("adafactor", optax.chain(factored(), optax.clip_by_block_rms(1.0), optax.scale_by_learning_rate(0.1, flip_sign=False), optax.scale_by_param_block_rms(), optax.scale(-1)))
case("adafactor_factored", optax.chain(factored(min_dim_size_to_factor=2), optax.clip_by_block_rms(1.0), optax.scale_by_learning_rate(0.1, flip_sign=False), optax.scale_by_param_block_rms(), optax.scale(-1)))
case("adafactor_options", optax.chain(factored(min_dim_size_to_factor=2, decay_rate=0.5, epsilon=0.125), optax.clip_by_block_rms(0.5), optax.scale_by_learning_rate(0.1, flip_sign=False), optax.ema(0.5, debias=False), optax.add_decayed_weights(0.25, is_matrix), optax.scale(-1)))
case("sign_sgd", optax.sign_sgd(0.01))
case("signum", optax.signum(0.01))
case("signum_options", optax.signum(0.01, beta=0.5))
case("lars", optax.lars(0.1))
case("lars_options", optax.lars(0.5, 0.25, is_matrix, 0.25, 0.125, is_matrix, 0.5, True))
case("lamb", optax.lamb(0.1))
case("lamb_options", optax.lamb(0.1, 0.5, 0.75, 0.25, 0.125, 0.25, is_matrix))
case("fromage", optax.fromage(0.1))
case("fromage_schedule", optax.fromage(lambda c: 1.0 / (c + 4.0), 0.25))
case("novograd", optax.novograd(0.1))
case("novograd_options", optax.novograd(0.01, 0.5, 0.75, 0.25, 0.125, 0.25))
case("polyak_sgd", optax.polyak_sgd(0.5, 0.25, -1.0, 0.125))
case("polyak_sgd_plus", optax.polyak_sgd(f_min=4.0, variant="sps+"))
case("optimistic_gradient_descent", optax.optimistic_gradient_descent(0.1, 0.5, 0.25))
case("optimistic_adam", optax.optimistic_adam_v2(0.1, alpha=0.5, beta=0.25))
case("acprop", contrib.acprop(0.01, eps=0.125))
case("acprop_options", contrib.acprop(0.1, 0.5, 0.75, 0.25, 0.125, 0.25, is_matrix))
case("dog", contrib.dog())
case("dog_distance", contrib.dog(0.5, ("distance", 0.125), 0.25, 0.25, is_matrix))
case("dog_learning_rate", contrib.dog(1.0, ("learning_rate", 0.125)))
case("dowg", contrib.dowg())
case("dowg_options", contrib.dowg(0.5, 0.125, 0.25, 0.25, is_matrix))
case("madgrad", with_wide_count(contrib.madgrad(0.1)))
case("madgrad_options", with_wide_count(contrib.madgrad(lambda c: 1.0 / (c + 8.0), 0.5, 0.25, 0.125)))
case("cocob", contrib.cocob())
case("cocob_options", contrib.cocob(0.5, 4.0, 0.125, 0.25, is_matrix))
case("dadapt_adamw", contrib.dadapt_adamw())
case("dadapt_adamw_options", contrib.dadapt_adamw(0.5, (0.5, 0.75), 0.125, 0.01, 0.25))
case("dpsgd", of_two_examples(contrib.dpsgd(0.1, 0.75, 0.125, 3)))
case("dpsgd_options", of_two_examples(contrib.dpsgd(0.1, 8.0, 0.25, 4, 0.5, True)))
case("prodigy", contrib.prodigy(0.5))
case("prodigy_options", contrib.prodigy(0.5, (0.5, 0.75), 0.25, 0.125, 0.01, 2.0, 0.25, True))
case("schedule_free", contrib.schedule_free(optax.sgd(0.1), 0.1))
case("schedule_free_options", contrib.schedule_free(optax.adam(0.1), lambda c: 1.0 / (c + 8.0), 0.5, 1.0))
case("schedule_free_sgd", contrib.schedule_free_sgd(0.1, b1=0.75, weight_decay=0.25))
case("schedule_free_adamw", contrib.schedule_free_adamw(0.1, weight_decay=0.25))
case("muon", of_transposed(contrib.muon(0.1)))
case("muon_options", of_transposed(contrib.muon(0.1, ns_steps=3, beta=0.5, nesterov=False, weight_decay=0.25, adam_b1=0.5, adam_learning_rate=0.2, consistent_rms=0.25)))
case("muon_adaptive", of_transposed(contrib.muon(0.1, adaptive=True, preconditioning="schatten")))
case("muon_aol", of_transposed(contrib.muon(0.05, preconditioning="aol", beta=0.75)))
case("muon_dion", of_transposed(contrib.muon(0.1, ns_coeffs="dion")))
case("sam", contrib.sam(optax.sgd(0.1), optax.chain(contrib.normalize(), optax.sgd(0.05))))
case("sam_options", contrib.sam(optax.adam(0.1), optax.adam(0.05), sync_period=3, reset_state=False))

case("clip_sgd", optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1)))
case("clip_off", optax.chain(optax.clip_by_global_norm(50.0), optax.sgd(0.1)))
case("clip_value", optax.chain(optax.clip(0.5), optax.sgd(0.1, momentum=0.5)))
case("clip_block", optax.chain(optax.clip_by_block_rms(0.5), optax.sgd(0.1)))
case("adaptive_grad_clip", of_transposed(optax.chain(optax.adaptive_grad_clip(0.125), optax.sgd(0.1))))
case("adaptive_grad_clip_axis", optax.chain(optax.masked(optax.adaptive_grad_clip(0.25, 0.5, axis=-1), is_matrix), optax.sgd(0.1)))
case("normalize", optax.chain(optax.normalize_by_update_norm(2.0, 0.125), optax.sgd(0.1)))
case("centralize", optax.chain(optax.centralize(), optax.adam(0.1)))
case("chain", optax.chain(optax.scale_by_adam(), optax.add_decayed_weights(0.5), optax.scale(-0.25)))
case("trace", optax.chain(optax.trace(0.5, nesterov=True), optax.scale_by_learning_rate(0.1)))
case("schedule", optax.adam(lambda c: 1.0 / (c + 2.0)))
case("scale_by_schedule", optax.chain(optax.sgd(0.5), optax.scale_by_schedule(lambda c: 1.0 / (c + 2.0))))
case("ema", optax.chain(optax.ema(0.75), optax.sgd(0.1)))
case("ema_plain", optax.chain(optax.ema(0.75, debias=False), optax.sgd(0.1)))
case("masked", optax.chain(optax.masked(optax.scale_by_adam(), is_matrix), optax.scale(-0.1)))
case("masked_clip", optax.chain(optax.masked(optax.clip_by_global_norm(0.5), is_matrix), optax.sgd(0.1)))
case("partition", optax.partition({"first": optax.adam(0.1), "second": optax.sgd(0.1, momentum=0.5)}, label_of))
case("partition_freeze", optax.partition({"first": optax.adamw(0.1), "second": optax.set_to_zero()}, label_of))
case("freeze", optax.chain(optax.adam(0.1), optax.masked(optax.set_to_zero(), is_matrix)))
case("multi_steps", optax.MultiSteps(optax.adam(0.1), 4, accumulator_dtype=jnp.float64))
case("multi_steps_sum", optax.MultiSteps(optax.sgd(0.1, momentum=0.5), every_k, use_grad_mean=False, accumulator_dtype=jnp.float64))
case("multi_steps_skip", optax.MultiSteps(optax.adam(0.1), 2, should_skip_update_fn=lambda u, s, p: optax.skip_large_updates(u, s, p, 5.5), accumulator_dtype=jnp.float64))
case("apply_every", optax.chain(optax.adam(0.1), optax.apply_every(3)))
case("add_noise", optax.chain(optax.add_noise(0.25, 0.5, 7), optax.sgd(0.1)))
case("noisy_sgd", optax.noisy_sgd(0.1, key=1))
case("reduce_on_plateau", optax.chain(optax.sgd(0.5), contrib.reduce_on_plateau(patience=3)))
case("reduce_on_plateau_options", optax.chain(optax.adam(0.5), contrib.reduce_on_plateau(0.5, 2, 0.0, 0.01, 3, 2, 0.125)))
case("inject_hyperparams", optax.inject_hyperparams(optax.adamw)(learning_rate=lambda c: 1.0 / (c + 2.0), b1=0.75, weight_decay=0.25))
case("accumulated_masked", optax.MultiSteps(optax.chain(optax.masked(optax.trace(0.5), is_matrix), optax.sgd(0.1)), 3, accumulator_dtype=jnp.float64))

case("sm3", of_vectors(optax.sm3(0.1)))
case("sm3_options", of_vectors(optax.chain(optax.scale_by_sm3(0.5, 0.75, 0.125), optax.scale(-0.05))))
case("momo", contrib.momo(0.5))
case("momo_options", contrib.momo(lambda c: 1.0 / (c + 2.0), 0.5, 1.5, 0.25, True))
case("momo_adam", contrib.momo_adam(0.1))
case("momo_adam_options", contrib.momo_adam(0.5, 0.5, 0.75, 0.125, -1.0, 0.25, True))
case("mechanize", contrib.mechanize(optax.adam(1.0)))
case("mechanize_options", contrib.mechanize(optax.sgd(1.0, momentum=0.5), 0.25, 1e-4, 0.125, 3))
case("simplified_ademamix", contrib.simplified_ademamix(0.01))
case("simplified_ademamix_options", contrib.simplified_ademamix(0.01, 0.5, 0.75, lambda c: c / 64.0, 0.25, 0.125, 0.25, is_matrix))
case("scale_by_lbfgs", optax.chain(optax.scale_by_lbfgs(3), optax.scale(-0.01)))
case("shampoo", shampoo(0.1))
case("shampoo_options", shampoo(0.05, 0.75, 0.25))
case("lamb_clipped", optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(0.05, weight_decay=0.125)))
case("adagrad_schedule", optax.adagrad(lambda c: 1.0 / (c + 4.0)))
case("lion_accumulated", optax.MultiSteps(optax.lion(0.05, b1=0.5), 3, accumulator_dtype=jnp.float64))
case("nadam_masked", optax.chain(optax.masked(optax.add_decayed_weights(0.25), is_matrix), optax.nadam(0.05)))
case("yogi_schedule", optax.yogi(lambda c: 0.5 / (c + 2.0)))
case("distance_over_gradients", optax.chain(optax.scale_by_distance_over_gradients(param_dtype=jnp.float64), optax.scale(-1)))
case("distance_over_gradients_options", optax.chain(optax.scale_by_distance_over_gradients(0.125, 0.25, jnp.float64, 0.5), optax.scale(-1)))
case("param_block_norm", optax.chain(optax.scale_by_param_block_norm(0.25), optax.scale(-0.01)))
case("stddev", optax.chain(optax.scale_by_stddev(initial_scale=1.0), optax.scale(-0.1)))
case("stddev_options", optax.chain(optax.scale_by_stddev(0.75, 0.125, 1.0, False, True), optax.scale(-0.1)))
case("conditionally_transform", optax.chain(optax.conditionally_transform(optax.trace(0.5), lambda step: step % 3 != 1), optax.scale(-0.1)))
case("conditionally_mask", optax.conditionally_mask(optax.adam(0.1), lambda step: step % 3 != 1))
case("keep_params_nonnegative", optax.chain(optax.sgd(0.5), optax.keep_params_nonnegative()))
case("selective_transform", optax.selective_transform(optax.adam(0.1), freeze_mask={"a": False, "b": False, "w": True}))
case("flatten", optax.flatten(optax.chain(optax.clip_by_block_rms(0.5), optax.adam(0.1))))
case("contrib_normalize", optax.chain(contrib.normalize(), optax.sgd(0.1)))
case("incremental_update", optax.stateless(lambda g, p: jax.tree.map(jnp.subtract, optax.incremental_update(g, p, 0.25), p)))
case("per_example_global_norm_clip", of_two_examples(optax.chain(optax.stateless(lambda g, p: optax.per_example_global_norm_clip(g, 3.0)[0]), optax.sgd(0.05))))
case("per_example_layer_norm_clip", of_two_examples(optax.chain(optax.stateless(lambda g, p: optax.per_example_layer_norm_clip(g, 3.0)[0]), optax.sgd(0.05))))
case("per_example_layer_norm_clip_sizes", of_two_examples(optax.chain(optax.stateless(lambda g, p: optax.per_example_layer_norm_clip(g, 3.0, False)[0]), optax.sgd(0.05))))
case("unitwise_clip", optax.chain(optax.stateless(clipped_units), optax.sgd(0.1)))
case("microbatch", optax.chain(optax.stateless(over_parts), optax.sgd(0.1)))
case("scale_gradient", optax.chain(optax.stateless(lambda g, p: jax.tree.map(jnp.add, g, jax.grad(lambda q: loss(optax.scale_gradient(q, 0.25)))(p))), optax.sgd(0.1)))
case("snapshot", optax.chain(of_measures(optax.snapshot("norm", optax.tree.norm), lambda s: 1 / (1 + s.measurement["norm"])), optax.sgd(0.5)))
case("monitor", optax.chain(of_measures(optax.monitor({"norm": optax.measure_with_ema(optax.tree.norm, 0.75), "largest": largest}), lambda s: s.measurements["largest"] / (1 + s.measurements["norm"])), optax.sgd(0.5)))


def text(values):
    return ",".join("%.16g" % float(v) for v in values)


def write(name, values):
    """`values` is a generator, which is not run for cases that were not asked for."""
    if len(sys.argv) == 1 or name in sys.argv[1:]:
        print(f'{{"{name}", "{text(values)}"}},', flush=True)


def numbers(params):
    return [float(v) for name in "abw" for v in np.asarray(params[name]).reshape(-1)]


def gradient(params, t):
    return {
        "a": jnp.sin(1.3 * t + jnp.arange(3.0)) + 0.1 * params["a"],
        "b": jnp.sin(1.3 * t + 3.0) + 0.1 * params["b"],
        "w": jnp.sin(1.3 * t + 4.0 + jnp.arange(6.0).reshape(2, 3)) + 0.1 * params["w"],
    }


def loss(params):
    return 0.5 * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))


def trajectory(optimizer, of=lambda params: params, start=lambda params: params, with_loss=False, **extra):
    if isinstance(optimizer, optax.MultiSteps):
        optimizer = optimizer.gradient_transformation()
    optimizer = optax.with_extra_args_support(optimizer)
    params = start(jax.tree.map(jnp.asarray, START))
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, t):
        p = of(params)
        more = extra | ({"value": loss(p)} if with_loss else {})
        updates, state = optimizer.update(gradient(p, t), state, params, **more)
        return optax.apply_updates(params, updates), state

    for t in range(max(STEPS)):
        params, state = step(params, state, jnp.float64(t))
        if t + 1 in STEPS:
            yield from numbers(of(params))


def torch_trajectory(make, average=None):
    """The parameters, or what average(optimizer, params, t) makes of them after each step."""
    params = {n: torch.tensor(p, dtype=torch.float64, requires_grad=True) for n, p in START.items()}
    optimizer = make(list(params.values()))
    for t in range(max(STEPS)):
        grads = gradient({n: jnp.asarray(p.detach().numpy()) for n, p in params.items()}, float(t))
        for n, p in params.items():
            p.grad = torch.tensor(np.array(grads[n]))
        optimizer.step()
        now = average(optimizer, params, t) if average else params
        if t + 1 in STEPS:
            yield from numbers({n: p.detach().numpy() for n, p in now.items()})


def asgd_average(optimizer, params, t):
    return {n: optimizer.state[p]["ax"] for n, p in params.items()}


def averaged_model(**options):
    """torch.optim.swa_utils.AveragedModel."""
    model = None

    def average(optimizer, params, t):
        nonlocal model
        module = torch.nn.ParameterDict(params)
        model = model or torch.optim.swa_utils.AveragedModel(module, **options)
        model.update_parameters(module)
        return dict(model.module.items())

    return average


TORCH = {
    "torch_sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.75, dampening=0.25),
    "torch_sgd_decay": lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.25),
    "torch_sgd_nesterov": lambda p: torch.optim.SGD(
        p, 0.1, momentum=0.75, nesterov=True, weight_decay=0.25
    ),
    "torch_adam_l2": lambda p: torch.optim.Adam(p, 0.1, weight_decay=0.25),
    "torch_adamw": lambda p: torch.optim.AdamW(p, 0.1, betas=(0.5, 0.75), weight_decay=0.25),
    "torch_rmsprop": lambda p: torch.optim.RMSprop(p, 0.1, alpha=0.75, eps=0.125, momentum=0.5),
    "torch_rmsprop_centered": lambda p: torch.optim.RMSprop(p, 0.1, eps=0.125, centered=True),
    "torch_adadelta": lambda p: torch.optim.Adadelta(p, 0.5, rho=0.75, eps=0.125, weight_decay=0.25),
    # Optax 0.2.8 applies each update of rprop one step late.
    "torch_rprop": lambda p: torch.optim.Rprop(p, 0.1),
    "torch_rprop_options": lambda p: torch.optim.Rprop(
        p, 0.05, etas=(0.25, 1.5), step_sizes=(0.01, 0.5)
    ),
    "torch_adamax": lambda p: torch.optim.Adamax(p, 0.1, betas=(0.5, 0.75), eps=0.25),
    "torch_adagrad": lambda p: torch.optim.Adagrad(
        p, 0.1, initial_accumulator_value=0.125, eps=0.0
    ),
    "torch_asgd": lambda p: torch.optim.ASGD(p, 0.1),
    "torch_asgd_options": lambda p: torch.optim.ASGD(
        p, 0.5, lambd=0.125, alpha=0.5, t0=5, weight_decay=0.25
    ),
    "torch_radam": lambda p: torch.optim.RAdam(p, 0.05, betas=(0.5, 0.75), eps=1e-8),
}


def torch_sparse_adam(**options):
    """A table f64[5,2] of which each step uses three rows, two of them the same in every fifth."""
    table = torch.sin(torch.arange(10.0, dtype=torch.float64)).reshape(5, 2)
    optimizer = torch.optim.SparseAdam([table], **options)
    for t in range(max(STEPS)):
        rows = torch.tensor([(3 * t + 1) % 5, t % 5, 4])
        at = torch.arange(6.0, dtype=torch.float64).reshape(3, 2)
        values = torch.sin(1.3 * t + at) + 0.1 * table[rows]
        table.grad = torch.sparse_coo_tensor(rows[None], values, table.shape)
        optimizer.step()
        if t + 1 in STEPS:
            yield from table.reshape(-1).tolist()


print("// SPDX-License-Identifier: Apache-2.0")
print(
    f"// Made by make_optax_cases.py with optax {optax.__version__}, jax {jax.__version__}, "
    f"torch {torch.__version__.split('+')[0]}."
)
for name, optimizer in CASES.items():
    write(name, trajectory(optimizer, with_loss=name.startswith(WITH_LOSS)))


def objective(params):
    return sum(jnp.sum(jnp.cosh(p)) for p in jax.tree.leaves(params))


for name, optimizer in {
    "sophia": contrib.sophia(0.05),
    "sophia_options": contrib.sophia(
        0.05, 0.5, 0.75, 0.125, 0.25, is_matrix, 0.5, 0.5, update_interval=3
    ),
}.items():
    write(name, trajectory(optimizer, obj_fn=objective))
for name, optimizer in {
    "lookahead": optax.lookahead(optax.adam(0.1), 5, 0.5),
    "lookahead_options": optax.lookahead(optax.sgd(0.1, momentum=0.5), 3, 0.25, reset_state=True),
}.items():
    numbers_of = trajectory(
        optimizer, of=lambda p: p.fast, start=optax.LookaheadParams.init_synced
    )
    write(name, numbers_of)


def coupled(params):
    """Whose Hessian is no diagonal."""
    return 0.5 * sum(jnp.sum(jnp.sin(p)) for p in jax.tree.leaves(params)) ** 2


write("hutchinson", trajectory(optax.chain(contrib.hutchinson_estimator_diag_hessian(), optax.scale(-0.01)), obj_fn=coupled))


def valley(params):
    """Rosenbrock's function along the ten numbers, a quarter of it."""
    x = jnp.concatenate([params[n].reshape(-1) for n in "abw"])
    return 0.25 * jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def lbfgs_trajectory(optimizer):
    params = jax.tree.map(jnp.asarray, START)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        value, grad = jax.value_and_grad(valley)(params)
        updates, state = optimizer.update(grad, state, params, value=value, grad=grad, value_fn=valley)
        return optax.apply_updates(params, updates), state

    for t in range(LBFGS_STEPS[-1]):
        params, state = step(params, state)
        if t + 1 in LBFGS_STEPS:
            yield from numbers(params)


# Where rounding does not decide yet.
LBFGS_STEPS = (1, 2, 5, 10, 15)
for name, optimizer in {
    "lbfgs": optax.lbfgs(),
    "lbfgs_options": optax.lbfgs(
        memory_size=3,
        scale_init_precond=False,
        linesearch=optax.scale_by_zoom_linesearch(
            max_linesearch_steps=15,
            max_learning_rate=0.75,
            increase_factor=1.5,
            slope_rtol=0.01,
            curv_rtol=0.5,
            approx_dec_rtol=1e-3,
            initial_guess_strategy="one",
        ),
    ),
}.items():
    write(name, lbfgs_trajectory(optimizer))
for name, optimizer in {
    "backtracking": optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(60)),
    "backtracking_options": optax.chain(
        optax.sgd(0.5),
        optax.scale_by_backtracking_linesearch(30, 0.125, 0.5, 2.0, 0.25, 0.5, 0.0625),
    ),
}.items():
    write(name, lbfgs_trajectory(optimizer))


def nnls(columns):
    a = jnp.sin(1.3 * jnp.arange(15.0)).reshape(5, 3)
    b = jnp.cos(0.7 * jnp.arange(5.0 * columns)).reshape(5, columns)
    yield from optax.nnls(a, b[:, 0] if columns == 1 else b, 300).reshape(-1)


write("nnls", nnls(1))
write("nnls_columns", nnls(2))
# The step sizes of ASGD have the default dtype.
torch.set_default_dtype(torch.float64)
for name, make in TORCH.items():
    write(name, torch_trajectory(make))
write("torch_sparse_adam", torch_sparse_adam(lr=0.1))
write("torch_sparse_adam_options", torch_sparse_adam(lr=0.05, betas=(0.5, 0.75), eps=0.125))
write("torch_asgd_average", torch_trajectory(TORCH["torch_asgd_options"], asgd_average))
for name, options in {
    "torch_average": {},
    "torch_average_ema": {"avg_fn": torch.optim.swa_utils.get_ema_avg_fn(0.75)},
}.items():
    write(name, torch_trajectory(TORCH["torch_sgd"], averaged_model(**options)))
