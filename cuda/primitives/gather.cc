// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/gather.h"

#include <algorithm>

#include "spruce/cuda/codegen/index_windows.h"
#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {
namespace {

// Blocks take a few positions each, which a row of threads locates together before it copies the
// window, or a part of it.
Kernels make_gather(const PrepareArgs& a) {
  Kernels out;
  IndexWindows w(a.params.get<GatherParams>(), a.in[0]->shape, a.out[0]->shape);
  const int64_t bytes = size_of(a.out[0]->dtype);
  if (a.out[0]->numel() == 0) return out;
  KernelBuilder kernel("gather", a);
  const std::string x = declare_bits(kernel, of_input(0), bytes), indices = kernel.input(1),
                    y = declare_bits(kernel, of_output(0), bytes);
  const int64_t count = w.widen(bytes), window = w.window.size(), positions = w.positions.size();
  const std::string n = std::to_string(count), at = y + " + to";
  kernel.front(vector_prelude());
  kernel.value("window", window);
  kernel.value("positions", positions);
  std::string body =
      "#pragma unroll 1\n"
      "  for (sp::i64 i = sp::i64(blockIdx.x) * blockDim.y + threadIdx.y; i < positions;\n"
      "       i += sp::i64(gridDim.x) * blockDim.y) {\n";
  body += w.locate(kernel, "g", indices, "i");
  body +=
      "#pragma unroll 1\n"
      "    for (sp::i64 step = sp::i64(blockIdx.y) * blockDim.x + threadIdx.x; step < window;\n"
      "         step += sp::i64(gridDim.y) * blockDim.x) {\n"
      "    sp::i64 from = gfrom, to = gto;\n";
  body += w.inside(kernel, "g", "from", "to", "step");
  body += "    const " + std::string(bits_type(bytes)) + " nothing[" + n +
          "] = {};\n    if (gfrom >= 0) sp::move<" + n + ">(" + x + " + from, " + at +
          ");\n    else sp::store<" + n + ">(nothing, " + at + ");\n    }\n  }\n";
  int64_t across = 1;
  while (across < window && across < kThreads) across *= 2;
  const int64_t down = kThreads / across, each = 4 * across;
  const Dim3 grid{blocks_for(positions, down),
                  std::min<int64_t>(65535, (window + each - 1) / each)};
  out.steps.push_back(kernel.launch(body, grid, {across, down}));
  return out;
}

}  // namespace

extern const Twin gather_twin = {&gather_p, make_gather};

}  // namespace spruce::cuda
