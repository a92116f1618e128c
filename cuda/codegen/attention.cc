// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/attention.h"

#include <algorithm>

#include "spruce/core/rules/attention.h"
#include "spruce/cuda/codegen/loops.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kWarps = 8, kShared = 44 << 10;

enum class Mode { kForward, kQuery, kKey };

struct Named {
  std::string name;
  Shape leading;
};

// One kernel in the making, and what its text is put together from.
class Kernel {
 public:
  Kernel(const PrepareArgs& args, const AttentionShape& s, Mode mode)
      : args_(args),
        s_(s),
        mode_(mode),
        kernel_(mode == Mode::kForward ? "attention"
                : mode == Mode::kQuery ? "attention_grad_query"
                                       : "attention_grad_key",
                args) {
    kernel_.front(shuffle_prelude());
    const std::string type(compute_type(s.dtype));
    bytes_ = s.dtype == Dtype::kFloat64 ? 8 : 4;
  }

  // Declares an array `<name>`, `<name>_at`, where it begins for a batch, and `<name>_row`.
  void array(const std::string& name, const AttentionArray& a) {
    pointers_ += "  const auto " + name + " = " + declare(kernel_, a.place, s_.dtype) + ";\n";
    kernel_.value(name + "_row", a.steps[a.steps.rank() - 2]);
    begins_ += "    sp::i64 " + name + "_at = 0;\n";
    walked_.push_back({name + "_at", leading_steps(a)});
  }
  // The log-sum-exp and the sums of results times cotangents, one for each query.
  void per_query(const std::string& name, const Place& place, Dtype dtype) {
    pointers_ += "  const auto " + name + " = " + declare(kernel_, place, dtype) + ";\n";
  }
  void mask() {
    if (!s_.mask) return;
    const Aval& m = *args_.in[*s_.mask];
    Shape to = s_.batch;
    to.push_back(s_.queries);
    to.push_back(s_.keys);
    Shape steps = broadcast_steps(m.shape, input_strides(args_, *s_.mask), to);
    pointers_ += "  const auto mask = " + kernel_.input(*s_.mask) + ";\n";
    kernel_.value("mask_row", steps[-2]);
    kernel_.value("mask_column", steps[-1]);
    steps.erase(steps.rank() - 1);
    steps.erase(steps.rank() - 1);
    begins_ += "    sp::i64 mask_at = 0;\n";
    walked_.push_back({"mask_at", steps});
  }

  Launch launch(const std::string& write);

 private:
  std::string score() const;

  const PrepareArgs& args_;
  const AttentionShape& s_;
  Mode mode_;
  KernelBuilder kernel_;
  int64_t bytes_;
  std::string pointers_, begins_;
  std::vector<Named> walked_;
};

// Declares `s`, the scaled score of row `own` with row `other`, and `open`.
std::string Kernel::score() const {
  std::string text =
      "      const sp::i64 own = own0 + r, other = o0 + lane;\n"
      "      bool open = lane < TILE && other < others && own < owners;\n"
      "      C s = 0;\n"
      "      if (lane < TILE) {\n        for (int c = 0; c < D; ++c) "
      "s = sp::fused_multiply_add(own_a[r][c], other_a[lane][c], s);\n      }\n"
      "      s *= scale;\n";
  text += mode_ == Mode::kKey ? "      const sp::i64 query = other, key = own;\n"
                              : "      const sp::i64 query = own, key = other;\n";
  if (s_.causal) text += "      open = open && key <= query;\n";
  if (s_.mask) {
    text +=
        "      if (open) {\n        const auto m = sp::widen(mask[mask_at + query * mask_row + key "
        "* "
        "mask_column]);\n";
    text += is_bool(args_.in[*s_.mask]->dtype)
                ? "        open = m;\n"
                : "        open = m != -sp::infinity<C>();\n        s += m;\n";
    text += "      }\n";
  }
  if (mode_ == Mode::kForward) return text;
  const std::string row = "batch * queries + query";
  return text +
         "      C dp = 0;\n      if (lane < TILE) {\n        for (int c = 0; c < E; ++c) dp = "
         "sp::fused_multiply_add(own_b[r][c], other_b[lane][c], dp);\n      }\n"
         "      C p = 0, ds = 0;\n      if (open) {\n        p = sp::exp(s - C(sp::widen(lse[" +
         row + "])));\n        ds = p * (dp - sums[" + row + "]);\n      }\n";
}

