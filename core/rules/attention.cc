// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"

#include "spruce/core/rules/elementwise.h"

namespace spruce {

namespace rules {
namespace {

Sample attention_sample(const std::vector<Shape>& shapes, bool causal) {
  Sample s;
  for (const Shape& in : shapes) {
    SampleInput input;
    input.aval = Aval{Dtype::kFloat32, false, in};
    s.in.push_back(input);
  }
  s.params = Params::make(AttentionParams{0.5, causal});
  return s;
}

// How many scores there are, as a double.
double score_count(const Shape& query, const Shape& value) {
  double n = static_cast<double>(value[value.rank() - 2]);
  for (int i = 0; i + 1 < query.rank(); ++i) n *= static_cast<double>(query[i]);
  return n;
}

}  // namespace

Aval attention_result(const ShapeArgs& a, size_t mask) {
  const Aval &q = *a.in[0], &k = *a.in[1], &v = *a.in[2];
  const int r = q.shape.rank();
  const std::string op = a.op;
  bool fits = r >= 2 && k.shape.rank() == r && v.shape.rank() == r;
  for (int i = 0; fits && i + 2 < r; ++i)
    fits = k.shape[i] == q.shape[i] && v.shape[i] == q.shape[i];
  if (!fits || k.shape[r - 1] != q.shape[r - 1] || v.shape[r - 2] != k.shape[r - 2]) {
    throw ShapeError(op + ": query " + to_string(q) + ", key " + to_string(k) + " and value " +
                     to_string(v) + " must be f[..., t, d], f[..., s, d] and f[..., s, e]");
  }
  if (!is_floating(q.dtype) || k.dtype != q.dtype || v.dtype != q.dtype) {
    throw DtypeError(op + ": query " + to_string(q) + ", key " + to_string(k) + " and value " +
                     to_string(v) + " must have one floating dtype");
  }
  Aval out{q.dtype, false, q.shape};
  if (a.in.size() > mask) {
    if (a.params.get<AttentionParams>().causal)
      throw ValueError(op + ": a causal one takes no mask; put the causal mask into it");
    Shape scores = q.shape;
    scores[r - 1] = k.shape[r - 2];
    const Aval& m = *a.in[mask];
    if (!broadcasts_to(m.shape, scores) || (m.dtype != Dtype::kBool && m.dtype != q.dtype)) {
      throw ShapeError(op + ": the mask is " + to_string(m) + ", it must be bool or " +
                       to_string(Aval{q.dtype, false, scores}) + " or broadcast to that shape");
    }
  }
  out.shape[r - 1] = v.shape[r - 1];
  return out;
}

Aval attention_lse(const Aval& query) {
  Aval out{size_of(query.dtype) < 4 ? Dtype::kFloat32 : query.dtype, false, query.shape};
  out.shape.erase(out.shape.rank() - 1);
  return out;
}

void check_attention_input(const ShapeArgs& a, size_t i, const char* what, const Aval& want) {
  const Aval& got = *a.in[i];
  if (got.shape == want.shape && got.dtype == want.dtype) return;
  throw ShapeError(std::string(a.op) + ": the " + what + " is " + to_string(got) + ", it must be " +
                   to_string(want));
}

void check_attention_residuals(const ShapeArgs& a, const Aval& out) {
  check_attention_input(a, 3, "result", out);
  Aval lse = attention_lse(*a.in[0]);
  if (a.in[4]->dtype == out.dtype) lse.dtype = out.dtype;
  check_attention_input(a, 4, "log-sum-exp", lse);
}

double attention_flops(const Shape& query, const Shape& value) {
  return score_count(query, value) * static_cast<double>(2 * query.back() + 2 * value.back() + 5);
}

double attention_grad_flops(const Shape& query, const Shape& value) {
  return score_count(query, value) * static_cast<double>(6 * query.back() + 4 * value.back() + 5);
}

bool attention_takes_strides(const StridesArgs& a) {
  const Aval& x = *(a.output ? a.out : a.in)[a.index];
  const int last = x.shape.rank() - 1;
  return last >= 0 && !is_half(x.dtype) && (x.shape[last] == 1 || a.strides[last] == 1);
}

void batch_attention(const BatchArgs& a, size_t mask) {
  const int rank = a.in[0].rank() + (a.batched[0] ? 0 : 1);
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t i = 0; i < in.size(); ++i) {
    if (i < mask) {
      in[i] = materialize_batch(in[i], a.batched[i], a.size);
    } else if (a.batched[i]) {
      Shape shape = in[i].shape();
      while (shape.rank() < rank) shape.insert(1, 1);
      in[i] = in[i].reshape(shape);
    }
  }
  const std::vector<Array> out = bind_all(a.p, in, a.params);
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

std::vector<Sample> attention_samples() {
  return {
      attention_sample({{3, 2}, {4, 2}, {4, 3}}, false),
      attention_sample({{2, 5, 2}, {2, 5, 2}, {2, 5, 2}}, true),
      attention_sample({{2, 1, 3, 2}, {2, 1, 4, 2}, {2, 1, 4, 1}, {1, 3, 4}}, false),
      attention_sample({{2, 3, 2}, {2, 4, 2}, {2, 4, 2}, {2, 1, 4}}, false),
      attention_sample({{0, 2}, {3, 2}, {3, 2}}, false),
  };
}

std::vector<Sample> attention_residual_samples(void (*add)(std::vector<Shape>&)) {
  std::vector<Sample> out;
  for (const Sample& s : attention_samples()) {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < 3; ++i) shapes.push_back(s.in[i].aval.shape);
    Shape result = shapes[0];
    result[result.rank() - 1] = shapes[2].back();
    shapes.push_back(result);
    result.erase(result.rank() - 1);
    shapes.push_back(result);
    add(shapes);
    if (s.in.size() > 3) shapes.push_back(s.in[3].aval.shape);
    out.push_back(attention_sample(shapes, s.params.get<AttentionParams>().causal));
  }
  return out;
}

}  // namespace rules
}  // namespace spruce
