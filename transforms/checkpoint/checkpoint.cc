// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/checkpoint/checkpoint.h"

#include "spruce/transforms/checkpoint/side_results.h"
#include "spruce/transforms/rules/checkpoint_rules.h"

namespace spruce {

Array checkpoint_name(const Array& x, const std::string& name, Loc loc) {
  const LocScope at(loc);
  if (name.empty() || name.find(',') != std::string::npos) {
    throw ValueError("checkpoint_name: '" + name +
                     "' is no name; it must not be empty and hold no comma");
  }
  return bind1(checkpoint_name_p, {x}, Params::make(CheckpointNameParams{name}));
}

namespace internal {
namespace {

thread_local SideResults* side_results = nullptr;

// While the body runs what it notes is of its own interpreter.
class HomeScope {
 public:
  explicit HomeScope(SideResults* s)
      : side_(s), saved_(s == nullptr ? 0 : s->move_home(Interpreter::current_id())) {}
  ~HomeScope() {
    if (side_ != nullptr) side_->move_home(saved_);
  }
  HomeScope(const HomeScope&) = delete;
  HomeScope& operator=(const HomeScope&) = delete;

 private:
  SideResults* side_;
  uint64_t saved_;
};

}  // namespace

SideResults* SideResults::current() { return side_results; }
SideResultsScope::SideResultsScope(SideResults* s) : saved_(side_results) { side_results = s; }
SideResultsScope::~SideResultsScope() { side_results = saved_; }

std::vector<Array> run_checkpoint(const FlatBody& f, std::span<const Array> in,
                                  const CheckpointOptions& options) {
  SideResults* const side = SideResults::current();
  std::vector<Array> noted;
  const FlatBody body_with_side = [&](std::span<const Array> args) {
    const HomeScope within(side);
    std::vector<Array> out = f(args);
    if (side != nullptr) noted = side->noted(Interpreter::current_id());
    out.insert(out.end(), noted.begin(), noted.end());
    return out;
  };
  std::vector<Aval> types;
  for (const Array& a : in) types.push_back(a.aval());
  const Body body = stage_body("checkpoint", body_with_side, types);
  CheckpointParams params;
  params.body = std::make_shared<const Graph>(body.graph);
  params.save_matmuls = options.save_matmuls;
  for (const std::string& name : options.save_names) {
    params.save_names += (params.save_names.empty() ? "" : ",") + name;
  }
  std::vector<Array> all = body.consts;
  all.insert(all.end(), in.begin(), in.end());
  std::vector<Array> out = bind_all(checkpoint_p, all, Params::make(std::move(params)));
  if (!noted.empty()) {
    side->replace(std::span<const Array>(out).last(noted.size()));
    out.resize(out.size() - noted.size());
  }
  return out;
}

}  // namespace internal
}  // namespace spruce
