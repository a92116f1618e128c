// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/products/attention_products.h"

#include <algorithm>
#include <map>

#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/sequence.h"
#include "spruce/cuda/products/gemm.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kScoresPiece = int64_t{64} << 20;  // bytes of scores, if one batch has no more
constexpr int64_t kMostScores = int64_t{256} << 20;  // bytes of scores of one batch
constexpr int64_t kScoreRows = 8;                    // of scores, in a block

// A factor or a result, from batch to batch: an array of the equation, or memory of a piece.
struct Factor {
  const AttentionArray* array;  // null for memory of a piece
  int64_t at = 0;               // of which this is the place
  bool transposed = false;      // its transpose is what is multiplied
};

class Attention {
 public:
  Attention(const PrepareArgs& args, const AttentionShape& s)
      : args_(args),
        s_(s),
        computed_(is_half(s.dtype) ? Dtype::kFloat32 : s.dtype),
        row_((s.keys + 15) / 16 * 16),
        batches_(s.batch.numel()) {
    const int64_t bytes = s.queries * row_ * size_of(computed_);
    if (std::min({batches_, s.queries, s.keys, s.size, s.value_size}) < 1 || bytes > kMostScores)
      return;
    possible_ = true;
    piece_ = std::min({std::max<int64_t>(1, kScoresPiece / bytes), kMostGemmBatches, batches_});
    gemm_at_ = reserve(out_, kGemmWorkspace);
  }

  bool forward(const AttentionArray& query, const AttentionArray& key, const AttentionArray& value,
               const AttentionArray& result, std::optional<Place> lse) {
    if (!possible_) return false;
    const int64_t scores = memory(computed_), weights = narrowed(scores);
    for (first_ = 0; first_ < batches_; first_ += piece_) {
      count_ = std::min(piece_, batches_ - first_);
      if (!multiply(0, {&query}, {&key, 0, true}, {nullptr, scores}, s_.size)) return false;
      softmax(scores, weights, lse);
      if (!multiply(1, {nullptr, weights}, {&value}, {&result}, s_.keys)) return false;
    }
    return true;
  }

  bool backward(const AttentionGrad& g) {
    if (!possible_) return false;
    const int64_t scores = memory(computed_), slopes = memory(computed_),
                  weights = narrowed(scores), scores_ct = narrowed(slopes);
    for (first_ = 0; first_ < batches_; first_ += piece_) {
      count_ = std::min(piece_, batches_ - first_);
      if (!multiply(0, {&g.query}, {&g.key, 0, true}, {nullptr, scores}, s_.size) ||
          !multiply(1, {&g.cotangent}, {&g.value, 0, true}, {nullptr, slopes}, s_.value_size))
        return false;
      cotangents(g, scores, slopes, weights, scores_ct);
      if (!multiply(2, {nullptr, weights, true}, {&g.cotangent}, {&g.value_ct}, s_.queries) ||
          !multiply(3, {nullptr, scores_ct}, {&g.key}, {&g.query_ct}, s_.keys) ||
          !multiply(4, {nullptr, scores_ct, true}, {&g.query}, {&g.key_ct}, s_.queries))
        return false;
    }
    return true;
  }

  Kernels take() { return std::move(out_); }

 private:
  // A matrix of all scores of a piece.
  int64_t memory(Dtype d) { return reserve(out_, piece_ * s_.queries * row_ * size_of(d)); }
  // The same for what is computed from such a matrix, element by element.
  int64_t narrowed(int64_t from) { return is_half(s_.dtype) ? memory(s_.dtype) : from; }

