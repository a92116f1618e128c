// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/log/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "spruce/core/op_scope.h"

namespace spruce::io {
namespace {

constexpr int64_t kWidth = 28;  // of the bar

std::string number(const char* format, double x) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// In place of the line before; what that has more is wiped out.
void to_terminal(const std::string& line, bool last) {
  std::fprintf(stderr, "\r%s\x1b[K%s", line.c_str(), last ? "\n" : "");
  std::fflush(stderr);
}

void check(const char* name, double value) {
  if (value >= 0) return;
  throw ValueError(std::string("Progress: ") + name + " is " + number("%g", value) +
                   "; it may not be negative");
}

}  // namespace

std::string duration_text(double seconds) {
  constexpr double kMost = 359'999;  // 99:59:59
  const auto whole = static_cast<int>(std::clamp(std::isnan(seconds) ? 0 : seconds, 0.0, kMost));
  char text[32];
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

Progress::Progress(const ProgressOptions& options, Loc loc)
    : options_(options), done_(options.first_step) {
  const OpScope at("Progress", loc);
  check("steps", static_cast<double>(options.steps));
  check("per_epoch", static_cast<double>(options.per_epoch));
  check("first_step", static_cast<double>(options.first_step));
  check("interval", options.interval);
  if (options.steps > 0 && options.first_step > options.steps) {
    throw ValueError("Progress: first_step is " + std::to_string(options.first_step) + " of " +
                     std::to_string(options.steps) + " steps");
  }
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.quiet) options_.quiet = !options_.write && ::isatty(STDERR_FILENO) == 0;
  if (!options_.write) options_.write = to_terminal;
  began_ = options_.clock();
  shown_ = began_ - options_.interval;
}

Progress::~Progress() {
  try {
    finish();
  } catch (...) {  // a destructor has nowhere to throw to; finish() says it
  }
}

bool Progress::show() const {
  return !*options_.quiet && !finished_ && options_.clock() - shown_ >= options_.interval;
}

void Progress::step(const Metrics& metrics) {
  ++done_;
  if (*options_.quiet || finished_) return;
  if (!metrics.empty()) metrics_ = metrics;
  if (!show()) return;
  shown_ = options_.clock();
  options_.write(line(), false);
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (!*options_.quiet && done_ > options_.first_step) options_.write(line(), true);
}

double Progress::rate() const {
  const double seconds = options_.clock() - began_;
  return seconds > 0 ? static_cast<double>(done_ - options_.first_step) / seconds : 0;
}

std::optional<double> Progress::left() const {
  const double per_second = rate();
  if (options_.steps == 0 || per_second <= 0) return std::nullopt;
  return static_cast<double>(std::max<int64_t>(0, options_.steps - done_)) / per_second;
}

std::string Progress::line() const {
  const int64_t steps = options_.steps, per_epoch = options_.per_epoch;
  std::string out;
  if (per_epoch > 0) {
    const int64_t epoch = (std::max<int64_t>(done_, 1) - 1) / per_epoch + 1;
    out += "epoch " + std::to_string(epoch);
    if (steps > 0) out += "/" + std::to_string((steps - 1) / per_epoch + 1);
    out += " ";
  }
  if (steps > 0) {
    const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(steps));
    const auto full = static_cast<int64_t>(part * static_cast<double>(kWidth));
    out += "[";
    for (int64_t i = 0; i < kWidth; ++i) out += i < full ? '=' : i == full ? '>' : '.';
    out += "] " + std::to_string(done_) + "/" + std::to_string(steps);
  } else {
    out += "step " + std::to_string(done_);
  }
  const double per_second = rate();
  if (per_second >= 1)
    out += "  " + number(per_second < 10 ? "%.1f" : "%.0f", per_second) + " steps/s";
  else if (per_second > 0)
    out += "  " + number("%.1f", 1 / per_second) + " s/step";
  if (const std::optional<double> seconds = left()) out += "  " + duration_text(*seconds) + " left";
  for (const auto& [name, value] : metrics_) out += "  " + name + " " + number("%.4g", value);
  return out;
}

}  // namespace spruce::io
