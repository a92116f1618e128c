// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/fused_kernel.h"

#include <algorithm>

#include "spruce/core/cpu/fusion/nest.h"
#include "spruce/core/cpu/fusion/plain_kernel.h"
#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/fusion/tiny.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// Loop nests one after the other; what passes between them stands in the workspace.
class LoopNests final : public PreparedKernel {
 public:
  LoopNests(GraphPtr body, const fusion::Schedule& schedule);
  void run(const KernelArgs& args) const override;
  size_t workspace_bytes() const override { return workspace_ + shared_ + thread_; }
  bool in_place(size_t in, size_t out) const override {
    return in_place_[in * body_->outputs.size() + out];
  }

 private:
  // An output that has no memory of its own: copied, or repeated along axes, at the end.
  struct Copy {
    Storage from;
    Shape sizes, strides, to_strides;
    size_t out;
    int64_t bytes;
  };

  void choose_homes(const fusion::Schedule& s);
  Copy copy_of(const fusion::Schedule& s, size_t k) const;
  Storage in_workspace(int64_t bytes) {
    const Storage storage{Storage::Kind::kWorkspace, workspace_, nullptr};
    workspace_ += workspace_size(static_cast<size_t>(bytes));
    return storage;
  }
  void choose_in_place(const fusion::Schedule& s);

  GraphPtr body_;
  std::vector<Storage> storages_;
  std::vector<Array> constants_;                // where the host can read them
  std::vector<std::unique_ptr<char[]>> iotas_;  // elements of iota along its axis
  std::vector<Nest> nests_;
  std::vector<Copy> copies_;
  std::vector<bool> in_place_;
  size_t workspace_ = 0, shared_ = 0, thread_ = 0;
};

LoopNests::LoopNests(GraphPtr body, const fusion::Schedule& s) : body_(std::move(body)) {
  choose_homes(s);
  for (size_t p = 0; p < s.phases.size(); ++p) {
    nests_.emplace_back(NestSource{*body_, s, storages_}, static_cast<int>(p));
    shared_ = std::max(shared_, workspace_size(nests_.back().shared_bytes()));
    thread_ = std::max(thread_, workspace_size(nests_.back().thread_bytes()));
  }
  choose_in_place(s);
}

void LoopNests::choose_homes(const fusion::Schedule& s) {
  const Graph& g = *body_;
  storages_.resize(g.avals.size());
  const auto storage = [&](ValueId v) -> Storage& { return storages_[static_cast<size_t>(v)]; };
  const auto aval = [&](ValueId v) -> const Aval& { return g.avals[static_cast<size_t>(v)]; };
  for (size_t i = 0; i < g.inputs.size(); ++i)
    storage(g.inputs[i]) = {Storage::Kind::kInput, i, nullptr};
  for (const Graph::Constant& c : g.constants) {
    constants_.push_back(spruce::internal::on_host(c.value));
    storage(c.id) = {Storage::Kind::kConstant, 0,
                     spruce::internal::mutable_data(constants_.back())};
  }
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const Equation& e = g.equations[n];
    if (e.primitive != &iota_p) continue;
    const auto& p = e.params.get<IotaParams>();
    const Aval line{p.dtype, false, Shape{p.shape[static_cast<int>(p.axis)]}};
    iotas_.emplace_back(new char[static_cast<size_t>(line.bytes())]);
    const View out{iotas_.back().get(), &line};
    iota_p.cpu({{}, {&out, 1}, Params::make(IotaParams{line.shape, p.dtype, 0})});
    storage(e.outputs[0]) = {Storage::Kind::kConstant, 0, out.data};
  }
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    Storage& whole = storage(g.outputs[k]);  // of a concatenation
    if (whole.kind == Storage::Kind::kNone && s.space.has_parts(g.outputs[k]))
      whole = {Storage::Kind::kOutput, k, nullptr};
  }
  for (const auto& [v, part] : s.space.parts) {
    storage(v) = storage(part.of);
    storage(v).offset = part.offset * size_of(aval(v).dtype);
  }
  for (const auto& [v, pieces] : s.space.pieces) storage(v).kind = Storage::Kind::kPieces;
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const ValueId r = s.root_of(g.outputs[k]);
    const bool whole = s.depends(r) == s.space.shape[static_cast<size_t>(g.outputs[k])] &&
                       s.phase_of_value(r) >= 0;
    if (whole && storage(r).kind == Storage::Kind::kNone)
      storage(r) = {Storage::Kind::kOutput, k, nullptr};
  }
  const auto keep = [&](ValueId r) {
    if (storage(r).kind == Storage::Kind::kNone)
      storage(r) = in_workspace(s.space.numel(s.depends(r)) * size_of(aval(r).dtype));
  };
  for (size_t n = 0; n < g.equations.size(); ++n) {
    if (s.phase_of[n] < 0) continue;
    if (s.cross_block[n]) keep(g.equations[n].outputs[0]);
    for (const ValueId x : g.equations[n].inputs) {
      const ValueId r = s.root_of(x);
      if (s.phase_of_value(r) >= 0 && s.phase_of_value(r) != s.phase_of[n]) keep(r);
    }
  }
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const ValueId r = s.root_of(g.outputs[k]);
    if (s.phase_of_value(r) >= 0) keep(r);
    if (storage(r).kind != Storage::Kind::kOutput || storage(r).at != k)
      copies_.push_back(copy_of(s, k));
  }
}

