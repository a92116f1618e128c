// SPDX-License-Identifier: Apache-2.0
// Event files, which TensorBoard shows.
#pragma once

#include "spruce/core/array.h"
#include "spruce/data/log/log.h"

namespace spruce::io {

/// Writes one event file, "events.out.tfevents.<seconds>.<host>.<process>.<number>", in the folder
/// of a run; `tensorboard --logdir` on the folder, or the one above it, shows it while it grows.
/// Tags with slashes are grouped: "train/loss". For one thread.
class TensorBoard {
 public:
  /// The folder is made if it is not there. Throws IoError if the file cannot be written.
  explicit TensorBoard(const std::string& folder, Loc loc = Loc::current());

  /// Adds numbers; they are kept as f32. Throws ValueError for a tag that is no UTF-8, as all that
  /// follow; IoError.
  void scalars(int64_t step, const Metrics& metrics, Loc loc = Loc::current());
  /// Adds how the elements of a floating or integer array are spread: their number, sum, sum of
  /// squares, least and largest, and counts of 30 equal ranges between those. What is not finite is
  /// left out. Throws DtypeError for bool.
  void histogram(int64_t step, const std::string& tag, const Array& values,
                 Loc loc = Loc::current());
  /// Adds a picture, u8[height, width] or u8[height, width, channels]. Throws as save_png().
  void image(int64_t step, const std::string& tag, const Array& picture, Loc loc = Loc::current());

  /// The file that is written.
  const std::string& path() const { return file_.path(); }

 private:
  void write(const std::string& event);
  void write_value(int64_t step, const std::string& value);

  internal::AppendedFile file_;
};

namespace internal {
/// The checksum CRC-32C (RFC 3720) of bytes.
uint32_t crc32c(const std::string& bytes);
}  // namespace internal

}  // namespace spruce::io
