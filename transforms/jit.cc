// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/jit.h"

#include <unordered_map>

#include "spruce/transforms/executor.h"
#include "spruce/transforms/passes/pipeline.h"

namespace spruce::internal {

struct JitCache::Map {
  std::unordered_map<std::string, std::shared_ptr<const Compiled>> entries;
};

void JitCache::Deleter::operator()(Map* m) const { delete m; }

std::shared_ptr<const Compiled> JitCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  if (map_ == nullptr) return nullptr;
  const auto it = map_->entries.find(key);
  return it == map_->entries.end() ? nullptr : it->second;
}

void JitCache::insert(const std::string& key, std::shared_ptr<const Compiled> compiled) {
  const std::lock_guard lock(mutex_);
  if (map_ == nullptr) map_.reset(new Map);
  map_->entries.emplace(key, std::move(compiled));
}

Array placeholder(tree::Leaf kind) {
  return make_array(kind == tree::Leaf::kKey ? Aval{Dtype::kUint32, false, Shape{2}}
                                             : Aval{Dtype::kBool, false, Shape{}});
}

std::shared_ptr<const Executor> prepare(Graph graph) {
  check(graph);
  Graph source = passes::dead_code(passes::common_subexpressions(graph));
#ifndef NDEBUG
  check(source);
#endif
  Graph runnable = passes::optimize(source);
  return std::make_shared<const Executor>(std::move(source), std::move(runnable));
}

std::vector<Array> run(const Executor& executor, std::vector<Array> args) {
  if (Interpreter::current() != nullptr) return evaluate(executor.source(), args);
  return executor.run(std::move(args));
}

const Graph& graph_of(const Executor& executor) { return executor.source(); }

}  // namespace spruce::internal