  // c = a b for the batches of the piece; `which` names the product among those of a piece.
  bool multiply(int which, const Factor& a, const Factor& b, const Factor& c, int64_t depth) {
    std::vector<Shape> steps;
    for (const Factor* m : {&a, &b, &c}) {
      Shape own = row_major_strides(s_.batch);
      for (int i = 0; i < own.rank(); ++i) own[i] *= s_.queries * row_;
      steps.push_back(m->array != nullptr ? leading_steps(*m->array) : own);
    }
    const Walk walk = walk_of(s_.batch, steps);
    const int64_t inner = walk.axes.empty() ? 1 : walk.axes.back().size;
    const bool scores = c.array == nullptr;
    const auto row = [&](const Factor& m) {
      return m.array != nullptr ? m.array->steps[m.array->steps.rank() - 2] : row_;
    };
    // Batches that are one step apart in all three.
    for (int64_t at = first_; at < first_ + count_;) {
      const int64_t run = std::min(first_ + count_ - at, inner - at % inner);
      const auto step = [&](size_t k) {
        return walk.axes.empty() ? int64_t{0} : walk.axes.back().steps[k];
      };
      const auto place = [&](const Factor& m, size_t k) {
        if (m.array == nullptr)
          return Argument::workspace(m.at + (at - first_) * s_.queries * row_ *
                                                size_of(scores && &m == &c ? computed_ : s_.dtype));
        Argument argument = argument_of(m.array->place);
        int64_t rest = at, offset = 0;
        for (size_t x = walk.axes.size(); x-- > 0;) {
          offset += rest % walk.axes[x].size * walk.axes[x].steps[k];
          rest /= walk.axes[x].size;
        }
        argument.byte_offset += offset * size_of(s_.dtype);
        return argument;
      };
      std::shared_ptr<const LibraryCall>& call = products_[{which, run}];
      if (call == nullptr) {
        Gemm g{.dtype = s_.dtype,
               .batches = run,
               .rows = a.transposed ? s_.keys : s_.queries,
               .columns = columns_of(c),
               .depth = depth,
               .a = {step(0), row(a), 1},
               .b = {step(1), row(b), 1},
               .c = {step(2), row(c), 1},
               .epilogue = {}};
        if (a.transposed) std::swap(g.a[1], g.a[2]);
        if (b.transposed) std::swap(g.b[1], g.b[2]);
        if (scores) g.result = computed_;
        call = gemm_call(g);
        if (call == nullptr) return false;
      }
      out_.steps.push_back(
          Call{call, {place(a, 0), place(b, 1), place(c, 2), Argument::workspace(gemm_at_)}});
      at += run;
    }
    return true;
  }

  int64_t columns_of(const Factor& m) const {
    if (m.array == nullptr) return s_.keys;
    const Place& p = m.array->place;
    return (p.kind == Place::Kind::kInput ? args_.in : args_.out)[p.index]->shape.back();
  }

  // A kernel with a warp for each row of scores. Its statements see the number `r` of the row,
  // `query`, `batch` and `lane`, and where arrays with these steps begin for the batch.
  Launch rows(KernelBuilder& kernel, const std::string& statements,
              std::vector<std::string> names = {}, std::vector<Shape> steps = {}) const {
    std::string places;
    for (const std::string& n : names) places += "    sp::i64 " + n + " = 0;\n";
    if (s_.mask) {
      Shape to = s_.batch, mask;
      to.push_back(s_.queries);
      to.push_back(s_.keys);
      mask = broadcast_steps(args_.in[*s_.mask]->shape, input_strides(args_, *s_.mask), to);
      kernel.value("mask_row", mask[-2]);
      kernel.value("mask_column", mask[-1]);
      mask.erase(mask.rank() - 1);
      mask.erase(mask.rank() - 1);
      names.push_back("mask_at");
      steps.push_back(mask);
      places += "    sp::i64 mask_at = query * mask_row;\n";
    }
    kernel.value("queries", s_.queries);
    kernel.value("keys", s_.keys);
    kernel.value("row", row_);
    kernel.value("first", first_);
    kernel.value("rows", count_ * s_.queries);
    kernel.number("scale", s_.dtype, s_.scale);
    const std::string text =
        "  typedef " + std::string(text_type(s_.dtype)) + " T;\n  typedef " +
        std::string(compute_type(s_.dtype)) +
        " C;\n  const int lane = threadIdx.x % 32;\n"
        "  for (sp::i64 r = sp::i64(blockIdx.x) * 8 + threadIdx.x / 32; r < rows;\n"
        "       r += sp::i64(gridDim.x) * 8) {\n"
        "    const sp::i64 query = r % queries, batch = first + r / queries;\n" +
        places + walk_of(s_.batch, steps).places(kernel, "b", "batch", names) + statements +
        "  }\n";
    return kernel.launch(
        text, {std::min((count_ * s_.queries + kScoreRows - 1) / kScoreRows, kMostBlocks)},
        {kScoreRows * 32});
  }

  // A loop over the keys that a lane has, in which `open` and the score `s` are known.
  std::string each_key(const std::string& statements) const {
    std::string text =
        "    for (sp::i64 key = lane; key < keys; key += 32) {\n"
        "      C s = scores[r * row + key] * scale;\n      bool open = true;\n";
    if (s_.causal) text += "      open = key <= query;\n";
    if (s_.mask) {
      const std::string m =
          "sp::widen(x" + std::to_string(*s_.mask) + "[mask_at + key * mask_column])";
      text += is_bool(args_.in[*s_.mask]->dtype) ? "      open = " + m + ";\n"
                                                 : "      const C m = " + m +
                                                       ";\n      open = m != -sp::infinity<C>();\n"
                                                       "      s += m;\n";
    }
    return text + statements + "    }\n";
  }

