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

struct Plan {
  Memory::desc a, b, c, scratchpad;
  dnnl::matmul product;
  bool there = false;
};

std::shared_ptr<const Plan> make_plan(const Key& key) {
  auto plan = std::make_shared<Plan>();
  const auto [m, n, k, a_row, a_col, b_row, b_col, c_row] = key;
  const auto type = Memory::data_type::bf16;
  try {
    plan->a = Memory::desc({m, k}, type, Memory::dims{a_row, a_col});
    plan->b = Memory::desc({k, n}, type, Memory::dims{b_row, b_col});
    plan->c = Memory::desc({m, n}, type, Memory::dims{c_row, 1});
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc desc(engine(), plan->a, plan->b, plan->c, attr);
#else
    const dnnl::matmul::primitive_desc desc({plan->a, plan->b, plan->c}, attr, engine());
#endif
    // Others widen to f32, as our own do.
    plan->there = std::strstr(desc.impl_info_str(), "bf16") != nullptr;
    plan->scratchpad = desc.scratchpad_desc();
    plan->product = dnnl::matmul(desc);
  } catch (const dnnl::error&) {
    plan->there = false;
  }
  return plan;
}

// Strides of axes of one element mean nothing; as those of a dense matrix.
void settle(int64_t rows, int64_t cols, int64_t* row, int64_t* col) {
  if (cols == 1) *col = 1;
  if (rows == 1) *row = *col == 1 ? cols : 1;
  if (cols == 1 && rows > 1 && *row != 1) *col = 1;
}

}  // namespace

bool bf16_gemm(const Gemm& g) {
  Key key{g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, std::max(g.c_row, g.n)};
  settle(g.m, g.k, &key[3], &key[4]);
  settle(g.k, g.n, &key[5], &key[6]);
  const auto dense = [](int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (col == 1 && row >= cols) || (row == 1 && col >= rows);
  };
  if (g.accumulate || !dense(key[3], key[4], g.m, g.k) || !dense(key[5], key[6], g.k, g.n))
    return false;
  // The primitive is four times slower where a stands by columns, as in gradients of weights.
  const bool turned = key[4] != 1;
  const Scratch by_rows(turned ? static_cast<size_t>(g.m * g.k) * sizeof(Bfloat16) : 0);
  if (turned) {
    key[3] = g.k, key[4] = 1;
    transpose_loop(sizeof(Bfloat16))(g.a, g.a_col, by_rows.data(), g.k, g.m, g.k);
  }
  void* a = turned ? by_rows.data() : const_cast<void*>(g.a);
  const OneThread one;
  thread_local std::unordered_map<Key, std::shared_ptr<const Plan>, KeyHash> plans;
  auto it = plans.find(key);
  if (it == plans.end()) {
    if (plans.size() >= kPlans) plans.clear();
    it = plans.emplace(key, make_plan(key)).first;
  }
  const Plan& plan = *it->second;
  if (!plan.there) return false;
  const Scratch memory(plan.scratchpad.get_size());
  plan.product.execute(stream(),
                       {{DNNL_ARG_SRC, Memory(plan.a, engine(), a)},
                        {DNNL_ARG_WEIGHTS, Memory(plan.b, engine(), const_cast<void*>(g.b))},
                        {DNNL_ARG_DST, Memory(plan.c, engine(), g.c)},
                        {DNNL_ARG_SCRATCHPAD, Memory(plan.scratchpad, engine(), memory.data())}});
  return true;
}

}  // namespace spruce::cpu::onednn
