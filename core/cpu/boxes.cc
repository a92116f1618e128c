// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/boxes.h"

#include "spruce/core/cpu/repeat.h"
#include "spruce/core/cpu/runs.h"

namespace spruce::cpu {

void spread_boxes(const void* from, BoxSteps steps, Box box, int64_t element_bytes, int64_t count,
                  void* to) {
  if (count == 0) return;
  char* const t = static_cast<char*>(to);
  const char* const f = static_cast<const char*>(from);
  const int64_t bytes = element_bytes, different = steps.box == 0 ? 1 : count;
  if (steps.element == 1) {
    for (int64_t r = 0; r < box.rows; ++r)
      copy_runs(t + r * box.row * bytes, box.size() * bytes, f + r * steps.row * bytes,
                steps.box * bytes, box.row * bytes, different);
  } else if (steps.row == 0) {
    repeat_loop(bytes)(f, steps.box, different, box.size(), t);
  } else if (different == 1 || steps.box == box.rows * steps.row) {
    repeat_loop(bytes)(f, steps.row, different * box.rows, box.row, t);
  } else {
    for (int64_t b = 0; b < different; ++b)
      repeat_loop(bytes)(f + b * steps.box * bytes, steps.row, box.rows, box.row,
                         t + b * box.size() * bytes);
  }
  if (different < count) repeat_row(t, box.size() * bytes, count, t);
}

}  // namespace spruce::cpu
