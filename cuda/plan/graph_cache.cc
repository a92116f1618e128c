// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/graph_cache.h"

#include <algorithm>
#include <utility>

#include "spruce/core/error.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {

GraphCache::~GraphCache() {
  try {
    context_.enter();
  } catch (const Error&) {
    return;  // at the end of the program the driver may be gone
  }
  for (const Entry& e : entries_) {
    if (e.exec != nullptr) driver().cuGraphExecDestroy(e.exec);
  }
  for (CUgraphExec exec : spare_) driver().cuGraphExecDestroy(exec);
}

// On a stream of its own: others may enqueue on that of the context meanwhile.
CUgraph GraphCache::capture(const std::function<void(CUstream)>& enqueue) {
  const DriverTable& d = driver();
  CUstream stream = context_.capture_stream();
  check(d.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture");
  CUgraph graph = nullptr;
  try {
    enqueue(stream);
  } catch (...) {
    d.cuStreamEndCapture(stream, &graph);
    if (graph != nullptr) d.cuGraphDestroy(graph);
    throw;
  }
  check(d.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  return graph;
}

void GraphCache::run(std::span<void* const> addresses, int mode, bool at_once,
                     const std::function<void(CUstream)>& enqueue) {
  const DriverTable& d = driver();
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.mode == mode &&
           std::equal(e.addresses.begin(), e.addresses.end(), addresses.begin(), addresses.end());
  });
  if (found == entries_.end()) {
    Entry seen{{addresses.begin(), addresses.end()}, mode, nullptr, ++now_};
    if (entries_.size() < kMost) {
      found = entries_.insert(entries_.end(), std::move(seen));
    } else {
      found = std::min_element(entries_.begin(), entries_.end(),
                               [](const Entry& a, const Entry& b) { return a.used < b.used; });
      if (found->exec != nullptr) spare_.push_back(found->exec);
      *found = std::move(seen);
    }
    // What the driver and libraries load when it first runs cannot be loaded while it is recorded.
    const bool has_run = std::exchange(has_run_, true);
    if (!at_once || !has_run) return enqueue(context_.stream());
  }
  Entry& entry = *found;
  entry.used = ++now_;
  if (entry.exec == nullptr) {
    const CUgraph graph = capture(enqueue);
    CUresult result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    if (!spare_.empty()) {
      // The same kernels on other memory: cheaper than a new one.
      CUgraphExec exec = spare_.back();
      spare_.pop_back();
      CUgraphExecUpdateResultInfo info{};
      result = d.cuGraphExecUpdate(exec, graph, &info);
      if (result == CUDA_SUCCESS)
        entry.exec = exec;
      else
        d.cuGraphExecDestroy(exec);
    }
    if (result != CUDA_SUCCESS) result = d.cuGraphInstantiateWithFlags(&entry.exec, graph, 0);
    d.cuGraphDestroy(graph);
    check(result, "cuGraphInstantiate");
  }
  check(d.cuGraphLaunch(entry.exec, context_.stream()), "cuGraphLaunch");
}

}  // namespace spruce::cuda
