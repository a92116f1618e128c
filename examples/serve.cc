// SPDX-License-Identifier: Apache-2.0
// Reads digits by a function that three_ways saved: this program knows neither the network nor how
// it was trained.
//
//   three_ways --out digits.fn && serve --function digits.fn
//
// Exits 0 if nearly all of the digits are read.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
using sp::Array;

int main(int argc, char** argv) {
  const std::string path = text_argument(argc, argv, "--function", "digits.fn");
  const auto probabilities = sp::load_function<Array(Array)>(path);
  const Array table =
      sp::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false}).matrix();
  const int64_t batch = 179;  // as many as the function was saved for
  const Array x = table[{sp::slice(batch), sp::slice(64)}] / 16.0f;
  const Array p = probabilities(x), found = sp::argmax(p, -1), sure = sp::max(p, -1);
  for (int64_t i = 0; i < 5; ++i)
    std::printf("a %d (%.3f)\n", found[i].item<int32_t>(), sure[i].item<float>());
  const Array truth = table[{sp::slice(batch), 64}].astype(sp::int32);
  const float right = sp::mean((found == truth).astype(sp::float32)).item<float>();
  std::printf("right %.3f\n", right);
  return right > 0.9f ? 0 : 1;
}
