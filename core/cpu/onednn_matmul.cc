// SPDX-License-Identifier: Apache-2.0
// Products of bf16 on processors that have instructions for them.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "spruce/core/cpu/onednn.h"
#include "spruce/core/cpu/onednn_engine.h"
#include "spruce/core/cpu/scratch.h"
#include "spruce/core/cpu/transpose.h"

namespace spruce::cpu::onednn {
namespace {

using Memory = dnnl::memory;
using Key = std::array<int64_t, 8>;  // m, n, k, strides of a, of b, of c

constexpr size_t kPlans = 256;  // remembered by each thread

struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t h = 0;
    for (const int64_t w : key) h = (h ^ static_cast<size_t>(w)) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
  }
};

// Where the elements stand is set before each use.
struct Plan {
  Memory a, b, c, scratchpad;
  size_t scratchpad_bytes = 0;
  dnnl::matmul product;
  bool there = false;
};

std::unique_ptr<const Plan> make_plan(const Key& key) {
  auto plan = std::make_unique<Plan>();
  const auto [m, n, k, a_row, a_col, b_row, b_col, c_row] = key;
  const auto type = Memory::data_type::bf16;
  try {
    const Memory::desc a({m, k}, type, Memory::dims{a_row, a_col}),
        b({k, n}, type, Memory::dims{b_row, b_col}), c({m, n}, type, Memory::dims{c_row, 1});
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc desc(engine(), a, b, c, attr);
#else
    const dnnl::matmul::primitive_desc desc({a, b, c}, attr, engine());
#endif
    // Others widen to f32, as our own do.
    plan->there = std::strstr(desc.impl_info_str(), "bf16") != nullptr;
    plan->product = dnnl::matmul(desc);
    plan->scratchpad_bytes = desc.scratchpad_desc().get_size();
    plan->scratchpad = Memory(desc.scratchpad_desc(), engine(), nullptr);
    plan->a = Memory(a, engine(), nullptr), plan->b = Memory(b, engine(), nullptr);
    plan->c = Memory(c, engine(), nullptr);
  } catch (const dnnl::error&) {
    plan->there = false;
  }
  return plan;
}

// The plan of this thread.
const Plan& plan_of(const Key& key) {
  thread_local std::unordered_map<Key, std::unique_ptr<const Plan>, KeyHash> plans;
  if (const auto it = plans.find(key); it != plans.end()) return *it->second;
  if (plans.size() >= kPlans) plans.clear();
  const OneThread one;
  return *plans.emplace(key, make_plan(key)).first->second;
}

// Strides of axes of one element mean nothing; as those of a dense matrix.
void settle(int64_t rows, int64_t cols, int64_t* row, int64_t* col) {
  if (cols == 1) *col = 1;
  if (rows == 1) *row = *col == 1 ? cols : 1;
  if (cols == 1 && rows > 1 && *row != 1) *col = 1;
}

struct Product {
  const Plan* plan;  // null: it is none for oneDNN
  bool turned;       // a is copied to stand by rows
};

Product product_of(const Gemm& g) {
  Key key{g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, std::max(g.c_row, g.n)};
  settle(g.m, g.k, &key[3], &key[4]);
  settle(g.k, g.n, &key[5], &key[6]);
  const auto dense = [](int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (col == 1 && row >= cols) || (row == 1 && col >= rows);
  };
  if (g.accumulate || !dense(key[3], key[4], g.m, g.k) || !dense(key[5], key[6], g.k, g.n))
    return {nullptr, false};
  // The primitive is four times slower where a stands by columns, as in gradients of weights.
  const bool turned = key[4] != 1;
  if (turned) key[3] = g.k, key[4] = 1;
  const Plan& plan = plan_of(key);
  return {plan.there ? &plan : nullptr, turned};
}

size_t turned_bytes(const Gemm& g, bool turned) {
  return turned ? static_cast<size_t>(g.m * g.k) * sizeof(Bfloat16) : 0;
}

}  // namespace

bool has_amx() {
  // Each instruction set is a mask of bits that contains those of the lesser ones.
  static const bool has = [] {
    const auto amx = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & amx) == amx;
  }();
  return has;
}

std::optional<size_t> bf16_gemm_scratch(const Gemm& g) {
  const Product p = product_of(g);
  if (p.plan == nullptr) return std::nullopt;
  return scratch_size(turned_bytes(g, p.turned)) + scratch_size(p.plan->scratchpad_bytes);
}

bool bf16_gemm(const Gemm& g) {
  const Product p = product_of(g);
  if (p.plan == nullptr) return false;
  const Scratch by_rows(turned_bytes(g, p.turned)), scratchpad(p.plan->scratchpad_bytes);
  if (p.turned) transpose_loop(sizeof(Bfloat16))(g.a, g.a_col, by_rows.data(), g.k, g.m, g.k);
  const OneThread one;
  const auto at = [](const Memory& m, const void* data) {
    m.set_data_handle(const_cast<void*>(data));
    return m.get();
  };
  execute(p.plan->product, {{DNNL_ARG_SRC, at(p.plan->a, p.turned ? by_rows.data() : g.a)},
                            {DNNL_ARG_WEIGHTS, at(p.plan->b, g.b)},
                            {DNNL_ARG_DST, at(p.plan->c, g.c)},
                            {DNNL_ARG_SCRATCHPAD, at(p.plan->scratchpad, scratchpad.data())}});
  return true;
}

}  // namespace spruce::cpu::onednn
