// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/onednn.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "spruce/core/cpu/onednn_engine.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/scratch.h"

namespace spruce::cpu::onednn {
namespace {

struct Layout {
  char flag;
  int64_t step;
};

// How a matrix [rows, cols] looks to sgemm, whose matrices are row-major.
bool layout(int64_t rows, int64_t cols, int64_t row, int64_t col, Layout* out) {
  if (col == 1 || cols == 1) {
    if (rows == 1 || row >= cols)
      return *out = {'N', rows == 1 ? std::max<int64_t>(cols, 1) : row}, true;
  }
  if (row == 1 || rows == 1) {
    if (cols == 1 || col >= rows)
      return *out = {'T', cols == 1 ? std::max<int64_t>(rows, 1) : col}, true;
  }
  return false;
}

}  // namespace

bool takes_sgemm(const Gemm& g) {
  Layout a{}, b{};
  return layout(g.m, g.k, g.a_row, g.a_col, &a) && layout(g.k, g.n, g.b_row, g.b_col, &b);
}

bool sgemm(const Gemm& g) {
  Layout a{'N', 1}, b{'N', 1};
  if (!layout(g.m, g.k, g.a_row, g.a_col, &a) || !layout(g.k, g.n, g.b_row, g.b_col, &b))
    return false;
  const OneThread one;
  const dnnl_status_t status =
      dnnl_sgemm(a.flag, b.flag, g.m, g.n, g.k, 1.0f, static_cast<const float*>(g.a), a.step,
                 static_cast<const float*>(g.b), b.step, g.accumulate ? 1.0f : 0.0f,
                 static_cast<float*>(g.c), std::max(g.c_row, g.n));
  return status == dnnl_success;
}

namespace {

constexpr double kLeast = 1 << 16;        // multiply-adds below which our own loops are as fast
constexpr double kSamplesPart = 1 << 23;  // multiply-adds of the samples of one part, about
constexpr int64_t kSamples = 64;          // of one part, at most
// Of the gradient of the window:
constexpr double kPart = 1 << 25;  // multiply-adds of one part of the samples, at least
constexpr int64_t kParts = 16;     // parts at most
constexpr double kPerSum = 256;    // multiply-adds for each element of a partial sum, at least
constexpr size_t kPlans = 256;     // remembered by each thread

using Memory = dnnl::memory;
using Dims = Memory::dims;

enum class Form : int64_t { kForward, kBackwardData, kBackwardWeights };

// A convolution in oneDNN's words, always of the forward one: `n` samples of it go through one
// primitive.
struct Problem {
  Form form;
  int64_t n, groups, in_features, out_features;
  std::array<int64_t, 3> src, window, dst, stride, dilation, low, high;
  // Steps of sample and feature of src and dst, and of group, output and input of the window.
  std::array<int64_t, 2> src_steps, dst_steps;
  std::array<int64_t, 3> window_steps;
  int64_t plain;  // 1: src and dst are used as they stand (a number, so that there is no padding)

  friend bool operator==(const Problem& a, const Problem& b) {
    return std::memcmp(&a, &b, sizeof(Problem)) == 0;
  }
};

struct ProblemHash {
  size_t operator()(const Problem& p) const {
    std::array<int64_t, sizeof(Problem) / sizeof(int64_t)> words;
    std::memcpy(words.data(), &p, sizeof(p));
    size_t h = 0;
    for (const int64_t w : words) h = (h ^ static_cast<size_t>(w)) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
  }
};

// Sets what the axes of the forward convolution look like; false if oneDNN does not describe it.
bool set_axes(const Conv& c, Form form, Problem* p) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t *src = c.in, *window = c.window, *dst = c.out;
    p->low[d] = c.low[d], p->stride[d] = c.stride[d], p->dilation[d] = c.window_dilation[d];
    if (form == Form::kBackwardData) {
      src = c.out, dst = c.in;
      p->low[d] = (c.window[d] - 1) * c.window_dilation[d] - c.low[d];
      p->stride[d] = c.dilation[d];
    } else if (form == Form::kBackwardWeights) {
      window = c.out, dst = c.window;
      p->stride[d] = c.window_dilation[d], p->dilation[d] = c.stride[d];
    }
    p->src[d] = src[d], p->window[d] = window[d], p->dst[d] = dst[d];
    if (src[d] < 1 || window[d] < 1 || dst[d] < 1) return false;
    const int64_t reach = (window[d] - 1) * p->dilation[d] + 1;
    const int64_t exact = (dst[d] - 1) * p->stride[d] + reach - src[d] - p->low[d];
    p->high[d] = std::max<int64_t>(exact, 0);
    // What is left over at the end is less than a step; padding is less than a window.
    if (p->low[d] < 0 || p->low[d] >= reach || exact <= -p->stride[d] || p->high[d] >= reach)
      return false;
  }
  return true;
}