LoopNests::Copy LoopNests::copy_of(const fusion::Schedule& s, size_t k) const {
  const ValueId y = body_->outputs[k], r = s.root_of(y);
  Copy c;
  c.from = storages_[static_cast<size_t>(r)];
  c.out = k;
  c.bytes = size_of(body_->avals[static_cast<size_t>(y)].dtype);
  const fusion::AxisSet shape = s.space.shape[static_cast<size_t>(y)];
  for (size_t i = 0; i < s.space.sizes.size(); ++i) {
    if ((shape >> i & 1) == 0) continue;
    c.sizes.push_back(s.space.sizes[i]);
    c.strides.push_back(s.space.stride(r, static_cast<int>(i)));
  }
  c.to_strides = row_major_strides(c.sizes);
  return c;
}

// An input whose memory an output may take: of the same extent, no slice of it read, and read for
// the last time before the output's element at the same place is written.
void LoopNests::choose_in_place(const fusion::Schedule& s) {
  const Graph& g = *body_;
  in_place_.assign(g.inputs.size() * g.outputs.size(), false);
  if (!copies_.empty()) return;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (s.space.has_parts(g.inputs[i]) || s.space.whole[static_cast<size_t>(g.inputs[i])]) continue;
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      const ValueId x = g.inputs[i], y = s.root_of(g.outputs[k]);
      const int producer = s.producer[static_cast<size_t>(y)];
      if (s.phase_of_value(y) < 0) continue;
      if (s.depends(x) != s.depends(y) || s.cross_block[static_cast<size_t>(producer)] ||
          size_of(g.avals[static_cast<size_t>(x)].dtype) !=
              size_of(g.avals[static_cast<size_t>(y)].dtype))
        continue;
      const auto at = static_cast<size_t>(s.phase_of_value(y));
      bool free = nests_[at].last_read(i) <= nests_[at].first_write(k);
      for (size_t p = at + 1; p < nests_.size(); ++p) free = free && nests_[p].last_read(i) < 0;
      in_place_[i * g.outputs.size() + k] = free;
    }
  }
}

void LoopNests::run(const KernelArgs& args) const {
  char* workspace = static_cast<char*>(args.workspace);
  const NestMemory memory{args.in, args.out, workspace};
  for (const Nest& nest : nests_)
    nest.run(memory, workspace + workspace_, workspace + workspace_ + shared_);
  for (const Copy& c : copies_) {
    const void* from = c.from.kind == Storage::Kind::kInput       ? args.in[c.from.at].data
                       : c.from.kind == Storage::Kind::kOutput    ? args.out[c.from.at].data
                       : c.from.kind == Storage::Kind::kWorkspace ? workspace + c.from.at
                                                                  : c.from.data;
    copy_strided(c.sizes, {args.out[c.out].data, c.to_strides},
                 {static_cast<char*>(const_cast<void*>(from)) + c.from.offset, c.strides}, c.bytes);
  }
}

}  // namespace

std::unique_ptr<const PreparedKernel> fused_kernel(const GroupParams& group) {
  if (group.unrolled) {
    if (auto kernel = fusion::make_tiny(*group.body)) return kernel;
    return plain_kernel(group.body);
  }
  const std::optional<fusion::Schedule> schedule = fusion::schedule_of(*group.body);
  if (!schedule) return plain_kernel(group.body);
  return std::make_unique<const LoopNests>(group.body, *schedule);
}

}  // namespace spruce::cpu
