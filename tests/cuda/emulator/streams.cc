// SPDX-License-Identifier: Apache-2.0
// Streams run at once, or, where they are lazy, when somebody waits for them: as late as a device
// may. While a stream is captured, what is enqueued is kept and runs when the graph is launched.
// Events have the clock of the host.
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cuda/emulator/stream.h"

using spruce::cuda_emulator::Work;

struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<Work>> work;
};
struct CUstream_st {
  bool capturing = false;
  CUgraph_st captured;
  std::deque<Work> kept;
  uint64_t enqueued = 0, run = 0;  // pieces of work
};
struct CUevent_st {
  struct Moment {
    bool reached = false;
    std::chrono::steady_clock::time_point when;
  };
  std::shared_ptr<Moment> moment = std::make_shared<Moment>();
  CUstream_st* stream = nullptr;  // where it was recorded last
  uint64_t place = 0;             // how much of the stream's work was before it
};

namespace spruce::cuda_emulator {
namespace {

struct Streams {
  bool lazy = false;
  CUstream_st legacy;  // and that of the thread: handles 0, 1 and 2
  std::vector<CUstream_st*> all{&legacy};
  int64_t graphs = 0, waits = 0;
};

Streams& streams() {
  static Streams* s = [] {
    auto* made = new Streams;
    const char* lazy = std::getenv("SPRUCE_EMULATOR_LAZY");
    made->lazy = lazy != nullptr && std::string_view(lazy) == "1";
    return made;
  }();
  return *s;
}

CUstream_st& stream_of(CUstream handle) {
  return reinterpret_cast<uintptr_t>(handle) <= 2 ? streams().legacy : *handle;
}

CUresult run_until(CUstream_st& s, uint64_t place) {
  while (s.run < place) {
    if (lost() != CUDA_SUCCESS) {
      s.run = s.enqueued;
      s.kept.clear();
      return lost();
    }
    const Work work = std::move(s.kept.front());
    s.kept.pop_front();
    ++s.run;
    const CUresult result = work.run();
    if (result == CUDA_SUCCESS) continue;
    if (streams().lazy) lost() = result;
    return result;
  }
  return CUDA_SUCCESS;
}

CUresult stream_create(CUstream* stream, unsigned) {
  const Lock lock(driver_mutex());
  *stream = new CUstream_st;
  streams().all.push_back(*stream);
  return CUDA_SUCCESS;
}
CUresult wait_for(CUstream stream) {
  const Lock lock(driver_mutex());
  ++streams().waits;
  run_until(stream_of(stream), stream_of(stream).enqueued);
  return lost();
}
CUresult wait_for_all() {
  const Lock lock(driver_mutex());
  ++streams().waits;
  run_streams();
  return lost();
}
CUresult query(CUstream stream) {
  const Lock lock(driver_mutex());
  if (lost() != CUDA_SUCCESS) return lost();
  return stream_of(stream).kept.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult event_create(CUevent* event, unsigned) {
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}
CUresult event_destroy(CUevent event) {
  delete event;
  return CUDA_SUCCESS;
}
Work reaching(CUevent event) {
  return {"event", [moment = event->moment] {
            *moment = {true, std::chrono::steady_clock::now()};
            return CUDA_SUCCESS;
          }};
}
CUresult record(CUevent event, CUstream stream) {
  const Lock lock(driver_mutex());
  CUstream_st& s = stream_of(stream);
  if (s.capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  event->moment->reached = false;
  const CUresult result = enqueue_on(stream, reaching(event));
  event->stream = &s;
  event->place = s.enqueued;
  return result;
}
CUresult record_with_flags(CUevent event, CUstream stream, unsigned flags) {
  const Lock lock(driver_mutex());
  if (flags == CU_EVENT_RECORD_DEFAULT) return record(event, stream);
  if (!stream_of(stream).capturing) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_on(stream, reaching(event));
}
CUresult elapsed(float* milliseconds, CUevent begin, CUevent end) {
  const Lock lock(driver_mutex());
  if (!begin->moment->reached || !end->moment->reached) return CUDA_ERROR_NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->moment->when - begin->moment->when).count();
  return CUDA_SUCCESS;
}
CUresult wait_event(CUstream stream, CUevent event, unsigned) {
  const Lock lock(driver_mutex());
  if (event->stream == nullptr || event->stream == &stream_of(stream)) return CUDA_SUCCESS;
  return enqueue_on(stream, {"wait", [from = event->stream, place = event->place] {
                               return run_until(*from, place);
                             }});
}

CUresult begin_capture(CUstream stream, CUstreamCaptureMode) {
  const Lock lock(driver_mutex());
  if (stream_of(stream).capturing) return CUDA_ERROR_ILLEGAL_STATE;
  stream_of(stream).capturing = true;
  return CUDA_SUCCESS;
}
CUresult end_capture(CUstream stream, CUgraph* graph) {
  const Lock lock(driver_mutex());
  CUstream_st& s = stream_of(stream);
  *graph = new CUgraph_st(std::move(s.captured));
  s.captured = {};
  s.capturing = false;
  return CUDA_SUCCESS;
}
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  const Lock lock(driver_mutex());
  *status =
      stream_of(stream).capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
std::shared_ptr<const std::vector<Work>> work_of(CUgraph graph) {
  return std::make_shared<const std::vector<Work>>(graph->work);
}
CUresult instantiate(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  *exec = new CUgraphExec_st{work_of(graph)};
  return CUDA_SUCCESS;
}
CUresult graph_launch(CUgraphExec exec, CUstream stream) {
  const Lock lock(driver_mutex());
  ++streams().graphs;
  return enqueue_on(stream, {"graph", [all = exec->work] {
                               for (const Work& work : *all) {
                                 if (lost() != CUDA_SUCCESS) return lost();
                                 const CUresult r = work.run();
                                 if (r != CUDA_SUCCESS) return r;
                               }
                               return CUDA_SUCCESS;
                             }});
}
// Only what has the same form can be updated.
CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  const Lock lock(driver_mutex());
  bool same = exec->work->size() == graph->work.size();
  for (size_t i = 0; same && i < graph->work.size(); ++i)
    same = (*exec->work)[i].name == graph->work[i].name;
  info->result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR;
  if (!same) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  exec->work = work_of(graph);
  return CUDA_SUCCESS;
}
CUresult exec_destroy(CUgraphExec exec) {
  delete exec;
  return CUDA_SUCCESS;
}
CUresult graph_destroy(CUgraph graph) {
  delete graph;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult enqueue_on(CUstream stream, Work work) {
  const Lock lock(driver_mutex());
  if (lost() != CUDA_SUCCESS) return lost();
  CUstream_st& s = stream_of(stream);
  if (s.capturing) {
    s.captured.work.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  s.kept.push_back(std::move(work));
  ++s.enqueued;
  return streams().lazy ? CUDA_SUCCESS : run_until(s, s.enqueued);
}

void run_streams() {
  for (CUstream_st* s : streams().all) run_until(*s, s->enqueued);
}

bool set_lazy(bool lazy) {
  const Lock lock(driver_mutex());
  run_streams();
  return std::exchange(streams().lazy, lazy);
}

void add_counts(Counts& counts) {
  counts.graphs = streams().graphs;
  counts.waits = streams().waits;
}

void add_streams(cuda::DriverTable& table) {
  table.cuCtxSynchronize = wait_for_all;
  table.cuStreamCreate = stream_create;
  table.cuStreamSynchronize = wait_for;
  table.cuStreamQuery = query;
  table.cuStreamWaitEvent = wait_event;
  table.cuStreamBeginCapture = begin_capture;
  table.cuStreamEndCapture = end_capture;
  table.cuStreamIsCapturing = is_capturing;
  table.cuEventCreate = event_create;
  table.cuEventDestroy = event_destroy;
  table.cuEventRecord = record;
  table.cuEventRecordWithFlags = record_with_flags;
  table.cuEventElapsedTime = elapsed;
  table.cuGraphInstantiateWithFlags = instantiate;
  table.cuGraphLaunch = graph_launch;
  table.cuGraphExecUpdate = update;
  table.cuGraphExecDestroy = exec_destroy;
  table.cuGraphDestroy = graph_destroy;
}

}  // namespace spruce::cuda_emulator