// The form of a convolution; false where it has none of the three.
bool classify(const Conv& c, Problem* p) {
  const auto ones = [](const int64_t* v) { return v[0] == 1 && v[1] == 1 && v[2] == 1; };
  const bool grouped_features = c.groups == 1 || c.lhs_group == c.in_features * c.lhs_feature;
  *p = Problem{};
  p->groups = c.groups;
  if (c.reversed) {
    if (!ones(c.stride) || !grouped_features || !set_axes(c, Form::kBackwardData, p)) return false;
    p->form = Form::kBackwardData;
    p->n = c.batch, p->in_features = c.out_features, p->out_features = c.in_features;
    p->src_steps = {c.out_batch, c.out_feature}, p->dst_steps = {c.lhs_batch, c.lhs_feature};
    p->window_steps = {c.rhs_group, c.rhs_in, c.rhs_out};
    // To few features the blocked kernels would compute mostly nothing.
    p->plain = p->groups == 1 && p->in_features <= 4 && c.out_feature == c.out_size() &&
                       c.lhs_feature == c.in_size()
                   ? 1
                   : 0;
    return true;
  }
  if (!ones(c.dilation)) return false;
  if (c.window_size() > c.out_size()) {
    const bool grouped_batch = c.groups == 1 || c.lhs_group == c.batch * c.lhs_batch;
    if (!grouped_batch || !set_axes(c, Form::kBackwardWeights, p)) return false;
    p->form = Form::kBackwardWeights;
    p->n = c.in_features, p->in_features = c.batch, p->out_features = c.out_features;
    p->src_steps = {c.lhs_feature, c.lhs_batch}, p->dst_steps = {c.rhs_in, c.rhs_out};
    p->window_steps = {c.out_group, c.out_feature, c.out_batch};
    return true;
  }
  if (!grouped_features || !set_axes(c, Form::kForward, p)) return false;
  p->form = Form::kForward;
  p->n = c.batch, p->in_features = c.in_features, p->out_features = c.out_features;
  p->src_steps = {c.lhs_batch, c.lhs_feature}, p->dst_steps = {c.out_batch, c.out_feature};
  p->window_steps = {c.rhs_group, c.rhs_out, c.rhs_in};
  return true;
}

// An operand in the user's layout and in the one that the primitive wants. Where their elements
// stand is set before each use.
struct Operand {
  Memory user, wanted;
  dnnl::reorder move;
  size_t size = 0;  // bytes in the primitive's layout
  bool moves = false;

  void set(const Memory::desc& u, const Memory::desc& w, bool into) {
    user = Memory(u, engine(), nullptr), wanted = Memory(w, engine(), nullptr);
    size = w.get_size(), moves = !(w == u);
    if (moves)
      move = into ? dnnl::reorder({engine(), u, engine(), w})
                  : dnnl::reorder({engine(), w, engine(), u});
  }
  size_t bytes() const { return moves ? size : 0; }
  dnnl_memory_t at(const void* data) const {
    wanted.set_data_handle(const_cast<void*>(data));
    return wanted.get();
  }
  void run(const void* from, void* to, bool into) const {
    const Memory &a = into ? user : wanted, &b = into ? wanted : user;
    a.set_data_handle(const_cast<void*>(from)), b.set_data_handle(to);
    execute(move, {{DNNL_ARG_FROM, a.get()}, {DNNL_ARG_TO, b.get()}});
  }
};

