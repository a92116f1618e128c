// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/kernel_cache.h"

#include <algorithm>
#include <mutex>

#include "spruce/core/graph/custom_call.h"
#include "spruce/core/graph/find.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::internal {
namespace {

constexpr size_t kKept = 32;

// Such a function is equal only to itself, so nobody would find it, and what it has captured would
// live as long as the cache.
bool holds_function(const Params& params) {
  const auto is_function = [](const Equation& e) {
    return e.primitive == &host_call_p || e.primitive == &custom_call_p ||
           e.primitive == &custom_vjp_tangent_p;
  };
  return find_equation(params, is_function) != nullptr;
}

class Cache {
 public:
  std::shared_ptr<const ReadyKernel> find(const Primitive& p, const Params& params,
                                          std::span<const Array> in) {
    const std::lock_guard lock(mutex_);
    const auto same_type = [](const Aval& type, const Array& a) { return type == a.aval(); };
    const auto it = std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) {
      return k->primitive == &p &&
             std::equal(k->in.begin(), k->in.end(), in.begin(), in.end(), same_type) &&
             k->source == params;
    });
    if (it == kept_.end()) return nullptr;
    std::rotate(kept_.begin(), it, it + 1);
    return kept_.front();
  }
  void add(std::shared_ptr<const ReadyKernel> kernel) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kKept) kept_.pop_back();
    kept_.insert(kept_.begin(), std::move(kernel));
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const ReadyKernel>> kept_;  // the last one used first
};

Cache& cache() {
  static Cache* c = new Cache;
  return *c;
}

std::vector<const Aval*> pointers(const std::vector<Aval>& types) {
  std::vector<const Aval*> out;
  for (const Aval& type : types) out.push_back(&type);
  return out;
}

}  // namespace

std::shared_ptr<const ReadyKernel> ready_kernel(
    const Primitive& p, const Params& params, std::span<const Array> in,
    std::unique_ptr<const PreparedKernel> (*prepare)(const PrepareArgs&)) {
  if (auto found = cache().find(p, params, in)) return found;
  auto made = std::make_shared<ReadyKernel>();
  made->primitive = &p;
  made->source = params;
  for (const Array& a : in) made->in.push_back(a.aval());
  made->out = output_avals(p, pointers(made->in), params);
  made->optimized = params.map_graphs(
      [](const GraphPtr& g) { return std::make_shared<const Graph>(passes::optimize(*g)); });
  made->kernel = prepare({pointers(made->in), pointers(made->out), made->optimized});
  if (!holds_function(params)) cache().add(made);
  return made;
}

}  // namespace spruce::internal
