// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/plan.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "spruce/core/graph/build.h"
#include "spruce/core/graph/donors.h"
#include "spruce/core/graph/memory_plan.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/step_run.h"

namespace spruce::internal {
namespace {

constexpr int32_t kEnd = std::numeric_limits<int32_t>::max();
// Of what a call takes if nothing is donated, for which the plain arrangement is the better one.
constexpr double kWorthDonors = 0.95;

/// A primitive that has no kernel but calls public operations: on arrays of its own.
class CallKernel final : public PreparedKernel {
 public:
  explicit CallKernel(const Primitive& p) : p_(p) {}
  void run(const KernelArgs& args) const override {
    const InterpreterScope scope(nullptr);
    std::vector<Array> in;
    for (const View& v : args.in) in.push_back(make_array(*v.aval, v.data));
    const std::vector<Array> out = bind_all(p_, in, args.params);
    for (size_t k = 0; k < out.size(); ++k) {
      if (out[k].nbytes() > 0)
        std::memcpy(args.out[k].data, mutable_data(out[k]), static_cast<size_t>(out[k].nbytes()));
    }
  }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  const Primitive& p_;
};

}  // namespace

// Values that are views of each other, or that are computed in place of each other, share a
// storage.
class Plan::Builder {
 public:
  Builder(Plan& plan, bool copy_outputs, size_t first_state)
      : plan_(plan),
        g_(plan.graph_),
        layouts_(plan.layouts_),
        copy_outputs_(copy_outputs),
        first_state_(first_state) {}

  void build() {
    make_kernels();
    make_storages();
    find_last_uses();
    choose_results();
    // An output that is computed in place takes the memory of an operand that dies: of a temporary,
    // or of an input that was donated. Whichever needs less.
    std::optional<Arrangement> plain = arranged(false), donors = arranged(true);
    const bool pays = donors && static_cast<double>(donors->bytes) <
                                    kWorthDonors * static_cast<double>(plain->bytes);
    take(std::move(pays ? *donors : *plain));
    place();
  }

 private:
  enum class Where : uint8_t { kTemporary, kInput, kConstant, kOutput };
  struct Storage {
    Where where = Where::kTemporary;
    size_t index = 0;  // of the input, constant or output
    int32_t first = -1, last = -1;
    size_t bytes = 0;
    int32_t merged = -1;  // into another storage
  };

  // Where everything stands.
  struct Arrangement {
    std::vector<Storage> storages;
    std::vector<Result> results;
    std::vector<int32_t> lifetime_of;  // by storage, of temporaries
    size_t first_workspace = 0;        // the lifetimes behind them are those of workspace
    std::vector<Alias> aliases;        // by lifetime: in the memory of an output
    std::vector<size_t> idle_outputs;  // the outputs of which it is
    MemoryPlan memory;
    size_t least = 0;
    size_t bytes = 0;  // of temporaries and results, all donors being given
  };

  size_t count() const { return g_.equations.size(); }
  // True if equation n is a step.
  bool runs(size_t n) const { return !is_view(g_.equations[n]) && layouts_.runs(n); }
  ValueId base_of_input(size_t n, size_t i) const {
    return layouts_.input_base(g_.equations[n], n, i);
  }
  // Long chains of merged storages are shortened on the way.
  int32_t root(int32_t s) {
    const auto merged = [&](int32_t i) -> int32_t& {
      return storages_[static_cast<size_t>(i)].merged;
    };
    for (; merged(s) >= 0; s = merged(s)) {
      if (merged(merged(s)) >= 0) merged(s) = merged(merged(s));
    }
    return s;
  }
  Storage& storage(ValueId v) { return storages_[static_cast<size_t>(root(of_[at(v)]))]; }
  int32_t root_of_input(size_t n, size_t i) { return root(of_[at(base_of_input(n, i))]); }

