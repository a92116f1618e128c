// SPDX-License-Identifier: Apache-2.0
// How far a run is, in one line of a terminal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spruce/core/error.h"

namespace spruce::io {

/// Numbers with names, in the order in which they are shown or written: {{"loss", 0.25}}.
using Metrics = std::vector<std::pair<std::string, double>>;

/// Options of Progress.
struct ProgressOptions {
  int64_t steps = 0;       ///< of the whole run; 0: not known, there is no bar and no estimate
  int64_t per_epoch = 0;   ///< steps in an epoch; 0: epochs are not shown
  int64_t first_step = 0;  ///< steps that were done before, by a run that was stopped
  double interval = 0.1;   ///< seconds between two lines, at least
  /// Show nothing. By default: unless standard error is a terminal.
  std::optional<bool> quiet{};
  /// Where a line goes; by default to standard error, in place of the one before.
  std::function<void(const std::string& line, bool last)> write{};
  /// Seconds since some moment; by default a steady clock.
  std::function<double()> clock{};
};

/// Shows steps, epochs, steps per second, the time that is left and metrics:
///
///   epoch 2/20 [=======>.....................] 1438/18760  612 steps/s  0:28 left  loss 0.2513
///
/// For one thread.
class Progress {
 public:
  /// Throws ValueError for negative numbers and for a first_step beyond the steps.
  explicit Progress(const ProgressOptions& options, Loc loc = Loc::current());
  /// Ends the line as finish() does.
  ~Progress();
  Progress(const Progress&) = delete;
  /// Neither copied nor assigned: there is one line.
  Progress& operator=(const Progress&) = delete;

  /// A step is done. Costs next to nothing when nothing is shown; show() says when metrics need
  /// not be computed.
  void step(const Metrics& metrics = {});
  /// Whether the next step() writes a line.
  bool show() const;
  /// Writes the last line, and a new line behind it. What comes later is not shown.
  void finish();

  /// Steps that are done.
  int64_t steps() const { return done_; }
  /// Steps per second, of this run; 0 before the first.
  double rate() const;
  /// The seconds that are left at this rate; none where it is not known.
  std::optional<double> left() const;
  /// The line as it would be written now.
  std::string line() const;

 private:
  ProgressOptions options_;
  Metrics metrics_;
  int64_t done_;
  double began_, shown_;
  bool finished_ = false;
};

/// Seconds as "0:07", "12:40", "3:05:00".
std::string duration_text(double seconds);

}  // namespace spruce::io