Launch Kernel::launch(const std::string& write) {
  const bool forward = mode_ == Mode::kForward, key = mode_ == Mode::kKey;
  const int64_t owners = key ? s_.keys : s_.queries, others = key ? s_.queries : s_.keys;
  // As many rows for each warp, as large a tile and as many warps as the shared memory holds.
  int64_t each = key ? 2 : 4, tile = 32, warps = kWarps;
  const auto bytes = [&] {
    const int64_t own = warps * each * (s_.size + (forward ? 0 : s_.value_size)),
                  other = tile * (s_.size + s_.value_size + 2);
    return bytes_ * (own + other);
  };
  while (bytes() > kShared && each > 1) each /= 2;
  while (bytes() > kShared && tile > 1) tile /= 2;
  while (bytes() > kShared && warps > 1) warps /= 2;
  const std::string c(compute_type(s_.dtype));
  const auto number = [](int64_t n) { return std::to_string(n); };
  const int64_t rows = warps * each, tiles = (owners + rows - 1) / rows, batches = s_.batch.numel();
  kernel_.value("owners", owners);
  kernel_.value("others", others);
  kernel_.value("queries", s_.queries);
  kernel_.value("tiles", tiles);
  kernel_.value("all", tiles * batches);
  kernel_.number("scale", s_.dtype, s_.scale);
  std::vector<std::string> names;
  std::vector<Shape> steps;
  for (const Named& n : walked_) names.push_back(n.name), steps.push_back(n.leading);

  std::string text = "  typedef " + c + " C;\n  constexpr int D = " + number(s_.size) +
                     ", E = " + number(s_.value_size) + ", TILE = " + number(tile) +
                     ", EACH = " + number(each) + ", DS = (D + 31) / 32, ES = (E + 31) / 32;\n" +
                     "  __shared__ C other_a[TILE][D + 1], other_b[TILE][E + 1], own_a[" +
                     number(rows) + "][D > 0 ? D : 1];\n";
  if (!forward) text += "  __shared__ C own_b[" + number(rows) + "][E > 0 ? E : 1];\n";
  text += pointers_ +
          "  const int t = threadIdx.x, lane = t % 32, warp = t / 32;\n"
          "  for (sp::i64 which = blockIdx.x; which < all; which += gridDim.x) {\n"
          "    const sp::i64 batch = which / tiles, own0 = which % tiles * " +
          number(rows) + ";\n" + begins_ +
          walk_of(s_.batch, steps).places(kernel_, "b", "batch", names);
  const auto load = [&](const char* shared, const char* from, const char* size, const char* first,
                        const char* end, const std::string& count) {
    return std::string("    for (int x = t; x < ") + count + " * " + size +
           "; x += " + number(32 * warps) + ") {\n      const int r = x / " + size + ", c = x % " +
           size + ";\n      " + shared + "[r][c] = " + first + " + r < " + end + " ? C(sp::widen(" +
           from + "[" + from + "_at + (" + first + " + r) * " + from +
           "_row + c])) : C(0);\n    }\n";
  };
  text += load("own_a", "own_first", "D", "own0", "owners", number(rows));
  if (!forward) text += load("own_b", "own_second", "E", "own0", "owners", number(rows));
  text +=
      "    C first[EACH][DS > 0 ? DS : 1], second[EACH][ES > 0 ? ES : 1], top[EACH], total[EACH];\n"
      "#pragma unroll\n    for (int q = 0; q < EACH; ++q) {\n"
      "      top[q] = -sp::infinity<C>(), total[q] = 0;\n"
      "#pragma unroll\n      for (int x = 0; x < DS; ++x) first[q][x] = 0;\n"
      "#pragma unroll\n      for (int x = 0; x < ES; ++x) second[q][x] = 0;\n    }\n";
  std::string begin = "0", end = "others";
  if (s_.causal && key) begin = "own0 / TILE * TILE";
  if (s_.causal && !key)
    end = "(own0 + " + number(rows) + " < others ? own0 + " + number(rows) + " : others)";
  text += "    for (sp::i64 o0 = " + begin + "; o0 < " + end +
          "; o0 += TILE) {\n    __syncthreads();\n";
  text += load("other_a", "other_first", "D", "o0", "others", "TILE") +
          load("other_b", "other_second", "E", "o0", "others", "TILE") +
          "    __syncthreads();\n#pragma unroll\n    for (int q = 0; q < EACH; ++q) {\n"
          "      const int r = warp * EACH + q;\n" +
          score();
  const std::string add_first =
      "        const C g = sp::from_lane(ds, j);\n#pragma unroll\n        for (int x = 0; x < DS; "
      "++x) {\n"
      "          if (lane + 32 * x < D) first[q][x] = sp::fused_multiply_add(g, other_a[j][lane + "
      "32 * x], "
      "first[q][x]);\n        }\n";
  const std::string add_second =
      "        const C w = sp::from_lane(p, j);\n#pragma unroll\n        for (int x = 0; x < ES; "
      "++x) {\n"
      "          if (lane + 32 * x < E) second[q][x] = sp::fused_multiply_add(w, other_b[j][lane + "
      "32 * x], "
      "second[q][x]);\n        }\n";
  if (forward) {
    text +=
        "      const C best = sp::warp_largest(open ? s : -sp::infinity<C>());\n"
        "      const C now = best > top[q] ? best : top[q];\n"
        "      const C base = now == -sp::infinity<C>() ? C(0) : now;\n"
        "      const C p = open ? sp::exp(s - base) : C(0), shrink = sp::exp(top[q] - base);\n"
        "      top[q] = now;\n      total[q] = total[q] * shrink + sp::warp_sum(p);\n"
        "#pragma unroll\n      for (int x = 0; x < ES; ++x) second[q][x] *= shrink;\n";
  }
  text += "      for (int j = 0; j < TILE; ++j) {\n" + (forward ? std::string() : add_first) +
          (mode_ == Mode::kQuery ? std::string() : add_second) + "      }\n    }\n    }\n";
  text +=
      "#pragma unroll\n    for (int q = 0; q < EACH; ++q) {\n"
      "      const sp::i64 own = own0 + warp * EACH + q;\n      if (own >= owners) continue;\n" +
      write + "    }\n    __syncthreads();\n  }\n";
  return kernel_.launch(text, {std::min(tiles * batches, kMostBlocks)}, {warps * 32});
}