  void make_kernels() {
    kernels_.resize(count());
    for (size_t n = 0; n < count(); ++n) {
      const Equation& e = g_.equations[n];
      const Primitive& p = *e.primitive;
      if (!runs(n)) continue;
      if (p.prepare != nullptr) {
        kernels_[n] = p.prepare({types_of(g_, e.inputs), types_of(g_, e.outputs), e.params,
                                 layouts_.input_strides(n), layouts_.output_strides(e)});
      }
      if (kernels_[n] == nullptr && p.cpu == nullptr) {
        if (p.call == nullptr)
          throw GraphError("jit: " + std::string(p.name) +
                           " has no kernel for the CPU; it only works under the transform that "
                           "gives it a meaning");
        kernels_[n] = std::make_shared<const CallKernel>(p);
      }
    }
  }

  int32_t new_storage(Where where, size_t index, size_t bytes, int32_t first) {
    storages_.push_back({where, index, first, first, bytes, -1});
    return static_cast<int32_t>(storages_.size()) - 1;
  }
  size_t bytes_of(ValueId v) const { return static_cast<size_t>(g_.avals[at(v)].bytes()); }

  void make_storages() {
    of_.assign(g_.avals.size(), -1);
    for (size_t i = 0; i < g_.inputs.size(); ++i)
      of_[at(g_.inputs[i])] = new_storage(Where::kInput, i, bytes_of(g_.inputs[i]), -1);
    for (size_t i = 0; i < g_.constants.size(); ++i) {
      const ValueId v = g_.constants[i].id;
      of_[at(v)] = new_storage(Where::kConstant, i, bytes_of(v), -1);
    }
    for (size_t n = 0; n < count(); ++n) {
      const Equation& e = g_.equations[n];
      if (!layouts_.runs(n)) continue;
      for (const ValueId v : e.outputs) {
        if (is_view(e)) {
          of_[at(v)] = of_[at(e.inputs[0])];
          continue;
        }
        const rules::StridedPlace* p = layouts_.result(v);
        const ValueId base = p != nullptr ? p->base : v;
        int32_t& s = of_[at(base)];
        if (s < 0) s = new_storage(Where::kTemporary, 0, bytes_of(base), static_cast<int32_t>(n));
        of_[at(v)] = s;
      }
    }
  }

  void find_last_uses() {
    for (size_t n = 0; n < count(); ++n) {
      if (!layouts_.runs(n)) continue;
      for (size_t i = 0; i < g_.equations[n].inputs.size(); ++i)
        storage(base_of_input(n, i)).last = static_cast<int32_t>(n);
    }
  }

  void choose_results() {
    for (size_t k = 0; k < g_.outputs.size(); ++k) {
      Storage& s = storage(g_.outputs[k]);
      Result r;
      if (s.where == Where::kInput)
        r = {Result::From::kInput, s.index, -1};
      else if (s.where == Where::kConstant)
        r = {Result::From::kConstant, s.index, -1};
      else if (s.where == Where::kOutput)
        r = {Result::From::kOutput, s.index, -1};
      if (r.from != Result::From::kOwn && copy_outputs_) {
        copies_.push_back(k);
        r = {};
      } else if (s.where == Where::kTemporary) {
        s.where = Where::kOutput;
        s.index = k;
      }
      s.last = kEnd;
      plan_.results_.push_back(r);
    }
  }

  // None where no donor can come first, so that nothing would be different.
  std::optional<Arrangement> arranged(bool donors_first) {
    const std::vector<Storage> storages = storages_;
    const std::vector<Result> results = plan_.results_;
    Donors donors(
        g_, first_state_, [this](size_t n, size_t i) { return graph_input_at(n, i); },
        [this](size_t n, size_t i, size_t k) { return in_place(n, i, k); });
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      if (storage(g_.inputs[i]).last == kEnd) donors.keep(i);
    }
    if (donors_first && !donors.give_in_place(own_results())) return std::nullopt;
    share_in_place(donors);
    const std::vector<OwnResult> own = own_results();
    donors.give_in_place(own);
    donors.give_dead(own);
    for (size_t k = 0; k < plan_.results_.size(); ++k) {
      plan_.results_[k].donor = donors.donor(k);
      plan_.results_[k].other_donors = donors.others(k);
    }
    Arrangement a = arrangement();
    a.storages = std::exchange(storages_, storages);
    a.results = std::exchange(plan_.results_, results);
    return a;
  }

