// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "spruce/core/cpu/x64/code.h"
#include "spruce/core/cpu/x64/make.h"
#include "spruce/core/cpu/x64/tiny_emitter.h"

namespace spruce::cpu::x64 {
namespace {

class Kernel final : public PreparedKernel {
 public:
  Kernel(std::unique_ptr<const Code> code, const TinyProgram& program, const fusion::TinyLoop* loop)
      : code_(std::move(code)),
        calls_(program.program.calls),
        length_(loop == nullptr ? 1 : loop->length),
        last_load_(program.inputs.size(), loop == nullptr ? -1 : kAlways),
        first_store_(program.outputs.size(), kAlways) {
    const std::vector<Inst>& insts = program.program.insts;
    for (size_t i = insts.size(); i-- > 0;) {
      const size_t which = static_cast<size_t>(insts[i].index);
      const int now = static_cast<int>(i);
      if (insts[i].op == Op::kInput) {
        int& last = last_load_[static_cast<size_t>(program.loads[which].input)];
        last = std::max(last, now);
      } else if (insts[i].op == Op::kStore && program.stores[which].output >= 0) {
        first_store_[static_cast<size_t>(program.stores[which].output)] = now;
      }
    }
    function_ = reinterpret_cast<TinyFunction>(reinterpret_cast<uintptr_t>(code_->data()));
  }
  bool in_place(size_t input, size_t output) const override {
    return last_load_[input] < first_store_[output];
  }
  size_t workspace_bytes() const override {
    return (last_load_.size() + first_store_.size()) * sizeof(void*);
  }
  void run(const KernelArgs& a) const override {
    void** in = static_cast<void**>(a.workspace);
    void** out = in + a.in.size();
    for (size_t i = 0; i < a.in.size(); ++i) in[i] = a.in[i].data;
    for (size_t k = 0; k < a.out.size(); ++k) out[k] = a.out[k].data;
    function_(in, out, length_);
  }

 private:
  static constexpr int kAlways = std::numeric_limits<int>::max();

  std::unique_ptr<const Code> code_;
  std::vector<std::shared_ptr<const LaneCall>> calls_;  // of the code
  int64_t length_;
  std::vector<int> last_load_, first_store_;  // instructions
  TinyFunction function_;
};

}  // namespace

std::unique_ptr<const PreparedKernel> make_tiny(const Graph& body, const fusion::TinyLoop* loop) {
  try {
    const std::optional<TinyProgram> program = lower_tiny(body, loop);
    if (!program) return nullptr;
    std::unique_ptr<const Code> code = Code::make(TinyEmitter(*program, loop).generate());
    if (code == nullptr) return nullptr;
    return std::make_unique<Kernel>(std::move(code), *program, loop);
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
}

}  // namespace spruce::cpu::x64
