# SPDX-License-Identifier: Apache-2.0
"""Writes statistics_cases.inc: numbers and gradients of jax.numpy.

    python3 tests/core/statistics_cases.py > tests/core/statistics_cases.inc

(jax 0.10.2, numpy 2.4.6, f64.) The first line is x, 24 numbers; then one a case: name, what the
function gives, and the gradient by x of that times cos(1), cos(2), ... statistics_test.cc has the
same functions. Correlations are NumPy's, which JAX has without a gradient by this name.
"""

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np

X = np.round(np.random.default_rng(0).normal(size=24), 3)
X[7] = X[3]  # a tie
HOLES = np.isin(np.arange(24), (2, 9, 10, 17))


def m(x):
    return x.reshape(4, 6)


def holes(x):
    return jnp.where(HOLES, jnp.nan, x)


CASES = [
    ("quantile", lambda x: jnp.quantile(x, 0.3)),
    ("quantiles", lambda x: jnp.quantile(m(x), jnp.array([0.1, 0.5, 1.0]), axis=1)),
    ("quantile_lower", lambda x: jnp.quantile(m(x), 0.4, axis=0, method="lower")),
    ("quantile_higher", lambda x: jnp.quantile(m(x), 0.4, axis=0, method="higher", keepdims=True)),
    ("quantile_midpoint", lambda x: jnp.quantile(m(x), 0.4, method="midpoint")),
    ("quantile_nearest", lambda x: jnp.quantile(m(x), 0.45, axis=1, method="nearest")),
    ("percentile", lambda x: jnp.percentile(x.reshape(2, 3, 4), 37.0, axis=(0, 2))),
    ("nanquantile", lambda x: jnp.nanquantile(m(holes(x)), jnp.array([0.25, 0.6]), axis=1)),
    ("nanmedian", lambda x: jnp.nanmedian(m(holes(x)), axis=0)),
    ("nanvar", lambda x: jnp.nanvar(m(holes(x)), axis=1, ddof=1)),
    ("nanstd", lambda x: jnp.nanstd(holes(x))),
    ("cov", lambda x: jnp.cov(m(x))),
    ("cov_columns", lambda x: jnp.cov(m(x), rowvar=False, ddof=0)),
    ("cov_vector", lambda x: jnp.cov(x)),
    ("corrcoef", lambda x: jnp.corrcoef(m(x))),
    ("histogram", lambda x: jnp.concatenate(jnp.histogram(x, 5))),
    ("histogram_range", lambda x: jnp.histogram(x, 4, range=(-1.0, 1.0))[0]),
    ("histogram_density", lambda x: jnp.histogram(x, jnp.array([-1.0, 0.0, 0.25, 2.0]), density=True)[0]),
    ("histogram_weights", lambda x: jnp.histogram(jnp.arange(24.0), 6, weights=x)[0]),
    ("interp", lambda x: jnp.interp(x, jnp.array([-1.0, -0.2, 0.5, 1.1]), jnp.array([0.3, 2.0, -1.0, 0.5]))),
    ("interp_outside", lambda x: jnp.interp(x, jnp.array([-0.5, 0.5]), jnp.array([1.0, 2.0]), left=-3.0, right=7.0)),
    ("interp_values", lambda x: jnp.interp(jnp.linspace(-1, 6, 11), jnp.arange(6.0), x[:6])),
    ("trapezoid", lambda x: jnp.trapezoid(m(x), dx=0.5)),
    ("trapezoid_at", lambda x: jnp.trapezoid(m(x), jnp.array([0.0, 0.5, 0.7, 2.0]), axis=0)),
]
for mode in ("full", "same", "valid"):
    for a, b in ((7, 4), (4, 7), (6, 3), (3, 6), (1, 5)):
        CASES.append((f"convolve_{mode}_{a}_{b}",
                      lambda x, mode=mode, a=a, b=b: jnp.convolve(x[:a], x[a:a + b], mode)))
        CASES.append((f"correlate_{mode}_{a}_{b}",
                      lambda x, mode=mode, a=a, b=b: jnp.correlate(x[:a], x[a:a + b], mode)))


def numbers(x):
    return "{" + ", ".join(repr(float(v)) for v in np.asarray(x).ravel()) + "}"


print(f'{{"x", {numbers(X)}, {{}}}},')
for name, f in CASES:
    y = f(X)
    if name.startswith("correlate"):
        mode, a, b = name.split("_")[1], int(name.split("_")[2]), int(name.split("_")[3])
        assert np.allclose(y, np.correlate(X[:a], X[a:a + b], mode)), name
    weighted = lambda x: jnp.sum(jnp.cos(jnp.arange(1.0, f(x).size + 1)) * f(x).ravel())
    print(f'{{"{name}", {numbers(y)}, {numbers(jax.grad(weighted)(X))}}},')
