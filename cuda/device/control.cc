// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/control.h"

#include <algorithm>
#include <span>

#include "spruce/core/block_layout.h"
#include "spruce/core/carry_places.h"
#include "spruce/core/rules/control_flow.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/device/program.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

using internal::BlockLayout, internal::CarryPlaces;

constexpr size_t kAlignment = 256;  // of the pieces of a workspace

int64_t bytes_of(const Graph& g, ValueId v) { return g.avals[internal::at(v)].bytes(); }

// A body whose first outputs are what some of its inputs are in the next step: where each step
// reads and writes them.
class Body {
 public:
  Body(const Graph& body, size_t consts, size_t carry, CudaDevice& device, BlockLayout& layout)
      : program_(body, device, consts),
        consts_(consts),
        block_(layout.add(program_.arena_bytes())) {
    for (size_t i = 0; i < carry; ++i) {
      const bool in_place = program_.donor(i) == static_cast<int64_t>(consts + i);
      const auto bytes =
          static_cast<size_t>(bytes_of(program_.graph(), program_.graph().outputs[i]));
      carry_.add(in_place, bytes, layout);
    }
  }
  const Program& program() const { return program_; }
  bool in_place(size_t i) const { return carry_.in_place(i); }
  int64_t input_bytes(size_t i) const {
    return bytes_of(program_.graph(), program_.graph().inputs[i]);
  }
  int64_t output_bytes(size_t k) const {
    return bytes_of(program_.graph(), program_.graph().outputs[k]);
  }

  // Addresses of inputs, outputs and block; those of the carry come with each step.
  std::vector<void*> addresses(void* workspace) const {
    const Graph& g = program_.graph();
    std::vector<void*> out(g.inputs.size() + g.outputs.size() + 1);
    out.back() = static_cast<char*>(workspace) + block_;
    return out;
  }
  void*& input(std::span<void*> addresses, size_t i) const { return addresses[i]; }
  void*& output(std::span<void*> addresses, size_t k) const {
    return addresses[program_.graph().inputs.size() + k];
  }
  // The first step reads `init`, others what was written before them; every second one writes to
  // `outputs`.
  void move_carry(std::span<void*> addresses, bool first, bool to_outputs,
                  std::span<void* const> init, std::span<void* const> outputs,
                  void* workspace) const {
    carry_.move(
        addresses.data() + consts_, &output(addresses, 0), first, to_outputs,
        [&](size_t i) { return init[i]; }, [&](size_t i) { return outputs[i]; }, workspace);
  }

 private:
  Program program_;
  size_t consts_, block_;
  CarryPlaces carry_;
};

class Scan final : public Control {
 public:
  Scan(const ScanParams& p, CudaDevice& device)
      : length_(p.length),
        consts_(static_cast<size_t>(p.consts)),
        carry_(static_cast<size_t>(p.carry)),
        reverse_(p.reverse),
        body_(*p.body, consts_, carry_, device, layout_) {}

  size_t workspace_bytes() const override { return layout_.bytes(); }
  std::vector<InPlace> in_place() const override {
    std::vector<InPlace> out;
    for (size_t i = 0; i < carry_; ++i) {
      if (body_.in_place(i)) out.push_back({consts_ + i, i});
    }
    return out;
  }
  bool needs_host() const override { return body_.program().needs_host(); }
  int64_t launches() const override {
    const int64_t most = INT64_MAX / std::max<int64_t>(length_, 1);
    return length_ * std::min(body_.program().launches(), most);
  }

  void enqueue(CUstream stream, const Steps::Memory& m, StepTimes* times) const override {
    const std::span<void*const> init = m.in.subspan(consts_, carry_), last = m.out.first(carry_);
    if (length_ == 0) {
      for (size_t i = 0; i < carry_; ++i)
        copy_on_device(stream, last[i], init[i], body_.output_bytes(i));
      return;
    }
    std::vector<void*> addresses = body_.addresses(m.workspace);
    for (size_t i = 0; i < consts_; ++i) body_.input(addresses, i) = m.in[i];
    for (int64_t n = 0; n < length_; ++n) {
      const int64_t step = reverse_ ? length_ - 1 - n : n;
      body_.move_carry(addresses, n == 0, (length_ - n) % 2 == 1, init, last, m.workspace);
      for (size_t i = consts_ + carry_; i < m.in.size(); ++i)
        body_.input(addresses, i) = static_cast<char*>(m.in[i]) + step * body_.input_bytes(i);
      for (size_t k = carry_; k < m.out.size(); ++k)
        body_.output(addresses, k) = static_cast<char*>(m.out[k]) + step * body_.output_bytes(k);
      body_.program().enqueue(stream, addresses, times);
    }
  }

