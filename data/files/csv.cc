// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/csv.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <map>
#include <sstream>

#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

// Reads fields one by one.
class Reader {
 public:
  Reader(const std::string& path, std::string_view bytes, char delimiter)
      : path_(path), bytes_(bytes), delimiter_(delimiter) {
    if (bytes_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  // The next row: appends its fields to `text` and their ends to `ends`. False at the end.
  bool row(std::string& text, std::vector<uint64_t>& ends) {
    while (at_ < bytes_.size() && end_of_line()) next_line();
    if (at_ == bytes_.size()) return false;
    row_line_ = line_;
    for (bool more = true; more;) {
      field(text);
      ends.push_back(text.size());
      more = at_ < bytes_.size() && bytes_[at_] == delimiter_;
      if (more) ++at_;
    }
    if (at_ < bytes_.size()) next_line();
    return true;
  }
  // Where the last row began, from 1.
  int64_t row_line() const { return row_line_; }

  [[noreturn]] void fail(int64_t line, const std::string& problem) const {
    throw IoError("load_csv: " + path_ + ": line " + std::to_string(line) + ": " + problem);
  }

 private:
  bool end_of_line() const { return bytes_[at_] == '\n' || bytes_[at_] == '\r'; }
  // A CR in front of a LF, which counts the line.
  bool half_end() const { return bytes_.substr(at_, 2) == "\r\n"; }
  void next_line() {
    at_ += half_end() ? 2 : 1;
    ++line_;
  }

  void field(std::string& text) {
    if (at_ < bytes_.size() && bytes_[at_] == '"') {
      quoted(text);
      return;
    }
    for (; at_ < bytes_.size() && bytes_[at_] != delimiter_ && !end_of_line(); ++at_) {
      if (bytes_[at_] == '"')
        fail(line_, "a quotation mark stands in the middle of a field that has none in front");
      text += bytes_[at_];
    }
  }
  void quoted(std::string& text) {
    const int64_t from = line_;
    for (++at_;; ++at_) {
      if (at_ == bytes_.size()) fail(from, "a quotation mark is not closed");
      if (bytes_[at_] == '"') {
        ++at_;
        if (at_ == bytes_.size() || bytes_[at_] == delimiter_ || end_of_line()) return;
        if (bytes_[at_] != '"') fail(line_, "text follows the closing quotation mark of a field");
      }
      if (end_of_line() && !half_end()) ++line_;
      text += bytes_[at_];
    }
  }

  const std::string& path_;
  std::string_view bytes_;
  char delimiter_;
  size_t at_ = 0;
  int64_t line_ = 1, row_line_ = 1;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
  return s;
}

// A double as the nearest float to round further from: where it lies between two, the one with an
// odd mantissa, which is no tie of a shorter one.
float rounded_to_odd(double x) {
  const auto near = static_cast<float>(x);
  if (static_cast<double>(near) == x || !std::isfinite(near)) return near;
  const bool beyond = std::abs(static_cast<double>(near)) > std::abs(x);
  const uint32_t toward_zero = std::bit_cast<uint32_t>(near) - (beyond ? 1 : 0);
  return std::bit_cast<float>(toward_zero | 1u);
}

// The nearest number of the type: 0 for one that is too small. False for what is none or too large.
template <class T>
bool parse(std::string_view s, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    return false;
  } else if constexpr (spruce::kIsHalf<T>) {
    double value = 0;
    if (!parse(s, &value)) return false;
    *out = T(rounded_to_odd(value));
    return std::isfinite(static_cast<float>(*out)) || !std::isfinite(value);
  } else {
    if (std::is_floating_point_v<T> && s.empty()) {
      *out = std::numeric_limits<T>::quiet_NaN();
      return true;
    }
    const auto end = std::from_chars(s.data(), s.data() + s.size(), *out);
    if (end.ptr != s.data() + s.size()) return false;
    if constexpr (std::is_floating_point_v<T>) {
      if (end.ec != std::errc::result_out_of_range) return end.ec == std::errc();
      // A stream tells what is too small, which it reads, from what is too large.
      std::istringstream stream{std::string(s)};
      stream.imbue(std::locale::classic());
      double value = 0;
      if (!(stream >> value)) return false;
      *out = static_cast<T>(value);
      return std::isfinite(*out);
    } else {
      return end.ec == std::errc();
    }
  }
}

}  // namespace

CsvTable::CsvTable(std::string path, std::vector<std::string> names, std::string text,
                   std::vector<uint64_t> ends, std::vector<int64_t> lines)
    : path_(std::move(path)),
      names_(std::move(names)),
      text_(std::move(text)),
      ends_(std::move(ends)),
      lines_(std::move(lines)) {}