// A primitive for the samples of one part, and what one thread needs to run it.
struct Plan {
  dnnl::primitive primitive;
  Operand first, second, result;  // lhs, rhs, out of the caller
  int first_arg = 0, second_arg = 0, result_arg = 0;
  Memory scratchpad;
  size_t scratchpad_bytes = 0;
  bool there = false;
};

Memory::desc described(const Dims& dims, Dims steps, const std::array<int64_t, 3>& sizes,
                       size_t from) {
  // The spatial axes are dense.
  for (size_t d = from; d < 3; ++d) {
    int64_t step = 1;
    for (size_t e = d + 1; e < 3; ++e) step *= sizes[e];
    steps.push_back(step);
  }
  return Memory::desc(dims, Memory::data_type::f32, steps);
}

Memory::desc any(const Dims& dims) {
  return Memory::desc(dims, Memory::data_type::f32, Memory::format_tag::any);
}

#if DNNL_VERSION_MAJOR >= 3
template <class P, class... Hint>
typename P::primitive_desc make_desc(dnnl::prop_kind kind, const Memory::desc& a,
                                     const Memory::desc& b, const Memory::desc& c, const Dims* g,
                                     const dnnl::primitive_attr& attr, const Hint&... hint) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  if constexpr (std::is_same_v<P, dnnl::convolution_forward>)
    return {engine(), kind, kDirect, a, b, c, g[0], g[1], g[2], g[3], attr};
  else
    return {engine(), kDirect, a, b, c, g[0], g[1], g[2], g[3], hint..., attr};
}
#else
template <class P, class... Hint>
typename P::primitive_desc make_desc(dnnl::prop_kind kind, const Memory::desc& a,
                                     const Memory::desc& b, const Memory::desc& c, const Dims* g,
                                     const dnnl::primitive_attr& attr, const Hint&... hint) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  if constexpr (std::is_same_v<P, dnnl::convolution_forward>) {
    return {typename P::desc(kind, kDirect, a, b, c, g[0], g[1], g[2], g[3]), attr, engine()};
  } else {
    return {typename P::desc(kDirect, a, b, c, g[0], g[1], g[2], g[3]), attr, engine(), hint...};
  }
}
#endif

// The reference kernels of oneDNN are slower than our own.
bool fast(const char* kernel) { return std::strstr(kernel, "ref") == nullptr; }

