// SPDX-License-Identifier: Apache-2.0
// A program that runs on a GPU where there is one.
#include <spruce/cuda.h>
#include <spruce/spruce.h>

#include <iostream>

namespace sp = spruce;

int main() {
  sp::Device& device = sp::cuda::is_available() ? sp::cuda::device(0) : sp::cpu_device();
  const sp::Array x = sp::to_device(sp::ones({3}), device);
  std::cout << sp::sum(x + x) << "\n";
}