 private:
  int64_t length_;
  size_t consts_, carry_;
  bool reverse_;
  BlockLayout layout_{kAlignment};
  Body body_;
};

class While final : public Control {
 public:
  While(const WhileParams& p, size_t inputs, CudaDevice& device)
      : device_(device),
        most_(p.max_steps),
        condition_consts_(static_cast<size_t>(p.condition_consts)),
        body_consts_(static_cast<size_t>(p.body_consts)),
        carry_(inputs - condition_consts_ - body_consts_),
        more_(layout_.add(sizeof(bool))),
        condition_(*p.condition, condition_consts_, 0, device, layout_),
        body_(*p.body, body_consts_, carry_, device, layout_) {}

  size_t workspace_bytes() const override { return layout_.bytes(); }
  bool needs_host() const override { return true; }
  int64_t launches() const override {
    return condition_.program().launches() + body_.program().launches();
  }

  void enqueue(CUstream stream, const Steps::Memory& m, StepTimes* times) const override {
    const std::span<void* const> init = m.in.subspan(condition_consts_ + body_consts_);
    std::vector<void*> ask = condition_.addresses(m.workspace), step = body_.addresses(m.workspace);
    for (size_t i = 0; i < condition_consts_; ++i) condition_.input(ask, i) = m.in[i];
    for (size_t i = 0; i < body_consts_; ++i) body_.input(step, i) = m.in[condition_consts_ + i];
    void* more = static_cast<char*>(m.workspace) + more_;
    condition_.output(ask, 0) = more;
    for (int64_t n = 0;; ++n) {
      for (size_t i = 0; i < carry_; ++i)
        condition_.input(ask, condition_consts_ + i) = n == 0 ? init[i] : body_.output(step, i);
      bool goes_on = n != most_;
      if (goes_on) {
        condition_.program().enqueue(stream, ask, times);
        device_.copy_to_host(&goes_on, more, sizeof goes_on);
      }
      if (!goes_on) {
        // Which step was the last is known only now: the carry may stand in its second place.
        for (size_t i = 0; i < carry_; ++i)
          copy_on_device(stream, m.out[i], condition_.input(ask, condition_consts_ + i),
                         body_.output_bytes(i));
        return;
      }
      body_.move_carry(step, n == 0, n % 2 == 0, init, m.out, m.workspace);
      body_.program().enqueue(stream, step, times);
    }
  }

 private:
  CudaDevice& device_;
  int64_t most_;
  size_t condition_consts_, body_consts_, carry_;
  BlockLayout layout_{kAlignment};
  size_t more_;
  Body condition_, body_;
};

class Cond final : public Control {
 public:
  Cond(const CondParams& p, CudaDevice& device) : device_(device) {
    for (const GraphPtr& g : p.branches) {
      branches_.push_back(std::make_unique<const Program>(*g, device));
      bytes_ = std::max(bytes_, branches_.back()->arena_bytes());
      launches_ = std::max(launches_, branches_.back()->launches());
    }
  }

  size_t workspace_bytes() const override { return bytes_; }  // one branch runs
  bool needs_host() const override { return true; }
  int64_t launches() const override { return launches_; }

  void enqueue(CUstream stream, const Steps::Memory& m, StepTimes* times) const override {
    int32_t index = 0;
    device_.copy_to_host(&index, m.in[0], sizeof index);
    const auto last = static_cast<int32_t>(branches_.size()) - 1;
    std::vector<void*> addresses(m.in.begin() + 1, m.in.end());
    addresses.insert(addresses.end(), m.out.begin(), m.out.end());
    addresses.push_back(m.workspace);
    branches_[static_cast<size_t>(std::clamp(index, 0, last))]->enqueue(stream, addresses, times);
  }

 private:
  CudaDevice& device_;
  std::vector<std::unique_ptr<const Program>> branches_;
  size_t bytes_ = 0;
  int64_t launches_ = 0;
};

}  // namespace

std::unique_ptr<const Control> make_control(const Equation& e, CudaDevice& device) {
  switch (e.primitive->kind) {
    case PrimitiveKind::kScan:
      return std::make_unique<const Scan>(e.params.get<ScanParams>(), device);
    case PrimitiveKind::kWhile:
      return std::make_unique<const While>(e.params.get<WhileParams>(), e.inputs.size(), device);
    case PrimitiveKind::kCond:
      return std::make_unique<const Cond>(e.params.get<CondParams>(), device);
    default:
      return nullptr;
  }
}

}  // namespace spruce::cuda