std::shared_ptr<const Plan> make_plan(const Problem& p) {
  auto plan = std::make_shared<Plan>();
  size_t from = 0;  // leading axes of size 1 are left out
  while (from < 2 && p.src[from] == 1 && p.window[from] == 1 && p.dst[from] == 1) ++from;
  Dims src{p.n, p.groups * p.in_features}, dst{p.n, p.groups * p.out_features},
      window{p.out_features, p.in_features};
  Dims window_steps{p.window_steps[1], p.window_steps[2]};
  if (p.groups > 1) {
    window.insert(window.begin(), p.groups);
    window_steps.insert(window_steps.begin(), p.window_steps[0]);
  }
  Dims geometry[4];
  for (size_t d = from; d < 3; ++d) {
    src.push_back(p.src[d]), dst.push_back(p.dst[d]), window.push_back(p.window[d]);
    geometry[0].push_back(p.stride[d]), geometry[1].push_back(p.dilation[d] - 1);
    geometry[2].push_back(p.low[d]), geometry[3].push_back(p.high[d]);
  }
  const Memory::desc user_src = described(src, {p.src_steps[0], p.src_steps[1]}, p.src, from);
  const Memory::desc user_dst = described(dst, {p.dst_steps[0], p.dst_steps[1]}, p.dst, from);
  const Memory::desc user_window = described(window, window_steps, p.window, from);
  const Memory::desc s = p.plain != 0 ? user_src : any(src), d = p.plain != 0 ? user_dst : any(dst),
                     w = any(window);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    const auto training = dnnl::prop_kind::forward_training;
    const auto hint = make_desc<dnnl::convolution_forward>(training, s, w, d, geometry, attr);
    const auto finish = [&](const auto& desc, auto primitive, const Memory::desc& first,
                            const Memory::desc& first_wanted, const Memory::desc& second,
                            const Memory::desc& second_wanted, const Memory::desc& result,
                            const Memory::desc& result_wanted) {
      plan->there = fast(desc.impl_info_str());
      plan->primitive = primitive;
      plan->scratchpad = Memory(desc.scratchpad_desc(), engine(), nullptr);
      plan->scratchpad_bytes = desc.scratchpad_desc().get_size();
      plan->first.set(first, first_wanted, true), plan->second.set(second, second_wanted, true);
      plan->result.set(result, result_wanted, false);
    };
    if (p.form == Form::kForward) {
      plan->first_arg = DNNL_ARG_SRC, plan->second_arg = DNNL_ARG_WEIGHTS,
      plan->result_arg = DNNL_ARG_DST;
      finish(hint, dnnl::convolution_forward(hint), user_src, hint.src_desc(), user_window,
             hint.weights_desc(), user_dst, hint.dst_desc());
    } else if (p.form == Form::kBackwardData) {
      plan->first_arg = DNNL_ARG_DIFF_DST, plan->second_arg = DNNL_ARG_WEIGHTS,
      plan->result_arg = DNNL_ARG_DIFF_SRC;
      const auto desc =
          make_desc<dnnl::convolution_backward_data>(training, s, w, d, geometry, attr, hint);
      finish(desc, dnnl::convolution_backward_data(desc), user_dst, desc.diff_dst_desc(),
             user_window, desc.weights_desc(), user_src, desc.diff_src_desc());
    } else {
      plan->first_arg = DNNL_ARG_SRC, plan->second_arg = DNNL_ARG_DIFF_DST,
      plan->result_arg = DNNL_ARG_DIFF_WEIGHTS;
      const auto desc =
          make_desc<dnnl::convolution_backward_weights>(training, s, w, d, geometry, attr, hint);
      finish(desc, dnnl::convolution_backward_weights(desc), user_src, desc.src_desc(), user_dst,
             desc.diff_dst_desc(), user_window, desc.diff_weights_desc());
    }
  } catch (const dnnl::error&) {
    plan->there = false;
  }
  return plan;
}

// The plan of this thread.
std::shared_ptr<const Plan> plan_of(const Problem& p) {
  thread_local std::unordered_map<Problem, std::shared_ptr<const Plan>, ProblemHash> plans;
  if (const auto it = plans.find(p); it != plans.end()) return it->second;
  if (plans.size() >= kPlans) plans.clear();
  const OneThread one;
  return plans.emplace(p, make_plan(p)).first->second;
}

// Runs the primitive on operands that have their layouts.
void run(const Plan& plan, const void* first, const void* second, void* result) {
  const Scratch memory(plan.scratchpad_bytes);
  plan.scratchpad.set_data_handle(memory.data());
  execute(plan.primitive, {{plan.first_arg, plan.first.at(first)},
                           {plan.second_arg, plan.second.at(second)},
                           {plan.result_arg, plan.result.at(result)},
                           {DNNL_ARG_SCRATCHPAD, plan.scratchpad.get()}});
}

// The operand in the primitive's layout: where it stands, or in `memory`.
const void* arranged(const Operand& o, const void* user, void* memory) {
  if (!o.moves) return user;
  o.run(user, memory, true);
  return memory;
}

// The parts that a convolution is computed in.
struct Split {
  Problem problem, rest;  // of all parts but the last, and of the last
  int64_t each, parts;
  std::shared_ptr<const Plan> plan, last;

  bool weights() const { return problem.form == Form::kBackwardWeights; }
  // The gradient of the window is summed over parts aside.
  bool sums() const { return weights() && (parts > 1 || plan->result.moves); }
};

