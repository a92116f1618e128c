// SPDX-License-Identifier: Apache-2.0
// The digits of the project as pictures, for the examples that read them.
#pragma once

#include <spruce/data.h>
#include <spruce/spruce.h>

#include <utility>

/// Pictures f32[n, 1, 8, 8] from 0 to 1, and which digit each shows, i32[n].
struct Digits {
  spruce::Array images, labels;
};

/// All digits, shuffled: nine tenths to learn from and one to be judged by.
inline std::pair<Digits, Digits> load_digits() {
  const spruce::Array table =
      spruce::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false}).matrix();
  const Digits all{
      table[{spruce::slice(), spruce::slice(64)}].reshape({-1, 1, 8, 8}).astype(spruce::float32) /
          16.0f,
      table[{spruce::slice(), 64}].astype(spruce::int32)};
  auto parts = spruce::data::split(all, {0.9, 0.1}, spruce::Key(1));
  return {std::move(parts[0]), std::move(parts[1])};
}
