// SPDX-License-Identifier: Apache-2.0
// Where the time of compiled functions goes: by equation, with the user's line.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "spruce/core/cxx20.h"
#include "spruce/core/error.h"

namespace spruce {

/// Times of the equations of compiled functions.
struct Profile {
  /// All runs of one equation.
  struct Row {
    std::string equation;  ///< "c: f32[64,10] = dot_general a b"
    std::string place;     ///< "train.cc:42", where it is known
    int64_t calls = 0;     ///< how often it ran
    double seconds = 0;    ///< of all calls together, what nested graphs take included
    bool nested = false;   ///< runs within another equation, such as the body of a scan
  };
  /// One run of an equation; times in nanoseconds from the beginning.
  struct Event {
    size_t row;        ///< which of `rows` it belongs to
    int64_t begin;     ///< of the run
    int64_t duration;  ///< of the run
    int thread;        ///< which thread called it, counted from 0
  };
  std::vector<Row> rows;      ///< the longest first
  std::vector<Event> events;  ///< in the order in which they ended; the first million of them
  double seconds = 0;         ///< from the beginning to the end

  /// A table of the rows, no more than `most`.
  std::string text(size_t most = 40) const;
  /// The events as JSON that chrome://tracing and Perfetto show.
  std::string trace() const;
  /// Writes trace() to a file. Throws IoError.
  void save_trace(const std::string& path, Loc loc = Loc::current()) const;
};

/// Prints text().
std::ostream& operator<<(std::ostream& out, const Profile& profile);

namespace internal {

/// Throws ValueError if a profile is being taken already.
void begin_profile();
Profile end_profile() noexcept;

struct ProfileEnd {
  Profile& out;
  ~ProfileEnd() { out = end_profile(); }
};

}  // namespace internal

/// Runs f() and gives the times of every equation that compiled functions ran meanwhile, on any
/// thread. The first call of a function traces and compiles it: call it once before. While no
/// profile is taken, a call costs one look at a flag more. Throws ValueError within another
/// profile, and what f throws.
template <class F>
Profile profile(F&& f) {
  Profile out;
  internal::begin_profile();
  {
    const internal::ProfileEnd end{out};
    f();
  }
  return out;
}

}  // namespace spruce
