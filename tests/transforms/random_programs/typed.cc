// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/random_programs/typed.h"

#include <algorithm>
#include <limits>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::random_programs {
namespace {

using Arrays = std::vector<Array>;

Dtype dtype_of(int64_t number) { return static_cast<Dtype>(number % kDtypeCount); }

AxisArg axes_of(const Array& x, int64_t number) {
  if (x.rank() == 0 || number % 3 == 0) return none;
  return static_cast<int64_t>(number % x.rank());
}

constexpr ReduceOptions kKeep{.keepdims = true};

// Whole numbers of a few bits, whose sums are exact in every dtype and order; NaN and infinities
// stay.
Array countable(const Array& x) {
  if (!is_floating(x.dtype())) return x;
  return where(isfinite(x), clip(floor(x), -4.0, 4.0), x);
}

// A number that is not 0, to divide by.
Array divisor(const Array& x, int64_t number) {
  const double choices[] = {1, 2, 3, 4, 0.5, 7};
  const double c = choices[number % 6];
  return astype(array(is_floating(x.dtype()) || c >= 1 ? c : 5.0), x.dtype());
}

Array constant(const Array& x, int64_t number) {
  return extremes(static_cast<uint64_t>(number), {}, x.dtype());
}

Array pooled(const Array& x, int64_t number, bool largest) {
  if (x.rank() == 0) return x;
  WindowParams w;
  w.window = w.strides = w.base_dilation = w.window_dilation = Shape::filled(x.rank(), 1);
  w.padding_low = w.padding_high = Shape::filled(x.rank(), 0);
  w.window.back() = 1 + number % 3;
  w.padding_low.back() = w.window.back() - 1;  // the shape stays
  return largest ? reduce_window_max(x, w) : reduce_window_min(x, w);
}

}  // namespace