size_t CsvTable::find(const char* op, const std::string& column) const {
  const auto at = std::find(names_.begin(), names_.end(), column);
  if (at != names_.end()) {
    if (std::find(at + 1, names_.end(), column) == names_.end())
      return static_cast<size_t>(at - names_.begin());
    throw ValueError(std::string(op) + ": " + path_ + " has several columns '" + column +
                     "'; take them from matrix() without names, which goes by their places");
  }
  std::string has;
  for (const std::string& name : names_) has += (has.empty() ? "'" : ", '") + name + "'";
  throw ValueError(std::string(op) + ": " + path_ + " has no column '" + column + "'; it has " +
                   (has.empty() ? "none" : has));
}

std::string_view CsvTable::field(size_t row, size_t column) const {
  const size_t i = row * names_.size() + column;
  const uint64_t from = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(from, ends_[i] - from);
}

Array CsvTable::matrix(const std::vector<std::string>& columns, Dtype dtype, Loc loc) const {
  const OpScope at("CsvTable::matrix", loc);
  const char* op = OpScope::current();  // numbers() calls this too
  if (is_bool(dtype))
    throw DtypeError(std::string(op) + ": a table has no bool numbers; compare integers");
  std::vector<size_t> places;
  for (const std::string& name : columns) places.push_back(find(op, name));
  for (size_t k = 0; columns.empty() && k < names_.size(); ++k) places.push_back(k);
  const Aval aval{dtype, false, {rows(), static_cast<int64_t>(places.size())}};
  check_shape(op, aval.shape, size_of(dtype));
  const Array out = spruce::internal::make_array(aval);
  visit_dtype(dtype, [&]<class T>(T) {
    auto* to = static_cast<T*>(spruce::internal::mutable_data(out));
    for (size_t row = 0; row < lines_.size(); ++row) {
      for (const size_t column : places) {
        const std::string_view s = trimmed(field(row, column));
        if (!parse(s, to++)) {
          throw ValueError(std::string(op) + ": " + path_ + ": line " +
                           std::to_string(lines_[row]) + ": column '" + names_[column] + "' is '" +
                           std::string(s) + "', which is no " + std::string(short_name(dtype)) +
                           (s.empty() ? "; take a floating dtype, where it is NaN" : ""));
        }
      }
    }
  });
  return out;
}

Array CsvTable::numbers(const std::string& column, Dtype dtype, Loc loc) const {
  const OpScope at("CsvTable::numbers", loc);
  return matrix({column}, dtype).reshape({rows()});
}

std::vector<std::string> CsvTable::text(const std::string& column, Loc loc) const {
  const OpScope at("CsvTable::text", loc);
  const size_t place = find("CsvTable::text", column);
  std::vector<std::string> out;
  for (size_t row = 0; row < lines_.size(); ++row) out.emplace_back(field(row, place));
  return out;
}

Categories CsvTable::categories(const std::string& column, Loc loc) const {
  const OpScope at("CsvTable::categories", loc);
  const size_t place = find("CsvTable::categories", column);
  std::map<std::string_view, int32_t> ids;
  for (size_t row = 0; row < lines_.size(); ++row) ids.emplace(field(row, place), 0);
  Categories out;
  for (auto& [name, id] : ids) {
    id = static_cast<int32_t>(out.names.size());
    out.names.emplace_back(name);
  }
  std::vector<int32_t> of_rows;
  for (size_t row = 0; row < lines_.size(); ++row) of_rows.push_back(ids.at(field(row, place)));
  out.ids = array(of_rows);
  return out;
}

CsvTable load_csv(const std::string& path, const CsvOptions& options, Loc loc) {
  const OpScope at("load_csv", loc);
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r')
    throw ValueError("load_csv: a quotation mark or the end of a line is no delimiter; take ','");
  const io::internal::FileSource source("load_csv", path);
  const std::vector<uint8_t> bytes = source.bytes(0, source.size(), "the text");
  Reader reader(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                options.delimiter);
  std::string text;
  std::vector<uint64_t> ends;
  std::vector<std::string> names;
  if (options.header && reader.row(text, ends)) {
    uint64_t from = 0;
    for (const uint64_t end : ends) {
      names.push_back(text.substr(from, end - from));
      from = end;
    }
    text.clear();
    ends.clear();
  }
  const int64_t first_line = reader.row_line();
  std::vector<int64_t> lines;
  for (size_t before = 0; reader.row(text, ends); before = ends.size()) {
    const size_t fields = ends.size() - before;
    if (!options.header && lines.empty()) {
      for (size_t k = 0; k < fields; ++k) names.push_back(std::to_string(k));
    }
    if (fields != names.size()) {
      reader.fail(reader.row_line(), std::to_string(fields) + " fields, and line " +
                                         std::to_string(lines.empty() ? first_line : lines[0]) +
                                         " has " + std::to_string(names.size()));
    }
    lines.push_back(reader.row_line());
  }
  return {path, std::move(names), std::move(text), std::move(ends), std::move(lines)};
}

}  // namespace spruce::data
