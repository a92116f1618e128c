// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/elementwise/loops.h"

namespace spruce::cpu {
namespace internal {

thread_local ElementLoop* loop_recorder = nullptr;

}  // namespace internal

namespace {

class Recording {
 public:
  explicit Recording(ElementLoop* r) { internal::loop_recorder = r; }
  ~Recording() { internal::loop_recorder = nullptr; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

}  // namespace

ElementLoop element_loop(const Primitive& p, std::span<const Dtype> in, Dtype out,
                         const Params& params) {
  // Over no elements, a kernel that is no such loop has nothing to do.
  std::vector<Aval> avals;
  for (const Dtype d : in) avals.push_back({d, false, Shape{0}});
  const Aval result{out, false, Shape{0}};
  int64_t none = 0;
  std::vector<View> views;
  for (const Aval& a : avals) views.push_back({&none, &a});
  const View to{&none, &result};
  ElementLoop recorded;
  const Recording recording(&recorded);
  p.cpu({views, {&to, 1}, params});
  return recorded;
}

}  // namespace spruce::cpu
