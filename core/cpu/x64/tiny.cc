// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/code.h"
#include "spruce/core/cpu/x64/make.h"
#include "spruce/core/cpu/x64/tiny_emitter.h"

namespace spruce::cpu::x64 {
namespace {

class Kernel final : public TinyKernel {
 public:
  explicit Kernel(std::unique_ptr<const Code> code) : code_(std::move(code)) {
    function_ = reinterpret_cast<TinyFunction>(reinterpret_cast<uintptr_t>(code_->data()));
  }
  void run(const void* const* in, void* const* out, int64_t length) const override {
    function_(in, out, length);
  }

 private:
  std::unique_ptr<const Code> code_;
  TinyFunction function_;
};

}  // namespace

std::unique_ptr<const TinyKernel> make_tiny(const Graph& body, const TinyLoop* loop) {
  try {
    const std::optional<TinyProgram> program = lower_tiny(body, loop);
    if (!program) return nullptr;
    std::unique_ptr<const Code> code = Code::make(TinyEmitter(*program, loop).generate());
    return code == nullptr ? nullptr : std::make_unique<Kernel>(std::move(code));
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
}

}  // namespace spruce::cpu::x64
