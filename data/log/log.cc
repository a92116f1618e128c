// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/log/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "spruce/core/io/path.h"
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ranges.h"

namespace spruce::io {
namespace internal {

AppendedFile::AppendedFile(const char* op, const std::string& path, bool append, Loc loc)
    : op_(op), path_(path) {
  const LocScope at(loc);
  check_path(op, path);
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC),
                 0666);
  if (file_ < 0) {
    throw IoError(std::string(op) + ": " + path + ": cannot be written: " + std::strerror(errno));
  }
}

AppendedFile::~AppendedFile() {
  if (file_ >= 0) ::close(file_);
}

AppendedFile::AppendedFile(AppendedFile&& o) noexcept
    : op_(o.op_), path_(std::move(o.path_)), file_(std::exchange(o.file_, -1)) {}

AppendedFile& AppendedFile::operator=(AppendedFile&& o) noexcept {
  std::swap(op_, o.op_);
  std::swap(path_, o.path_);
  std::swap(file_, o.file_);
  return *this;
}

void AppendedFile::write(const std::string& bytes) {
  const off_t before = ::lseek(file_, 0, SEEK_END);
  if (write_all(file_, bytes.data(), bytes.size())) return;
  std::string why = std::strerror(errno);
  // Part of a record would spoil those that are written behind it when there is room again.
  if (before >= 0 && ::ftruncate(file_, before) != 0)
    why += std::string(", and neither can it be cut back: ") + std::strerror(errno);
  throw IoError(std::string(op_) + ": " + path_ + ": cannot be written: " + why);
}

}  // namespace internal

namespace {

// A field of a table, in quotation marks where it needs them.
std::string field(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == name.npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

// Ends the line that a killed process was writing, so that it keeps to itself.
void end_line(const internal::FileSource& before, internal::AppendedFile& file) {
  if (before.size() == 0) return;
  if (before.number<uint8_t>(before.size() - 1, "the last character") != '\n') file.write("\n");
}

void check_metrics(const char* op, int64_t step, const Metrics& metrics) {
  std::set<std::string> names{"step"};
  for (const auto& [name, value] : metrics) {
    if (names.insert(name).second) continue;
    throw ValueError(std::string(op) + ": the name '" + name + "' stands there twice, in step " +
                     std::to_string(step) +
                     (name == "step" ? "; the step is written by itself" : ""));
  }
}

}  // namespace

CsvLog::CsvLog(const std::string& path, const LogOptions& options, Loc loc)
    : file_("CsvLog", path, options.append, loc) {
  const OpScope at("CsvLog", loc);
  if (!options.append) return;
  const internal::FileSource source("CsvLog", path);
  const std::vector<uint8_t> bytes = source.bytes(0, source.size(), "the table");
  const std::string text(bytes.begin(), bytes.end());
  if (text.empty()) return;
  header_ = text.substr(0, text.find('\n'));
  if (header_ != "step" && !header_.starts_with("step,")) {
    source.fail(0, "the first line is '" + header_.substr(0, 80) +
                       "', which is no header of a log; give another path, or do not append");
  }
  end_line(source, file_);
}

void CsvLog::write(int64_t step, const Metrics& metrics, Loc loc) {
  const OpScope at("CsvLog::write", loc);
  check_metrics("CsvLog::write", step, metrics);
  std::string header = "step", line = std::to_string(step);
  for (const auto& [name, value] : metrics) {
    header += "," + field(name);
    line += "," + spruce::internal::number_text(value);
  }
  if (header_.empty()) {
    file_.write(header + "\n");
    header_ = header;
  } else if (header != header_) {
    throw ValueError("CsvLog::write: the metrics of step " + std::to_string(step) + " are '" +
                     header + "' and the first line of " + file_.path() + " is '" + header_ +
                     "'; give the same names in the same order, or use JsonLog");
  }
  file_.write(line + "\n");
}

JsonLog::JsonLog(const std::string& path, const LogOptions& options, Loc loc)
    : file_("JsonLog", path, options.append, loc) {
  const OpScope at("JsonLog", loc);
  if (options.append && std::filesystem::is_regular_file(path))
    end_line(internal::FileSource("JsonLog", path), file_);
}

void JsonLog::write(int64_t step, const Metrics& metrics, Loc loc) {
  const OpScope at("JsonLog::write", loc);
  check_metrics("JsonLog::write", step, metrics);
  nlohmann::ordered_json line{{"step", step}};
  for (const auto& [name, value] : metrics) {
    line[name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  }
  try {
    file_.write(line.dump() + "\n");
  } catch (const nlohmann::json::exception&) {
    throw ValueError("JsonLog::write: the name of a metric is no UTF-8");
  }
}

}  // namespace spruce::io