  void softmax(int64_t scores, int64_t weights, std::optional<Place> lse) {
    KernelBuilder kernel("attention_weights", args_);
    kernel.front(shuffle_prelude());
    declare_matrices(kernel, {{"scores", scores, computed_}, {"weights", weights, s_.dtype}});
    std::string text =
        "    C top = -sp::infinity<C>(), total = 0;\n" +
        each_key("      if (open && s > top) top = s;\n") +
        "    top = sp::warp_largest(top);\n"
        "    const C base = top == -sp::infinity<C>() ? C(0) : top;\n" +
        each_key("      if (open) total += sp::exp(s - base);\n") +
        "    total = sp::warp_sum(total);\n"
        "    const C scaled = total == C(0) ? C(0) : C(1) / total;\n" +
        each_key(
            "      weights[r * row + key] = sp::narrow<T>(open ? C(sp::exp(s - base) * scaled) "
            ": C(0));\n");
    if (lse) {
      const std::string to = declare(kernel, *lse, computed_);
      text += "    if (lane == 0) " + to +
              "[batch * queries + query] = total == C(0) ? sp::infinity<C>() : top + "
              "sp::log(total);\n";
    }
    out_.steps.push_back(rows(kernel, text));
  }

  void cotangents(const AttentionGrad& g, int64_t scores, int64_t slopes, int64_t weights,
                  int64_t scores_ct) {
    KernelBuilder kernel("attention_cotangents", args_);
    kernel.front(shuffle_prelude());
    declare_matrices(kernel, {{"scores", scores, computed_},
                              {"slopes", slopes, computed_},
                              {"weights", weights, s_.dtype},
                              {"scores_ct", scores_ct, s_.dtype}});
    const std::string lse = declare(kernel, g.lse, g.lse_dtype),
                      result = declare(kernel, g.result.place, s_.dtype),
                      cotangent = declare(kernel, g.cotangent.place, s_.dtype);
    kernel.value("size", s_.value_size);
    kernel.value("result_row", g.result.steps[g.result.steps.rank() - 2]);
    kernel.value("cotangent_row", g.cotangent.steps[g.cotangent.steps.rank() - 2]);
    const std::string text =
        "    C sum = 0;\n    for (sp::i64 c = lane; c < size; c += 32)\n"
        "      sum = sp::fused_multiply_add(C(sp::widen(" +
        result + "[result_at + query * result_row + c])), C(sp::widen(" + cotangent +
        "[cotangent_at + query * cotangent_row + c])), sum);\n    sum = sp::warp_sum(sum);\n"
        "    const C base = sp::widen(" +
        lse + "[batch * queries + query]);\n" +
        each_key(
            "      const C p = open ? sp::exp(s - base) : C(0);\n"
            "      const C ds = open ? p * (slopes[r * row + key] - sum) * scale : C(0);\n"
            "      weights[r * row + key] = sp::narrow<T>(p);\n"
            "      scores_ct[r * row + key] = sp::narrow<T>(ds);\n");
    out_.steps.push_back(rows(kernel, text, {"result_at", "cotangent_at"},
                              {leading_steps(g.result), leading_steps(g.cotangent)}));
  }

  struct Named {
    const char* name;
    int64_t at;
    Dtype dtype;
  };
  void declare_matrices(KernelBuilder& kernel, const std::vector<Named>& matrices) const {
    for (const Named& m : matrices) kernel.workspace(text_type(m.dtype), m.name, m.at);
    if (s_.mask) kernel.input(*s_.mask);
  }

  const PrepareArgs& args_;
  const AttentionShape& s_;
  const Dtype computed_;
  const int64_t row_, batches_;
  bool possible_ = false;
  int64_t piece_ = 0, gemm_at_ = 0;
  int64_t first_ = 0, count_ = 0;  // batches of the piece
  std::map<std::pair<int, int64_t>, std::shared_ptr<const LibraryCall>> products_;
  Kernels out_;
};

}  // namespace

Kernels attention_forward(const PrepareArgs& args, std::optional<Place> lse) {
  const AttentionShape shape = attention_shape(args, 3);
  const AttentionArray query = input_array(args, 0), key = input_array(args, 1),
                       value = input_array(args, 2), result = output_array(args, 0);
  Attention attention(args, shape);
  if (attention.forward(query, key, value, result, lse)) return attention.take();
  Kernels out;
  attention_kernels(args, shape, query, key, value, result, lse, out);
  return out;
}

Kernels attention_backward(const PrepareArgs& args, const AttentionShape& shape,
                           const AttentionGrad& arrays) {
  Attention attention(args, shape);
  if (attention.backward(arrays)) return attention.take();
  Kernels out;
  attention_grad_kernels(args, shape, arrays, out);
  return out;
}

}  // namespace spruce::cuda
