# SPDX-License-Identifier: Apache-2.0
"""Writes optax_loss_cases.inc: values and gradients of Optax's losses, in f64.

    python tests/nn/make_optax_loss_cases.py > tests/nn/optax_loss_cases.inc   (optax 0.2.8, jax 0.10.2)

The form is that of make_functional_cases.py: operation, options, inputs, result, gradients of
sum(result * cos(0, 1, ...)) to each input. An input is "shape@step": wave(shape, step).
"""

import math

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
import optax
from optax import losses

REDUCTIONS = {"mean": jnp.mean, "sum": jnp.sum, "none": lambda x: x}


def text(values):
    return ",".join("%.12g" % v for v in np.asarray(values).reshape(-1))


def wave(*shape, step=0.7):
    n = math.prod(shape)
    return jnp.asarray((np.round(np.sin(np.arange(n) * step + 0.3) * 4e4) / 1e4).reshape(shape))


def emit(op, options, inputs, f):
    xs = [wave(*shape, step=step) for shape, step in inputs]

    def weighted(xs):
        y = f(*xs)
        return jnp.sum(y * jnp.cos(jnp.arange(y.size, dtype=y.dtype)).reshape(y.shape)), y

    (_, y), gradients = jax.jit(jax.value_and_grad(weighted, has_aux=True))(xs)
    named = ",".join(f"{k}={v}" for k, v in options.items())
    given = ";".join(",".join(map(str, shape)) + f"@{step}" for shape, step in inputs)
    print(f'{{"{op}", "{named}", "{given}", "{text(y)}", "{";".join(map(text, gradients))}"}},')


def signs(*shape):
    """1, -1, -1, 1, ..."""
    return jnp.where(wave(*shape, step=1.3) > 0, 1.0, -1.0)


def some(*shape):
    """The elements that count in cases with `where`."""
    return wave(*shape, step=1.9) > -1


def axes_text(axis):
    return axis if isinstance(axis, int) else "x".join(map(str, axis))


# Axes, a shape, and whether some elements do not count.
PLACES = [(-1, (4, 3), 1), (0, (3, 4), 1), ((1, 2), (2, 3, 2), 0), ((1, 2), (2, 3, 2), 1)]


def of_reductions(op, options, inputs, f):
    for name, reduce in REDUCTIONS.items():
        emit(op, {"reduction": name, **options}, inputs, lambda *xs: reduce(f(*xs)))


def classification():
    for shape in ((4, 3), (5,)):
        of_reductions("hinge_loss", {}, [(shape, 0.7)], lambda x: losses.hinge_loss(x, signs(*shape)))
        of_reductions("perceptron_loss", {}, [(shape, 0.7)],
                      lambda x: losses.perceptron_loss(x, signs(*shape)))
        of_reductions("sparsemax_loss", {}, [(shape, 0.7)],
                      lambda x: losses.sparsemax_loss(x, signs(*shape) > 0))
    target = jnp.array([0, 2, 1, 2])
    for scale in (1.0, 0.125):
        for op in ("multiclass_hinge_loss", "multiclass_perceptron_loss", "multiclass_sparsemax_loss"):
            f = getattr(losses, op)
            of_reductions(op, {"scale": scale}, [((4, 3), 0.7)], lambda x: f(scale * x, target))
    for epsilon in (2.0, -1.0):
        for axis, shape in ((-1, (4, 3)), (0, (3, 4)), (1, (2, 3, 2))):
            of_reductions("poly_loss_cross_entropy", {"epsilon": epsilon, "axis": axis},
                          [(shape, 0.7), (shape, 0.4)],
                          lambda x, t: losses.poly_loss_cross_entropy(
                              x, jax.nn.softmax(t, axis), epsilon=epsilon, axis=axis))


def of_some_classes():
    # Gradients to targets that do not count are 0 times an infinity in Optax: NaN.
    def target(t, axis, masked):
        return jax.nn.softmax(jax.lax.stop_gradient(t) if masked else t, axis)

    for axis, shape, masked in PLACES:
        where = some(*shape) if masked else None
        options = {"axis": axes_text(axis), "where": masked}
        inputs = [(shape, 0.7), (shape, 0.4)]
        of_reductions("softmax_cross_entropy", options, inputs,
                      lambda x, t: losses.softmax_cross_entropy(
                          x, target(t, axis, masked), axis=axis, where=where))
        of_reductions("poly_loss_cross_entropy", {"epsilon": 0.5, **options}, inputs,
                      lambda x, t: losses.poly_loss_cross_entropy(
                          x, target(t, axis, masked), epsilon=0.5, axis=axis, where=where))
        of_reductions("generalized_kl_divergence", options, inputs,
                      lambda x, t: losses.generalized_kl_divergence(
                          x / 4, jnp.square(t) / 4, axis=axis, where=where))
        of_reductions("cosine_distance", {"epsilon": 0.125, **options}, inputs,
                      lambda x, t: losses.cosine_distance(
                          x, t, epsilon=0.125, axis=axis, where=where))
    of_reductions("softmax_cross_entropy", {"axis": -1, "where": 0}, [((4, 3), 0.7), ((4, 3), 0.4)],
                  lambda x, t: losses.softmax_cross_entropy(x, jax.nn.softmax(t)))


