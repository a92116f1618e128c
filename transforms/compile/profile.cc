// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <numeric>
#include <ostream>

#include "spruce/core/graph/print.h"
#include "spruce/core/io/atomic_file.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/step_run.h"

namespace spruce {
namespace internal {
namespace {

constexpr size_t kMostEvents = 1000000;

using Clock = StepRun::Clock;

struct Recorder {
  std::mutex mutex;
  Clock::time_point begin;
  std::map<std::pair<const void*, int32_t>, size_t> places;  // of rows
  Profile profile;
};

Recorder& recorder() {
  static auto* const kOnly = new Recorder;  // outlives every thread that may still time a step
  return *kOnly;
}

int thread_number() {
  static std::atomic<int> threads{0};
  thread_local const int kMine = threads.fetch_add(1);
  return kMine;
}

int64_t nanoseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

void add_run(const StepRun& run) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  if (profile_step.load(std::memory_order_relaxed) == nullptr || run.begin < r.begin) return;
  const auto [it, added] = r.places.try_emplace({run.step, run.equation}, r.profile.rows.size());
  if (added) {
    Profile::Row row;
    if (run.equation < 0) {
      row.equation = run.name;
    } else {
      const Equation& e = run.graph->equations[static_cast<size_t>(run.equation)];
      row.equation = equation_summary(*run.graph, e);
      row.place = e.place;
    }
    row.nested = WithinStep::any();
    r.profile.rows.push_back(std::move(row));
  }
  Profile::Row& row = r.profile.rows[it->second];
  const int64_t duration = nanoseconds(run.end - run.begin);
  ++row.calls;
  row.seconds += static_cast<double>(duration) * 1e-9;
  if (r.profile.events.size() < kMostEvents) {
    r.profile.events.push_back(
        {it->second, nanoseconds(run.begin - r.begin), duration, thread_number()});
  }
}

}  // namespace

void begin_profile() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  if (profile_step.load(std::memory_order_relaxed) != nullptr)
    throw ValueError("profile: one is being taken already; take one at a time");
  r.profile = {};
  r.places.clear();
  r.begin = Clock::now();
  profile_step.store(add_run, std::memory_order_relaxed);
}

Profile end_profile() noexcept {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  profile_step.store(nullptr, std::memory_order_relaxed);
  Profile p = std::move(r.profile);
  r.profile = {};
  p.seconds = static_cast<double>(nanoseconds(Clock::now() - r.begin)) * 1e-9;
  std::vector<size_t> order(p.rows.size()), place(p.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p.rows[a].seconds > p.rows[b].seconds; });
  std::vector<Profile::Row> rows;
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    rows.push_back(std::move(p.rows[order[i]]));
  }
  p.rows = std::move(rows);
  for (Profile::Event& e : p.events) e.row = place[e.row];
  return p;
}

}  // namespace internal

namespace {

std::string json(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      s += '\\';
      s += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      s += ' ';
    } else {
      s += c;
    }
  }
  return s + '"';
}

// "dot_general" of "c: f32[64,10] = dot_general a b"
std::string primitive_of(const std::string& equation) {
  const size_t equals = equation.find(" = ");
  if (equals == std::string::npos) return equation;
  return equation.substr(equals + 3, equation.find(' ', equals + 3) - equals - 3);
}

}  // namespace

std::string Profile::text(size_t most) const {
  std::string s = "      ms   part    calls\n";
  for (size_t i = 0; i < rows.size() && i < most; ++i) {
    const Row& r = rows[i];
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%8.3f %5.1f%% %8lld  ", r.seconds * 1e3,
                  seconds > 0 ? 100 * r.seconds / seconds : 0, static_cast<long long>(r.calls));
    s += numbers + std::string(r.nested ? "  " : "") + r.equation +
         (r.place.empty() ? "" : "  at " + r.place) + "\n";
  }
  if (rows.size() > most) s += "and " + std::to_string(rows.size() - most) + " others\n";
  char total[64];
  std::snprintf(total, sizeof total, "%8.3f in all\n", seconds * 1e3);
  return s + total;
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  return out << profile.text();
}

std::string Profile::trace() const {
  std::string s = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    const Row& r = rows[e.row];
    char numbers[128];
    std::snprintf(numbers, sizeof numbers,
                  "\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,", e.thread,
                  static_cast<double>(e.begin) * 1e-3, static_cast<double>(e.duration) * 1e-3);
    s += "{\"name\":" + json(primitive_of(r.equation)) + ",\"cat\":\"spruce\"," + numbers +
         "\"args\":{\"equation\":" + json(r.equation) + ",\"at\":" + json(r.place) + "}}" +
         (i + 1 < events.size() ? ",\n" : "\n");
  }
  return s + "]}\n";
}

void Profile::save_trace(const std::string& path, Loc loc) const {
  const OpScope at("save_trace", loc);
  io::internal::AtomicFile file("save_trace", path);
  file.write(trace());
  file.commit();
}

}  // namespace spruce
