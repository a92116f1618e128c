// SPDX-License-Identifier: Apache-2.0
// Metrics of a run in files: CSV and JSON lines.
#pragma once

#include <string>

#include "spruce/data/log/progress.h"

namespace spruce::io {

namespace internal {

/// A file that is written at its end, whole lines or records at a time, so that a process that is
/// killed leaves whole ones but for the last.
class AppendedFile {
 public:
  /// Throws IoError, naming `op`, if it cannot be opened. Without `append` it is emptied.
  AppendedFile(const char* op, const std::string& path, bool append, Loc loc);
  ~AppendedFile();
  AppendedFile(AppendedFile&& o) noexcept;
  AppendedFile& operator=(AppendedFile&& o) noexcept;

  /// Throws IoError; the file ends as before then, where it can be cut.
  void write(const std::string& bytes);
  const std::string& path() const { return path_; }

 private:
  const char* op_;
  std::string path_;
  int file_ = -1;
};

}  // namespace internal

/// Options of CsvLog and JsonLog.
struct LogOptions {
  bool append = false;  ///< go on with the file of a run that was stopped, behind a line that it
                        ///< has not finished; else it is emptied
};

/// Metrics as a table: the first line names the columns, "step" and those of the first call.
class CsvLog {
 public:
  /// Throws IoError if the file cannot be written or, with .append, if its first line is not that
  /// of a log.
  explicit CsvLog(const std::string& path, const LogOptions& options = {},
                  Loc loc = Loc::current());
  /// Appends a line, numbers with all their digits. Throws ValueError for other names than those of
  /// the first line and for a name that is "step" or stands there twice, IoError.
  void write(int64_t step, const Metrics& metrics, Loc loc = Loc::current());

 private:
  internal::AppendedFile file_;
  std::string header_;  // empty before the first line
};

/// Metrics as JSON, one object a line: {"step":3,"loss":0.25}. NaN and infinities are null, for
/// which JSON has no numbers. Lines may have different names.
class JsonLog {
 public:
  /// Throws IoError if the file cannot be written.
  explicit JsonLog(const std::string& path, const LogOptions& options = {},
                   Loc loc = Loc::current());
  /// Appends a line. Throws ValueError for a name that is no UTF-8, is "step", or stands there
  /// twice; IoError.
  void write(int64_t step, const Metrics& metrics, Loc loc = Loc::current());

 private:
  internal::AppendedFile file_;
};

}  // namespace spruce::io