const std::vector<TypedOp>& typed_ops() {
  static const std::vector<TypedOp> all = {
      {"abs", 1, [](const Arrays& x, int64_t) { return Array(abs(x[0])); }},
      {"neg", 1, [](const Arrays& x, int64_t) { return Array(-x[0]); }},
      {"abs_of_neg", 1, [](const Arrays& x, int64_t) { return Array(abs(-x[0])); }},
      {"not", 1, [](const Arrays& x, int64_t) { return Array(bitwise_not(x[0])); }},
      {"logical_not", 1, [](const Arrays& x, int64_t) { return Array(logical_not(x[0])); }},
      {"sign", 1, [](const Arrays& x, int64_t) { return Array(sign(x[0])); }},
      {"square", 1, [](const Arrays& x, int64_t) { return Array(power(x[0], 2)); }},
      {"whole_power", 1,
       [](const Arrays& x, int64_t n) { return Array(power(x[0], static_cast<int>(n % 4))); }},
      {"floor", 1, [](const Arrays& x, int64_t) { return Array(floor(x[0])); }},
      {"round", 1, [](const Arrays& x, int64_t) { return Array(round(x[0])); }},
      {"trunc", 1, [](const Arrays& x, int64_t) { return Array(trunc(x[0])); }},
      {"isnan", 1, [](const Arrays& x, int64_t) { return Array(isnan(x[0])); }},
      {"isfinite", 1, [](const Arrays& x, int64_t) { return Array(isfinite(x[0])); }},
      {"relu", 1, [](const Arrays& x, int64_t) { return Array(nn::relu(x[0])); }},
      {"copy", 1, [](const Arrays& x, int64_t) { return Array(copy(x[0])); }},
      {"stopped", 1, [](const Arrays& x, int64_t) { return Array(stop_gradient(x[0])); }},
      {"above_zero", 1, [](const Arrays& x, int64_t) { return Array(x[0] > constant(x[0], 0)); }},
      {"is_zero", 1,
       [](const Arrays& x, int64_t) { return Array(x[0] == astype(array(0), x[0].dtype())); }},
      {"convert", 1, [](const Arrays& x, int64_t n) { return Array(astype(x[0], dtype_of(n))); }},
      {"twice_converted", 1,
       [](const Arrays& x, int64_t n) {
         return Array(astype(astype(x[0], dtype_of(n)), dtype_of(n / 16)));
       }},
      {"plus_constant", 1,
       [](const Arrays& x, int64_t n) { return Array(x[0] + constant(x[0], n)); }},
      {"times_constant", 1,
       [](const Arrays& x, int64_t n) { return Array(x[0] * constant(x[0], n)); }},
      {"less_constant", 1,
       [](const Arrays& x, int64_t n) { return Array(constant(x[0], n) - x[0]); }},
      {"max_constant", 1,
       [](const Arrays& x, int64_t n) { return Array(maximum(x[0], constant(x[0], n))); }},
      {"and_constant", 1,
       [](const Arrays& x, int64_t n) { return Array(bitwise_and(x[0], constant(x[0], n))); }},
      {"divided", 1,
       [](const Arrays& x, int64_t n) {
         return Array(bind1(div_p, {x[0], divisor(x[0], n)}));
       }},
      {"remainder", 1,
       [](const Arrays& x, int64_t n) {
         return Array(bind1(rem_p, {x[0], divisor(x[0], n)}));
       }},
      {"sum", 1,
       [](const Arrays& x, int64_t n) {
         return Array(sum(countable(x[0]), axes_of(x[0], n), kKeep));
       }},
      {"sum_converted", 1,
       [](const Arrays& x, int64_t n) {
         return Array(sum(countable(astype(x[0], dtype_of(n))), axes_of(x[0], n), kKeep));
       }},
      {"prod", 1,
       [](const Arrays& x, int64_t n) { return Array(prod(x[0], axes_of(x[0], n), kKeep)); }},
      {"prod_converted", 1,
       [](const Arrays& x, int64_t n) {
         return Array(prod(astype(x[0], dtype_of(n)), axes_of(x[0], n), kKeep));
       }},
      {"max_over", 1,
       [](const Arrays& x, int64_t n) { return Array(max(x[0], axes_of(x[0], n), kKeep)); }},
      {"min_over", 1,
       [](const Arrays& x, int64_t n) { return Array(min(x[0], axes_of(x[0], n), kKeep)); }},
      {"max_converted", 1,
       [](const Arrays& x, int64_t n) {
         return Array(max(astype(x[0], dtype_of(n)), axes_of(x[0], n), kKeep));
       }},
      {"any", 1,
       [](const Arrays& x, int64_t n) {
         return Array(spruce::any(x[0], axes_of(x[0], n), kKeep));
       }},
      {"all", 1,
       [](const Arrays& x, int64_t n) {
         return Array(spruce::all(x[0], axes_of(x[0], n), kKeep));
       }},
      {"argmax", 1, [](const Arrays& x, int64_t) { return Array(argmax(x[0], -1)); }},
      {"largest", 1,
       [](const Arrays& x, int64_t) { return Array(top_k(x[0], x[0].shape(-1)).first); }},
      {"places", 1,
       [](const Arrays& x, int64_t) { return Array(top_k(x[0], x[0].shape(-1)).second); }},
      {"sorted", 1, [](const Arrays& x, int64_t) { return Array(sort(x[0])); }},
      {"falling", 1,
       [](const Arrays& x, int64_t) { return Array(sort(x[0], -1, {.descending = true})); }},
      {"cummax", 1, [](const Arrays& x, int64_t) { return Array(cummax(x[0], -1)); }},
      {"cumsum", 1, [](const Arrays& x, int64_t) { return Array(cumsum(countable(x[0]), -1)); }},
      {"pool_max", 1, [](const Arrays& x, int64_t n) { return Array(pooled(x[0], n, true)); }},
      {"pool_min", 1, [](const Arrays& x, int64_t n) { return Array(pooled(x[0], n, false)); }},
      {"flip", 1, [](const Arrays& x, int64_t) { return Array(flip(x[0], -1)); }},
      {"joined", 1,
       [](const Arrays& x, int64_t) {
         return Array(x[0].size() > 500 ? x[0] : concatenate({x[0], x[0]}, -1));
       }},
      {"add", 2, [](const Arrays& x, int64_t) { return Array(x[0] + x[1]); }},
      {"sub", 2, [](const Arrays& x, int64_t) { return Array(x[0] - x[1]); }},
      {"mul", 2, [](const Arrays& x, int64_t) { return Array(x[0] * x[1]); }},
      {"maximum", 2, [](const Arrays& x, int64_t) { return Array(maximum(x[0], x[1])); }},
      {"minimum", 2, [](const Arrays& x, int64_t) { return Array(minimum(x[0], x[1])); }},
      {"and", 2, [](const Arrays& x, int64_t) { return Array(bitwise_and(x[0], x[1])); }},
      {"or", 2, [](const Arrays& x, int64_t) { return Array(bitwise_or(x[0], x[1])); }},
      {"xor", 2, [](const Arrays& x, int64_t) { return Array(bitwise_xor(x[0], x[1])); }},
      {"logical_and", 2, [](const Arrays& x, int64_t) { return Array(logical_and(x[0], x[1])); }},
      {"logical_or", 2, [](const Arrays& x, int64_t) { return Array(logical_or(x[0], x[1])); }},
      {"logical_xor", 2, [](const Arrays& x, int64_t) { return Array(logical_xor(x[0], x[1])); }},
      {"eq", 2, [](const Arrays& x, int64_t) { return Array(x[0] == x[1]); }},
      {"ne", 2, [](const Arrays& x, int64_t) { return Array(x[0] != x[1]); }},
      {"lt", 2, [](const Arrays& x, int64_t) { return Array(x[0] < x[1]); }},
      {"ge", 2, [](const Arrays& x, int64_t) { return Array(x[0] >= x[1]); }},
      {"shift_left", 2, [](const Arrays& x, int64_t) { return Array(left_shift(x[0], x[1])); }},
      {"shift_right", 2, [](const Arrays& x, int64_t) { return Array(right_shift(x[0], x[1])); }},
      {"where", 3,
       [](const Arrays& x, int64_t) {
         return Array(where(x[0] != astype(array(0), x[0].dtype()), x[1], x[2]));
       }},
  };
  return all;
}