def divergences():
    for op in ("generalized_kl_divergence", "convex_kl_divergence"):
        f = getattr(losses, op)
        for axis in (-1, 0):
            of_reductions(op, {"axis": axis}, [((4, 3), 0.7), ((4, 3), 0.4)],
                          lambda x, t: f(x / 4, jnp.square(t) / 4, axis=axis))
    of_reductions("log_cosh", {}, [((4, 3), 0.7), ((4, 3), 0.4)], losses.log_cosh)
    for axis in (-1, 0):
        for epsilon in (0.0, 20.0):
            of_reductions("cosine_distance", {"axis": axis, "epsilon": epsilon},
                          [((4, 3), 0.7), ((4, 3), 0.4)],
                          lambda x, t: losses.cosine_distance(x, t, axis=axis, epsilon=epsilon))


def fenchel_young():
    functions = {"logsumexp": jax.nn.logsumexp, "squares": lambda x: jnp.sum(x**2) / 2}
    for name, f in functions.items():
        for shape in ((4, 3), (2, 2, 3), (3,)):
            of_reductions("fenchel_young", {"max": name}, [(shape, 0.7), (shape, 0.4)],
                          losses.make_fenchel_young_loss(f))


def ranking():
    where = wave(4, 3, step=1.9) > -2.5
    where = where.at[2].set(False)
    for r, reduce in {"mean": jnp.mean, "sum": jnp.sum, "none": None}.items():
        for masked in (0, 1):
            for weighted in (0, 1):
                emit("ranking_softmax_loss", {"reduction": r, "where": masked, "weights": weighted},
                     [((4, 3), 0.7), ((4, 3), 0.4)], lambda x, t: losses.ranking_softmax_loss(
                         x, t, where=where if masked else None,
                         weights=jnp.array([0.5, 2.0, 1.25]) if weighted else None, reduce_fn=reduce))


def segmentation():
    for smooth in (1.0, 0.25):
        for shape in ((2, 3, 4), (2, 5), (2, 3, 1)):
            of_reductions("binary_dice_loss", {"smooth": smooth}, [(shape, 0.7)],
                          lambda x: losses.binary_dice_loss(x, (signs(*shape) + 1) / 2, smooth=smooth))
        for shape in ((2, 4, 3), (2, 2, 3, 3), (3, 4, 1)):
            for ignore in (0, 1):
                emit("multiclass_generalized_dice_loss", {"smooth": smooth, "ignore": ignore, "softmax": 1},
                     [(shape, 0.7)], lambda x: losses.multiclass_generalized_dice_loss(
                         x, jnp.abs(wave(*shape, step=0.4)), smooth=smooth, ignore_background=bool(ignore)))


def contrastive():
    for temperature in (0.07, 1.0):
        for n, labels in ((6, [0, 1, 0, 2, 1, 0]), (4, [1, 1, 1, 1]), (5, [3, 1, 2, 1, 0])):
            emit("ntxent", {"temperature": temperature, "labels": "x".join(map(str, labels))},
                 [((n, 3), 0.7)], lambda x: losses.ntxent(x, jnp.array(labels), temperature))


def ctc():
    labels = jnp.array([[1, 1, 2], [2, 1, 3], [3, 3, 3], [1, 2, 3]])
    label_paddings = jnp.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]], jnp.float64)
    steps = jnp.array([[6], [5], [6], [4]])
    logit_paddings = (jnp.arange(6) >= steps).astype(jnp.float64)
    for blank in (0, 3):
        of = (labels - 1) % 3 if blank == 3 else labels
        # Tables hold sums of log_epsilon in places, so that a smaller one keeps their digits.
        for part in range(3):
            emit("ctc_loss_with_forward_probs", {"blank": blank, "part": part}, [((4, 6, 4), 0.7)],
                 lambda x: losses.ctc_loss_with_forward_probs(
                     x, logit_paddings, of, label_paddings, blank_id=blank, log_epsilon=-50.0)[part])


if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made by make_optax_loss_cases.py with optax {optax.__version__}, jax {jax.__version__}.")
    for part in (classification, of_some_classes, divergences, fenchel_young, ranking, segmentation, contrastive, ctc):
        part()
