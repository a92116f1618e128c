// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/with_workspace.h"

#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

class WithWorkspace final : public PreparedKernel {
 public:
  WithWorkspace(void (*kernel)(const KernelArgs&), size_t bytes, bool in_place = false)
      : kernel_(kernel), bytes_(bytes), in_place_(in_place) {}
  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, bytes_);
    kernel_(args);
  }
  size_t workspace_bytes() const override { return bytes_; }
  bool in_place(size_t, size_t) const override { return in_place_; }

 private:
  void (*kernel_)(const KernelArgs&);
  size_t bytes_;
  bool in_place_;
};

}  // namespace

std::unique_ptr<const PreparedKernel> with_workspace_in_place(void (*kernel)(const KernelArgs&),
                                                              size_t bytes) {
  if (bytes == 0) return nullptr;
  return std::make_unique<const WithWorkspace>(kernel, bytes, true);
}

std::unique_ptr<const PreparedKernel> with_workspace(void (*kernel)(const KernelArgs&),
                                                     size_t bytes) {
  if (bytes == 0) return nullptr;
  return std::make_unique<const WithWorkspace>(kernel, bytes);
}

}  // namespace spruce::cpu
