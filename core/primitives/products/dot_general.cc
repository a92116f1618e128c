// SPDX-License-Identifier: Apache-2.0
// The contraction of two arrays over any axes, along any batch axes.
#include <algorithm>
#include <array>

#include "spruce/core/cpu/gemm/dot.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

Axes rules::free_axes(int rank, const Axes& contract, const Axes& batch) {
  Axes out;
  for (int i = 0; i < rank; ++i) {
    if (!contract.contains(i) && !batch.contains(i)) out.push_back(i);
  }
  return out;
}

namespace {

Axes joined(const Axes& a, const Axes& b) {
  Axes out = a;
  for (const int64_t x : b) out.push_back(x);
  return out;
}

void check_pairs(const ShapeArgs& a, const Axes& lhs, const Axes& rhs, const char* kind) {
  const Aval &x = *a.in[0], &y = *a.in[1];
  const std::string head = std::string(a.op) + ": ";
  if (lhs.rank() != rhs.rank()) {
    throw ShapeError(head + to_string(lhs) + " and " + to_string(rhs) + " are not as many " + kind +
                     " axes");
  }
  for (int i = 0; i < lhs.rank(); ++i) {
    if (x.shape[lhs[i]] != y.shape[rhs[i]]) {
      throw ShapeError(head + "the " + kind + " sizes differ: lhs " + to_string(x) + " has " +
                       std::to_string(x.shape[lhs[i]]) + " on axis " + std::to_string(lhs[i]) +
                       ", rhs " + to_string(y) + " has " + std::to_string(y.shape[rhs[i]]) +
                       " on axis " + std::to_string(rhs[i]));
    }
  }
}

// A plain product of two matrices (either may be transposed): what most applications are, and worth
// a short way.
bool dot_general_plain(const DotParams& d, const Aval& x, const Aval& y) {
  return x.shape.rank() == 2 && y.shape.rank() == 2 && d.lhs_batch.empty() && d.rhs_batch.empty() &&
         d.lhs_contract.rank() == 1 && d.rhs_contract.rank() == 1 &&
         (d.lhs_contract[0] == 0 || d.lhs_contract[0] == 1) &&
         (d.rhs_contract[0] == 0 || d.rhs_contract[0] == 1);
}

Aval dot_general_shape(const ShapeArgs& a) {
  const auto& d = a.params.get<DotParams>();
  const Aval &x = *a.in[0], &y = *a.in[1];
  if (x.dtype == y.dtype && dot_general_plain(d, x, y) &&
      x.shape[d.lhs_contract[0]] == y.shape[d.rhs_contract[0]]) {
    Aval out{x.dtype,
             x.weak && y.weak,
             {x.shape[1 - d.lhs_contract[0]], y.shape[1 - d.rhs_contract[0]]}};
    check_shape(a.op, out.shape, size_of(out.dtype));
    return out;
  }
  if (x.dtype != y.dtype) {
    throw DtypeError(std::string(a.op) + ": the dtypes differ: " + to_string(x) + ", " +
                     to_string(y) + "; convert one with astype");
  }
  rules::settled_axes(a.op, joined(d.lhs_contract, d.lhs_batch), x.shape.rank());
  rules::settled_axes(a.op, joined(d.rhs_contract, d.rhs_batch), y.shape.rank());
  check_pairs(a, d.lhs_contract, d.rhs_contract, "contracted");
  check_pairs(a, d.lhs_batch, d.rhs_batch, "batch");
  Aval out{x.dtype, x.weak && y.weak, {}};
  for (const int64_t i : d.lhs_batch) out.shape.push_back(x.shape[i]);
  for (const int64_t i : rules::free_axes(x.shape.rank(), d.lhs_contract, d.lhs_batch))
    out.shape.push_back(x.shape[i]);
  for (const int64_t i : rules::free_axes(y.shape.rank(), d.rhs_contract, d.rhs_batch))
    out.shape.push_back(y.shape[i]);
  check_shape(a.op, out.shape, size_of(out.dtype));
  return out;
}

Array dot_general_bound(const Array& a, const Array& b, const DotParams& axes) {
  return bind1(dot_general_p, {a, b}, dot_params(axes));
}

void dot_general_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  Array t;
  if (a.tangents[0].defined()) t = bind1(a.p, {a.tangents[0], a.in[1]}, a.params);
  if (a.tangents[1].defined())
    t = rules::add_tangents(t, bind1(a.p, {a.in[0], a.tangents[1]}, a.params));
  a.out_tangents[0] = t;
}