// Statements that write the sums `from` (first or second) times `factor` to a row of an array.
std::string write_row(const AttentionShape& s, const std::string& array, const char* from,
                      const std::string& factor) {
  const char* count = from[0] == 'f' ? "DS" : "ES";
  const char* size = from[0] == 'f' ? "D" : "E";
  return std::string("#pragma unroll\n      for (int x = 0; x < ") + count +
         "; ++x) {\n        const int c = lane + 32 * x;\n        if (c < " + size + ") " + array +
         "[" + array + "_at + own * " + array + "_row + c] = sp::narrow<" +
         std::string(text_type(s.dtype)) + ">(C(" + from + "[q][x]" + factor + "));\n      }\n";
}

}  // namespace

void attention_kernels(const PrepareArgs& args, const AttentionShape& s,
                       const AttentionArray& query, const AttentionArray& key,
                       const AttentionArray& value, const AttentionArray& result,
                       std::optional<Place> lse, Kernels& out) {
  if (s.batch.numel() == 0 || s.queries == 0) return;
  Kernel kernel(args, s, Mode::kForward);
  kernel.array("own_first", query);
  kernel.array("other_first", key);
  kernel.array("other_second", value);
  kernel.array("result", result);
  kernel.mask();
  std::string write = "      const C scaled = total[q] == C(0) ? C(0) : C(1) / total[q];\n" +
                      write_row(s, "result", "second", " * scaled");
  if (lse) {
    kernel.per_query("lse", *lse, is_half(s.dtype) ? Dtype::kFloat32 : s.dtype);
    write +=
        "      if (lane == 0) lse[batch * queries + own] = total[q] == C(0) ? sp::infinity<C>() : "
        "top[q] + sp::log(total[q]);\n";
  }
  out.steps.push_back(kernel.launch(write));
}

