// SPDX-License-Identifier: Apache-2.0
// What the examples that learn a text share.
#pragma once

#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdint>
#include <span>
#include <vector>

/// Shuffled batches i32[batch, size], without end, of windows of ids i32[n] that lie in from..to.
inline auto windows_of(const spruce::Array& ids, int64_t from, int64_t to, int64_t size,
                       int64_t batch) {
  const auto load = [=](std::span<const int64_t> starts) {
    std::vector<spruce::Array> rows;
    for (const int64_t s : starts) rows.push_back(ids[spruce::slice(from + s, from + s + size)]);
    return spruce::data::stack_examples(rows);
  };
  return spruce::data::batches_by(
      load, spruce::data::shuffled(to - from - size + 1, spruce::Key(3)),
      {.batch_size = batch, .rest = spruce::data::Rest::kDrop, .epochs = 0, .prefetch = 2});
}

/// Nats per character of a model that only knows how often each of `count` characters occurs.
inline double nats_without_context(const spruce::Array& ids, int64_t count) {
  const spruce::Array share =
      spruce::bincount(ids, count).astype(spruce::float64) / static_cast<double>(ids.size());
  return -spruce::sum(share * spruce::log(spruce::maximum(share, 1e-9))).item<double>();
}