// With x the linear operand and y the other: ct has the axes [batch, free of lhs, free of rhs], and
// ct contracted with y over y's free axes has the batch, the free axes of x, and y's contracted
// axes, which are x's by pairs.
void dot_general_transpose(const TransposeArgs& a) {
  const auto& d = a.params.get<DotParams>();
  const bool left = a.linear(0);
  const Array& y = a.in[left ? 1 : 0];
  const Axes &x_contract = left ? d.lhs_contract : d.rhs_contract,
             &y_contract = left ? d.rhs_contract : d.lhs_contract;
  const Axes &x_batch = left ? d.lhs_batch : d.rhs_batch,
             &y_batch = left ? d.rhs_batch : d.lhs_batch;
  const Axes x_free = rules::free_axes(a.avals[left ? 0 : 1].shape.rank(), x_contract, x_batch);
  const Axes y_free = rules::free_axes(y.rank(), y_contract, y_batch);
  const int64_t nb = x_batch.rank(), nx = x_free.rank(), ny = y_free.rank();
  const Axes ct_y =
      left ? rules::axis_range(nb + nx, nb + nx + ny) : rules::axis_range(nb, nb + ny);

  Axes contracted;  // x's axes in the order in which the result has them: that of y
  for (const int64_t axis : [&] {
         Axes s = y_contract;
         std::sort(s.begin(), s.end());
         return s;
       }()) {
    for (int j = 0; j < y_contract.rank(); ++j) {
      if (y_contract[j] == axis) contracted.push_back(x_contract[j]);
    }
  }
  const Axes ct_first = joined(x_batch, joined(x_free, contracted)),
             y_first = joined(x_batch, joined(contracted, x_free));
  // Of the two orders, the one that needs no transposition of the result.
  const bool swap = !rules::rising(ct_first) && rules::rising(y_first);
  const Array out =
      swap ? dot_general_bound(y, a.cts[0], {y_free, ct_y, y_batch, rules::axis_range(0, nb)})
           : dot_general_bound(a.cts[0], y, {ct_y, y_free, rules::axis_range(0, nb), y_batch});
  const Axes& axes = swap ? y_first : ct_first;
  a.out[left ? 0 : 1] =
      rules::rising(axes) ? out : rules::transpose_axes(out, rules::inverse_axes(axes));
}

void dot_general_batch(const BatchArgs& a) {
  const auto& d = a.params.get<DotParams>();
  DotParams e = d;
  if (a.batched[0])
    e.lhs_contract = rules::shifted(d.lhs_contract), e.lhs_batch = rules::shifted(d.lhs_batch);
  if (a.batched[1])
    e.rhs_contract = rules::shifted(d.rhs_contract), e.rhs_batch = rules::shifted(d.rhs_batch);
  if (a.batched[0] && a.batched[1]) {
    e.lhs_batch.insert(0, 0);
    e.rhs_batch.insert(0, 0);
    a.out[0] = dot_general_bound(a.in[0], a.in[1], e);
    return;
  }
  // The mapped axis is the first free one of its operand.
  const int nb = d.lhs_batch.rank();
  const int at = a.batched[0] ? nb : nb + a.in[0].rank() - nb - d.lhs_contract.rank();
  const Array out = dot_general_bound(a.in[0], a.in[1], e);
  Axes perm = rules::axis_range(0, out.rank());
  perm.erase(at);
  perm.insert(0, at);
  a.out[0] = at == 0 ? out : rules::transpose_axes(out, perm);
}

std::vector<Sample> dot_general_samples() {
  const auto sample = [](const Shape& a, const Shape& b, DotParams d) {
    return rules::sample_of({a, b}, Params::make(std::move(d)));
  };
  return {
      sample({2, 3}, {3, 4}, {{1}, {0}, {}, {}}),
      sample({2, 3}, {4, 3}, {{1}, {1}, {}, {}}),
      sample({3, 2}, {3, 4}, {{0}, {0}, {}, {}}),
      sample({3, 2}, {4, 3}, {{0}, {1}, {}, {}}),
      sample({3}, {3}, {{0}, {0}, {}, {}}),
      sample({3}, {4}, {{}, {}, {}, {}}),
      sample({}, {2}, {{}, {}, {}, {}}),
      sample({2, 2, 3}, {2, 3, 4}, {{2}, {1}, {0}, {0}}),
      sample({2, 3, 2}, {3, 2, 2}, {{1}, {0}, {0, 2}, {2, 1}}),
      sample({2, 3, 4}, {4, 2, 2}, {{2, 0}, {0, 1}, {}, {}}),
      sample({2, 3, 2}, {2, 4, 2}, {{0, 2}, {2, 0}, {}, {}}),
      sample({2, 3, 2}, {3, 2}, {{1}, {0}, {}, {}}),
      sample({0, 3}, {3, 2}, {{1}, {0}, {}, {}}),
      sample({2, 0}, {0, 3}, {{1}, {0}, {}, {}}),
      sample({0, 2}, {0, 3}, {{}, {}, {0}, {0}}),
      sample({1, 5}, {5, 1}, {{1}, {0}, {}, {}}),
  };
}

}  // namespace

Params dot_params(const DotParams& axes) {
  using Matrices = std::array<Params, 4>;
  static const Matrices& matrices = *new Matrices([] {
    Matrices made;
    for (int64_t i = 0; i < 4; ++i)
      made[static_cast<size_t>(i)] = Params::make(DotParams{{i / 2}, {i % 2}, {}, {}});
    return made;
  }());
  const bool one = axes.lhs_batch.empty() && axes.lhs_contract.rank() == 1 &&
                   axes.rhs_contract.rank() == 1 && axes.rhs_batch.empty();
  if (one && axes.lhs_contract[0] <= 1 && axes.rhs_contract[0] <= 1 && axes.lhs_contract[0] >= 0 &&
      axes.rhs_contract[0] >= 0) {
    return matrices[static_cast<size_t>(axes.lhs_contract[0] * 2 + axes.rhs_contract[0])];
  }
  return Params::make(axes);
}

extern constinit const Primitive dot_general_p = {
    .name = "dot_general",
    .shape = dot_general_shape,
    .cpu = cpu::dot_kernel,
    .jvp = dot_general_jvp,
    .transpose = dot_general_transpose,
    .batch = dot_general_batch,
    .samples = dot_general_samples,
    .params = kParamsOf<DotParams>,
    .prepare = cpu::prepare_dot,
    .takes_strides = cpu::dot_takes_strides,
    .flops = rules::dot_flops,
    .rows = cpu::rows_of_dot,
};

}  // namespace spruce