  void take(Arrangement a) {
    storages_ = std::move(a.storages);
    plan_.results_ = std::move(a.results);
    arrangement_ = std::move(a);
  }

  int64_t graph_input_at(size_t n, size_t i) {
    if (!layouts_.runs(n)) return -1;
    const Storage& s = storage(base_of_input(n, i));
    return s.where == Where::kInput ? static_cast<int64_t>(s.index) : -1;
  }

  // True if output k of equation n may be written over its operand i.
  bool in_place(size_t n, size_t i, size_t k) const {
    const Equation& e = g_.equations[n];
    const Aval &in = g_.avals[at(e.inputs[i])], &out = g_.avals[at(e.outputs[k])];
    if (in.bytes() != out.bytes() || layouts_.input(n, i) != nullptr ||
        layouts_.result(e.outputs[k]) != nullptr)
      return false;
    return kernels_[n] != nullptr ? kernels_[n]->in_place(i, k)
                                  : e.primitive->in_place && in.shape == out.shape;
  }

  // The temporaries that equation n reads last and none of its outputs stand in, by the operands
  // that do.
  std::map<int32_t, std::vector<size_t>> dying_temporaries(size_t n) {
    const Equation& e = g_.equations[n];
    std::map<int32_t, std::vector<size_t>> out;
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      const int32_t s = root_of_input(n, i);
      const Storage& t = storages_[static_cast<size_t>(s)];
      if (t.where == Where::kTemporary && t.last == static_cast<int32_t>(n)) out[s].push_back(i);
    }
    if (out.empty()) return out;
    for (const ValueId v : e.outputs) out.erase(root(of_[at(v)]));
    return out;
  }

  // Outputs without a donor are computed in place of temporaries that die.
  void share_in_place(const Donors& donors) {
    for (size_t n = 0; n < count(); ++n) {
      if (!runs(n)) continue;
      std::map<int32_t, std::vector<size_t>> dying = dying_temporaries(n);
      const std::vector<ValueId>& outputs = g_.equations[n].outputs;
      for (size_t k = 0; k < outputs.size() && !dying.empty(); ++k) {
        const int32_t own = of_[at(outputs[k])];
        Storage& s = storages_[static_cast<size_t>(own)];
        if (s.bytes == 0 || (s.where == Where::kOutput && donors.donor(s.index) >= 0)) continue;
        const auto fits = [&](size_t i) { return in_place(n, i, k); };
        const auto found = std::find_if(dying.begin(), dying.end(), [&](const auto& t) {
          return bytes_of(g_.equations[n].inputs[t.second[0]]) == s.bytes &&
                 std::all_of(t.second.begin(), t.second.end(), fits);
        });
        if (found == dying.end()) continue;
        Storage& t = storages_[static_cast<size_t>(found->first)];
        s.first = t.first;
        s.last = std::max(s.last, t.last);
        t.merged = own;
        dying.erase(found);
      }
    }
  }

  std::vector<OwnResult> own_results() {
    std::vector<int64_t> writer(storages_.size(), -1);  // output of that step
    for (size_t n = 0; n < count(); ++n) {
      if (!layouts_.runs(n)) continue;
      const std::vector<ValueId>& outputs = g_.equations[n].outputs;
      for (size_t k = outputs.size(); k-- > 0;) {
        const auto s = static_cast<size_t>(root(of_[at(outputs[k])]));
        if (storages_[s].first == static_cast<int32_t>(n)) writer[s] = static_cast<int64_t>(k);
      }
    }
    std::vector<OwnResult> out;
    for (size_t k = 0; k < g_.outputs.size(); ++k) {
      const auto s = static_cast<size_t>(root(of_[at(g_.outputs[k])]));
      const Storage& t = storages_[s];
      if (plan_.results_[k].from == Result::From::kOwn && t.where == Where::kOutput &&
          t.index == k && t.bytes > 0 && t.first >= 0)
        out.push_back({k, static_cast<int64_t>(t.bytes), t.first, writer[s]});
    }
    return out;
  }

  // Places for the storages as they are now.
  Arrangement arrangement() {
    Arrangement a;
    std::vector<Lifetime> lifetimes;
    std::vector<IdleInterval> intervals;
    a.lifetime_of.assign(storages_.size(), -1);
    for (size_t s = 0; s < storages_.size(); ++s) {
      const Storage& t = storages_[s];
      if (t.merged >= 0 || t.bytes == 0) continue;
      if (t.where == Where::kTemporary) {
        a.lifetime_of[s] = static_cast<int32_t>(lifetimes.size());
        lifetimes.push_back({t.first, t.last, t.bytes});
      } else if (t.where == Where::kOutput && t.first > 0 && !copy_outputs_) {
        // Until it is written, the memory of a result has room, unless the donor still needs it.
        const int64_t donor = plan_.results_[t.index].donor;
        const int32_t last = donor < 0 ? -1 : storage(g_.inputs[static_cast<size_t>(donor)]).last;
        intervals.push_back({last + 1, t.first - 1, t.bytes});
        a.idle_outputs.push_back(t.index);
      }
    }
    a.first_workspace = lifetimes.size();
    for (size_t n = 0; n < count(); ++n) {
      const size_t bytes = kernels_[n] != nullptr ? kernels_[n]->workspace_bytes() : 0;
      const auto step = static_cast<int32_t>(n);
      if (runs(n)) lifetimes.push_back({step, step, bytes});
    }
    a.aliases = alias_idle_memory(lifetimes, a.first_workspace, intervals);
    a.memory = plan_memory(lifetimes);
    a.least = least_memory(lifetimes);
    a.bytes = a.memory.bytes;
    for (const Result& r : plan_.results_) {
      const auto k = static_cast<size_t>(&r - plan_.results_.data());
      if (r.from == Result::From::kOwn && r.donor < 0) a.bytes += bytes_of(g_.outputs[k]);
    }
    return a;
  }

  // A view of v, at `in` unless it has memory of its own.
  void add_view(ValueId v, const rules::StridedPlace* in = nullptr) {
    const ValueId base = in != nullptr ? in->base : v;
    const Storage& s = storage(base);
    const auto index = static_cast<uint32_t>(plan_.views_.size());
    size_t begin = 0;
    plan_.views_.push_back({nullptr, &g_.avals[at(v)]});
    if (in != nullptr) {
      begin = static_cast<size_t>(in->offset * size_of(g_.avals[at(v)].dtype));
      if (!in->dense) plan_.views_.back().strides = &in->strides;
    }
    switch (s.where) {
      case Where::kTemporary: {
        const int32_t lifetime = arrangement_.lifetime_of[static_cast<size_t>(root(of_[at(base)]))];
        const Alias alias =
            lifetime < 0 ? Alias{} : arrangement_.aliases[static_cast<size_t>(lifetime)];
        if (alias.interval >= 0) {
          const size_t k = arrangement_.idle_outputs[static_cast<size_t>(alias.interval)];
          plan_.output_patches_.push_back({index, static_cast<uint32_t>(k), alias.offset + begin});
          break;
        }
        plan_.moving_.push_back(index);
        plan_.offsets_.push_back(
            begin +
            (lifetime < 0 ? 0 : arrangement_.memory.offsets[static_cast<size_t>(lifetime)]));
        break;
      }
      case Where::kInput:
        plan_.input_patches_.push_back({index, static_cast<uint32_t>(s.index), begin});
        break;
      case Where::kConstant:
        plan_.views_.back().data =
            static_cast<char*>(mutable_data(g_.constants[s.index].value)) + begin;
        break;
      case Where::kOutput:
        plan_.output_patches_.push_back({index, static_cast<uint32_t>(s.index), begin});
        break;
    }
  }

  void place() {
    size_t workspace = arrangement_.first_workspace;
    for (size_t n = 0; n < count(); ++n) {
      if (!runs(n)) continue;
      const Equation& e = g_.equations[n];
      plan_.steps_.push_back(
          {e.primitive, e.params, kernels_[n], static_cast<uint32_t>(plan_.views_.size()),
           static_cast<uint32_t>(e.inputs.size()), static_cast<uint32_t>(e.outputs.size()),
           arrangement_.memory.offsets[workspace++], static_cast<int32_t>(n)});
      for (size_t i = 0; i < e.inputs.size(); ++i) add_view(e.inputs[i], layouts_.input(n, i));
      const size_t patches = plan_.output_patches_.size();
      for (const ValueId v : e.outputs) add_view(v, layouts_.result(v));
      if (plan_.output_patches_.size() == patches && plan_.untouched_ + 1 == plan_.steps_.size())
        ++plan_.untouched_;
    }
    for (const size_t k : copies_) {
      plan_.steps_.push_back(
          {&copy_p, {}, nullptr, static_cast<uint32_t>(plan_.views_.size()), 1, 1, 0, -1});
      add_view(g_.outputs[k]);
      plan_.output_patches_.push_back(
          {static_cast<uint32_t>(plan_.views_.size()), static_cast<uint32_t>(k), 0});
      plan_.views_.push_back({nullptr, &g_.avals[at(g_.outputs[k])]});
    }
    plan_.temporaries_ = arrangement_.memory.bytes;
    plan_.least_ = arrangement_.least;
    plan_.table_ = (plan_.temporaries_ + 63) / 64 * 64;
  }

  Plan& plan_;
  const Graph& g_;
  const rules::Layouts& layouts_;
  const bool copy_outputs_;
  const size_t first_state_;
  std::vector<std::shared_ptr<const PreparedKernel>> kernels_;
  std::vector<Storage> storages_;
  std::vector<int32_t> of_;     // the storage of each value
  std::vector<size_t> copies_;  // outputs that are copied at the end
  Arrangement arrangement_;
};