void attention_grad_kernels(const PrepareArgs& args, const AttentionShape& s,
                            const AttentionGrad& g, Kernels& out) {
  const int64_t rows = s.batch.numel() * s.queries;
  const Dtype computed = is_half(s.dtype) ? Dtype::kFloat32 : s.dtype;
  const Place sums = of_workspace(reserve(out, std::max<int64_t>(1, rows) * size_of(computed)));
  if (rows > 0) {
    KernelBuilder kernel("attention_sums", args);
    const std::string o = declare(kernel, g.result.place, s.dtype),
                      ct = declare(kernel, g.cotangent.place, s.dtype),
                      to = declare(kernel, sums, computed);
    kernel.value("e", s.value_size);
    Shape space = s.batch, o_steps = g.result.steps, ct_steps = g.cotangent.steps;
    space.push_back(s.queries);
    o_steps.erase(o_steps.rank() - 1);
    ct_steps.erase(ct_steps.rank() - 1);
    std::string body = "    sp::i64 p = 0, r = 0;\n";
    body += walk_of(space, {o_steps, ct_steps}).places(kernel, "a", "i", {"p", "r"});
    body += "    " + std::string(compute_type(s.dtype)) +
            " sum = 0;\n    for (sp::i64 c = 0; c < e; ++c) "
            "sum = sp::fused_multiply_add(sp::widen(" +
            o + "[p + c]), sp::widen(" + ct + "[r + c]), sum);\n    " + to + "[i] = sum;\n";
    out.steps.push_back(kernel.for_each(rows, body));
    Kernel query(args, s, Mode::kQuery);
    query.array("own_first", g.query);
    query.array("own_second", g.cotangent);
    query.array("other_first", g.key);
    query.array("other_second", g.value);
    query.array("query_ct", g.query_ct);
    query.per_query("lse", g.lse, g.lse_dtype);
    query.per_query("sums", sums, computed);
    query.mask();
    out.steps.push_back(query.launch(write_row(s, "query_ct", "first", " * scale")));
  }
  if (s.batch.numel() == 0 || s.keys == 0) return;
  Kernel key(args, s, Mode::kKey);
  key.array("own_first", g.key);
  key.array("own_second", g.value);
  key.array("other_first", g.query);
  key.array("other_second", g.cotangent);
  key.array("key_ct", g.key_ct);
  key.array("value_ct", g.value_ct);
  key.per_query("lse", g.lse, g.lse_dtype);
  key.per_query("sums", sums, computed);
  key.mask();
  out.steps.push_back(key.launch(write_row(s, "key_ct", "first", " * scale") +
                                 write_row(s, "value_ct", "second", "")));
}

AttentionShape attention_shape(const PrepareArgs& args, size_t mask) {
  const auto& p = args.params.get<AttentionParams>();
  const Shape &q = args.in[0]->shape, &v = args.in[2]->shape;
  Shape batch = q;
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  AttentionShape s{args.in[0]->dtype, batch, q[-2], v[-2], q[-1], v[-1], p.scale, p.causal, {}};
  if (args.in.size() > mask) s.mask = mask;
  return s;
}

Shape leading_steps(const AttentionArray& a) {
  Shape s = a.steps;
  s.erase(s.rank() - 1);
  s.erase(s.rank() - 1);
  return s;
}

AttentionArray input_array(const PrepareArgs& args, size_t i) {
  return {of_input(i), input_strides(args, i)};
}

AttentionArray output_array(const PrepareArgs& args, size_t k) {
  return {of_output(k), output_strides(args, k)};
}

}  // namespace spruce::cuda