bool split(const Conv& c, Split* s) {
  Problem& p = s->problem;
  if (c.work() < kLeast || !classify(c, &p)) return false;
  const int64_t n = p.n;
  if (s->weights()) {
    // Each part of a gradient of the window writes a whole one, which takes its time as well.
    const double whole = static_cast<double>(c.groups * c.out_features * c.batch * c.out_size());
    const auto wanted = static_cast<int64_t>(
        std::clamp(c.work() / std::max(kPart, kPerSum * whole), 1.0, static_cast<double>(kParts)));
    s->each = (n + wanted - 1) / wanted;
  } else {
    s->each = std::min(n, conv_samples(c));
  }
  s->parts = (n + s->each - 1) / s->each;
  p.n = s->each;
  s->plan = plan_of(p);
  s->rest = p;
  s->rest.n = n - (s->parts - 1) * s->each;
  s->last = s->rest == p ? s->plan : plan_of(s->rest);
  return s->plan->there && s->last->there;
}

}  // namespace

int64_t conv_samples(const Conv& c) {
  const double sample = c.work() / static_cast<double>(std::max<int64_t>(c.batch, 1));
  int64_t n = 1;
  while (n < kSamples && 1.5 * static_cast<double>(n) * sample < kSamplesPart) n *= 2;
  return n;
}

size_t conv_scratch(const Conv& c) {
  Split s;
  if (!split(c, &s)) return 0;
  const auto of = [&](const Plan& q) {
    return scratch_size(q.first.bytes()) + scratch_size(q.second.bytes()) +
           scratch_size(s.weights() ? 0 : q.result.bytes()) + scratch_size(q.scratchpad_bytes);
  };
  const size_t partial = s.sums() ? s.plan->result.size : 0;
  return scratch_size(partial * static_cast<size_t>(s.parts)) + std::max(of(*s.plan), of(*s.last));
}

bool conv(const Conv& c, const float* lhs, const float* rhs, float* out) {
  Split s;
  if (!split(c, &s)) return false;
  const bool weights = s.weights(), sums = s.sums();
  const int64_t each = s.each, parts = s.parts;
  const std::shared_ptr<const Plan>& plan = s.plan;
  // Steps from one part to the next.
  const int64_t lhs_step = each * (weights ? c.lhs_feature : c.lhs_batch),
                rhs_step = weights ? each * c.rhs_in : 0;
  const int64_t out_step = weights ? 0 : each * c.out_batch;
  const size_t result_bytes = plan->result.size;
  const OneThread one;
  const Scratch window(weights ? 0 : plan->second.bytes());
  const void* const shared = weights ? nullptr : arranged(plan->second, rhs, window.data());
  const Scratch partial(sums ? result_bytes * static_cast<size_t>(parts) : 0);
  parallel_for(parts * 64, 64, [&](int64_t begin, int64_t end) {
    const OneThread alone;
    for (int64_t i = begin / 64; i < (end + 63) / 64; ++i) {
      const std::shared_ptr<const Plan> own = plan_of(i + 1 == parts ? s.rest : s.problem);
      const Plan& q = *own;
      const Scratch a(q.first.bytes()), b(weights ? q.second.bytes() : 0),
          y(weights ? 0 : q.result.bytes());
      const void* const first = arranged(q.first, lhs + i * lhs_step, a.data());
      if (weights) {
        void* const to =
            sums ? static_cast<char*>(partial.data()) + static_cast<size_t>(i) * result_bytes
                 : static_cast<void*>(out);
        run(q, first, arranged(q.second, rhs + i * rhs_step, b.data()), to);
      } else if (q.result.moves) {
        run(q, first, shared, y.data());
        q.result.run(y.data(), out + i * out_step, false);
      } else {
        run(q, first, shared, out + i * out_step);
      }
    }
  });
  if (!sums) return true;
  float* const total = partial.as<float>();
  const auto words = static_cast<int64_t>(result_bytes / sizeof(float));
  for (int64_t i = 1; i < parts; ++i) {
    for (int64_t j = 0; j < words; ++j) total[j] += total[i * words + j];
  }
  if (plan->result.moves)
    plan->result.run(total, out, false);
  else
    std::memcpy(out, total, result_bytes);
  return true;
}

}  // namespace spruce::cpu::onednn