Plan::Plan(Graph graph, bool copy_outputs, size_t first_state)
    : graph_(std::move(graph)), layouts_(graph_) {
  Builder(*this, copy_outputs, first_state).build();
}

void Plan::bind(void* workspace) const {
  auto* base = static_cast<char*>(workspace);
  auto* views = reinterpret_cast<View*>(base + table_);
  std::copy(views_.begin(), views_.end(), views);
  for (size_t i = 0; i < moving_.size(); ++i) views[moving_[i]].data = base + offsets_[i];
}

void Plan::run(void* workspace, const void* const* in, void* const* out, bool* touches) const {
  auto* base = static_cast<char*>(workspace);
  auto* views = reinterpret_cast<View*>(base + table_);
  for (const Patch& p : input_patches_)
    views[p.view].data = static_cast<char*>(const_cast<void*>(in[p.index])) + p.offset;
  for (const Patch& p : output_patches_)
    views[p.view].data = static_cast<char*>(out[p.index]) + p.offset;
  const auto run_step = [&](const Step& s) {
    if (touches != nullptr && &s == &steps_[untouched_]) *touches = true;
    const View* first = views + s.first_view;
    const KernelArgs args{
        {first, s.inputs}, {first + s.inputs, s.outputs}, s.params, base + s.workspace};
    if (s.kernel != nullptr)
      s.kernel->run(args);
    else
      s.primitive->cpu(args);
  };
  if (profile_step.load(std::memory_order_relaxed) != nullptr) {
    for (const Step& s : steps_) {
      StepRun timed{&s, &graph_, s.equation, s.primitive->name, StepRun::Clock::now(), {}};
      {
        const WithinStep within;
        run_step(s);
      }
      timed.end = StepRun::Clock::now();
      add_to_profile(timed);
    }
    return;
  }
  for (const Step& s : steps_) run_step(s);
}

}  // namespace spruce::internal