Array extremes(uint64_t seed, const Shape& shape, Dtype dtype) {
  std::mt19937_64 random(seed * 977 + static_cast<uint64_t>(dtype));
  const bool tame = random() % 3 == 0;  // about 0 and 1 only
  return visit_dtype(dtype, [&]<class T>(T) {
    const auto n = static_cast<size_t>(shape.numel());
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<bool> x;
      for (size_t i = 0; i < n; ++i) x.push_back(random() % 2 == 0);
      return reshape(array(x), shape);
    } else if constexpr (std::is_integral_v<T>) {
      using L = std::numeric_limits<T>;
      const T all[] = {0,
                       1,
                       2,
                       3,
                       static_cast<T>(-1),
                       static_cast<T>(-2),
                       static_cast<T>(200),
                       100,
                       L::min(),
                       L::max(),
                       static_cast<T>(L::min() + 1),
                       static_cast<T>(L::max() - 1)};
      std::vector<T> x;
      for (size_t i = 0; i < n; ++i) x.push_back(all[random() % (tame ? 6 : std::size(all))]);
      return array(x, shape);
    } else {
      using L = std::numeric_limits<double>;
      const double all[] = {0,
                            -0.0,
                            1,
                            -1,
                            0.5,
                            2,
                            3,
                            -7.5,
                            1e10,
                            -3e4,
                            6e-8,
                            3.3e38,
                            -1e-40,
                            4294967296.0,
                            -2147483648.0,
                            1e300,
                            L::infinity(),
                            -L::infinity(),
                            L::quiet_NaN()};
      std::vector<double> x;
      for (size_t i = 0; i < n; ++i) x.push_back(all[random() % (tame ? 8 : std::size(all))]);
      return astype(array(x, shape), dtype);
    }
  });
}

