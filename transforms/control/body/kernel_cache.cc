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

// Such a function is equal only to itself, so nobody would find it, and what it has captured would
// live as long as the cache.
bool calls_user(const Equation& e) {
  return e.primitive == &host_call_p || e.primitive == &custom_call_p ||
         e.primitive == &custom_vjp_tangent_p;
}

// Memory of the program, which may change or go once no array of the program shows it.
bool is_borrowed(const Array& constant) { return constant.impl()->buffer->is_adopted(); }

template <class Source>
bool may_be_kept(const Source& source) {
  return find_equation(source, calls_user) == nullptr && !any_constant(source, is_borrowed);
}

// The last few of what was asked for, never destroyed.
template <class T>
class Kept {
 public:
  template <class Test>
  std::shared_ptr<const T> find(const Test& test) {
    const std::lock_guard lock(mutex_);
    const auto it =
        std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) { return test(*k); });
    if (it == kept_.end()) return nullptr;
    std::rotate(kept_.begin(), it, it + 1);
    return kept_.front();
  }
  void add(std::shared_ptr<const T> value) {
    std::shared_ptr<const T> oldest;  // goes when the lock is open: what it holds may call back
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kMost) {
      oldest = std::move(kept_.back());
      kept_.pop_back();
    }
    kept_.insert(kept_.begin(), std::move(value));
  }

 private:
  static constexpr size_t kMost = 32;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const T>> kept_;  // the last one used first
};

template <class T>
Kept<T>& kept() {
  static auto* k = new Kept<T>;
  return *k;
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
  const auto same_type = [](const Aval& type, const Array& a) { return type == a.aval(); };
  auto found = kept<ReadyKernel>().find([&](const ReadyKernel& k) {
    return k.primitive == &p &&
           std::equal(k.in.begin(), k.in.end(), in.begin(), in.end(), same_type) &&
           k.source == params;
  });
  if (found) return found;
  auto made = std::make_shared<ReadyKernel>();
  made->primitive = &p;
  made->source = params;
  for (const Array& a : in) made->in.push_back(a.aval());
  made->out = output_avals(p, pointers(made->in), params);
  made->optimized = params.map_graphs(
      [](const GraphPtr& g) { return std::make_shared<const Graph>(passes::optimize(*g)); });
  made->kernel = prepare({pointers(made->in), pointers(made->out), made->optimized});
  if (may_be_kept(params)) kept<ReadyKernel>().add(made);
  return made;
}

std::shared_ptr<const Executor> ready_body(const GraphPtr& body) {
  struct Ready {
    GraphPtr source;
    Executor executor;
  };
  auto ready = kept<Ready>().find([&](const Ready& r) { return graphs_equal(r.source, body); });
  if (!ready) {
    ready = std::shared_ptr<const Ready>(new Ready{body, Executor(*body)});
    if (may_be_kept(*body)) kept<Ready>().add(ready);
  }
  return {ready, &ready->executor};
}

}  // namespace spruce::internal
