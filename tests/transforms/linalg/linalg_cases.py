# SPDX-License-Identifier: Apache-2.0
"""Writes linalg_cases.inc: numbers, gradients and Hessian-vector products of jax.numpy.linalg.

    python3 tests/transforms/linalg/linalg_cases.py > tests/transforms/linalg/linalg_cases.inc

(jax 0.10.2, numpy 2.4.6, f64.) One line a case: name, shape and numbers of a and b (b may have none),
the number that the function gives, its gradient by a and b, and the gradient of the sum of that
gradient times sin(1), sin(2), ... Inputs are drawn with the seed that is the number of the case.
linalg_test.cc has the same functions.
"""

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

linalg = jnp.linalg


def weighted(*arrays):
    """The sum of all elements times cos(1), cos(2), ..., begun anew for each array."""
    return sum(jnp.sum(jnp.cos(jnp.arange(1.0, x.size + 1)).reshape(x.shape) * x) for x in arrays)


def spd(a):
    return a @ jnp.swapaxes(a, -1, -2) + jnp.eye(a.shape[-1])


def turned(x):
    return jnp.swapaxes(x, -1, -2)


def of_symmetric(a):
    w, v = linalg.eigh(a)
    return weighted((v * jnp.exp(w)[..., None, :]) @ turned(v))


def of_svd(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return weighted(s, (u * (s * s)[..., None, :]) @ vh)


CASES = [
    ("cholesky", (4, 4), None, lambda a, b: weighted(linalg.cholesky(spd(a)))),
    ("cholesky", (2, 3, 3), None, lambda a, b: weighted(linalg.cholesky(spd(a)))),
    ("cholesky_upper", (3, 3), None, lambda a, b: weighted(linalg.cholesky(spd(a), upper=True))),
    ("solve_triangular", (3, 3), (3, 2), lambda a, b: weighted(jsl.solve_triangular(a, b))),
    ("solve_lower", (3, 3), (3,), lambda a, b: weighted(jsl.solve_triangular(a, b, lower=True))),
    ("solve_transposed", (3, 3), (3, 2),
     lambda a, b: weighted(jsl.solve_triangular(a, b, trans=1, unit_diagonal=True))),
    ("cho_solve", (3, 3), (3, 2), lambda a, b: weighted(jsl.cho_solve((linalg.cholesky(spd(a)), True), b))),
    ("lu", (4, 4), None, lambda a, b: weighted(*jsl.lu(a))),
    ("lu", (4, 3), None, lambda a, b: weighted(*jsl.lu(a))),
    ("lu", (3, 5), None, lambda a, b: weighted(*jsl.lu(a))),
    ("lu_solve", (4, 4), (4, 2), lambda a, b: weighted(jsl.lu_solve(jsl.lu_factor(a), b))),
    ("solve", (4, 4), (4, 3), lambda a, b: weighted(linalg.solve(a, b))),
    ("solve", (3, 3), (3,), lambda a, b: weighted(linalg.solve(a, b))),
    ("solve", (2, 3, 3), (2, 3, 2), lambda a, b: weighted(linalg.solve(a, b))),
    ("inv", (4, 4), None, lambda a, b: weighted(linalg.inv(a))),
    ("det", (4, 4), None, lambda a, b: weighted(linalg.det(a))),
    ("det", (2, 3, 3), None, lambda a, b: weighted(linalg.det(a))),
    ("slogdet", (5, 5), None, lambda a, b: weighted(*linalg.slogdet(a))),
    ("qr", (4, 4), None, lambda a, b: weighted(*linalg.qr(a))),
    ("qr", (5, 3), None, lambda a, b: weighted(*linalg.qr(a))),
    ("eigh", (4, 4), None, lambda a, b: of_symmetric(a)),
    ("eigvalsh", (2, 3, 3), None, lambda a, b: weighted(linalg.eigvalsh(a))),
    ("svd", (4, 4), None, lambda a, b: of_svd(a)),
    ("svd", (5, 3), None, lambda a, b: of_svd(a)),
    ("svd", (3, 4), None, lambda a, b: of_svd(a)),
    ("svdvals", (4, 3), None, lambda a, b: weighted(linalg.svdvals(a))),
    ("pinv", (4, 3), None, lambda a, b: weighted(linalg.pinv(a))),
    ("pinv", (3, 4), None, lambda a, b: weighted(linalg.pinv(a))),
    ("lstsq", (5, 3), (5,), lambda a, b: weighted(linalg.lstsq(a, b)[0])),
    ("lstsq", (5, 3), (5, 2), lambda a, b: weighted(*linalg.lstsq(a, b)[:2])),
    ("expm", (3, 3), None, lambda a, b: weighted(jsl.expm(a))),
    ("expm_large", (3, 3), None, lambda a, b: weighted(jsl.expm(6 * a))),
    ("power", (3, 3), None, lambda a, b: weighted(linalg.matrix_power(a, 5))),
    ("power_of_inverse", (3, 3), None, lambda a, b: weighted(linalg.matrix_power(a, -2))),
    ("multi_dot", (3, 4), (4,), lambda a, b: weighted(linalg.multi_dot([a, jnp.outer(b, b), turned(a), a, b]))),
    ("norm_2", (4, 3), None, lambda a, b: linalg.norm(a, ord=2)),
    ("norm_minus_2", (4, 3), None, lambda a, b: linalg.norm(a, ord=-2)),
    ("norm_nuc", (3, 4), None, lambda a, b: linalg.norm(a, ord="nuc")),
    ("cond", (3, 3), None, lambda a, b: linalg.cond(a)),
    ("block_diag", (2, 3), (2,), lambda a, b: weighted(jsl.block_diag(a, b, a))),
]


def numbers(x):
    return "{" + ", ".join(repr(float(v)) for v in np.asarray(x).ravel()) + "}"


def sizes(shape):
    return "{" + ", ".join(map(str, shape)) + "}"


for seed, (name, a_shape, b_shape, f) in enumerate(CASES):
    random = np.random.default_rng(seed)
    a = random.normal(size=a_shape)
    b = random.normal(size=(0,) if b_shape is None else b_shape)
    by = (0,) if b_shape is None else (0, 1)
    grad = jax.grad(f, by)
    along = lambda *x: sum(jnp.sum(jnp.sin(jnp.arange(1.0, g.size + 1)).reshape(g.shape) * g)
                           for g in grad(*x))
    first, second = grad(a, b), jax.grad(along, by)(a, b)
    rows = [numbers(g) for g in first] + (["{}"] if len(by) == 1 else [])
    rows += [numbers(g) for g in second] + (["{}"] if len(by) == 1 else [])
    b_text = "{0}" if b_shape is None else sizes(b_shape)
    print(f'{{"{name}", {sizes(a_shape)}, {numbers(a)}, {b_text}, {numbers(b)}, '
          f"{float(f(a, b))!r}, {', '.join(rows)}}},")