Arrays TypedProgram::run(const Arrays& in) const {
  Arrays values = in, out;
  for (const TypedStep& s : steps) {
    Arrays operands;
    for (const int i : s.in) operands.push_back(values[static_cast<size_t>(i)]);
    values.push_back(s.op->apply(operands, s.number));
  }
  for (const int i : outputs) out.push_back(values[static_cast<size_t>(i)]);
  return out;
}

TypedProgram TypedProgram::of(int value) const {
  const int first = static_cast<int>(inputs.size());
  std::vector<bool> needed(inputs.size() + steps.size(), false);
  needed[static_cast<size_t>(value)] = true;
  for (size_t i = steps.size(); i-- > 0;) {
    if (!needed[inputs.size() + i]) continue;
    for (const int v : steps[i].in) needed[static_cast<size_t>(v)] = true;
  }
  TypedProgram out;
  out.inputs = inputs;
  std::vector<int> number(needed.size(), 0);
  for (int v = 0; v < static_cast<int>(needed.size()); ++v) {
    number[static_cast<size_t>(v)] = v < first ? v : first + static_cast<int>(out.steps.size());
    if (v < first || !needed[static_cast<size_t>(v)]) continue;
    TypedStep s = steps[static_cast<size_t>(v - first)];
    for (int& i : s.in) i = number[static_cast<size_t>(i)];
    out.steps.push_back(std::move(s));
  }
  out.outputs = {number[static_cast<size_t>(value)]};
  return out;
}

std::string TypedProgram::text() const {
  std::string s;
  const auto name = [](size_t i) { return "v" + std::to_string(i); };
  for (size_t i = 0; i < inputs.size(); ++i)
    s += name(i) + " = " + to_string(inputs[i].aval()) + "\n";
  for (size_t i = 0; i < steps.size(); ++i) {
    s += name(inputs.size() + i) + " = " + steps[i].op->name;
    for (const int v : steps[i].in) s += " " + name(static_cast<size_t>(v));
    s += " [" + std::to_string(steps[i].number) + "]\n";
  }
  return s;
}

TypedProgram generate_typed(uint64_t seed, int size) {
  std::mt19937_64 random(seed);
  const auto draw = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const Shape shapes[] = {{1}, {3}, {8}, {17}, {40}, {200}, {2, 3}, {4, 17}, {40, 5}};
  const Shape shape = shapes[draw(std::ssize(shapes))];
  TypedProgram p;
  Arrays values;
  for (int64_t i = 2 + draw(2); i > 0; --i) {
    // Chains of bool are what few other dtypes lead to.
    const Dtype dtype = draw(4) == 0 ? bool_ : dtype_of(draw(kDtypeCount));
    values.push_back(extremes(random(), shape, dtype));
    p.inputs.push_back(values.back());
  }
  const auto late = [&](int64_t n) {
    return draw(2) == 0 ? draw(n) : n - 1 - draw(std::min<int64_t>(n, 3));
  };
  for (int tries = 0; static_cast<int>(p.steps.size()) < size && tries < 20 * size; ++tries) {
    const TypedOp& op = typed_ops()[static_cast<size_t>(draw(std::ssize(typed_ops())))];
    TypedStep s{&op, {}, draw(1000)};
    const auto count = static_cast<int64_t>(values.size());
    for (int i = 0; i < op.operands; ++i) s.in.push_back(static_cast<int>(late(count)));
    // The last two operands have one dtype: the second is looked for.
    if (op.operands > 1) {
      const Dtype want = values[static_cast<size_t>(s.in.back())].dtype();
      int& other = s.in[s.in.size() - 2];
      for (int k = 0; k < 8 && values[static_cast<size_t>(other)].dtype() != want; ++k)
        other = static_cast<int>(late(count));
    }
    Arrays operands;
    for (const int i : s.in) operands.push_back(values[static_cast<size_t>(i)]);
    try {
      values.push_back(op.apply(operands, s.number));
      p.steps.push_back(std::move(s));
    } catch (const Error&) {  // not for these dtypes or shapes
    }
  }
  const int last = static_cast<int>(values.size()) - 1;
  p.outputs = {last, static_cast<int>(late(last + 1)), static_cast<int>(late(last + 1))};
  return p;
}

}  // namespace spruce::random_programs
