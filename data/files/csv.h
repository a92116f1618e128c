// SPDX-License-Identifier: Apache-2.0
// Tables as text: comma-separated values.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// Options of load_csv.
struct CsvOptions {
  char delimiter = ',';  ///< between fields, such as a tab
  bool header = true;    ///< the first line names the columns; else they are "0", "1", ...
};

/// Texts as numbers: ids[i] is the place of the text of row i in `names`.
struct Categories {
  Array ids;                       ///< i32[rows]
  std::vector<std::string> names;  ///< each text once, in the order of their bytes
};

/// A table that was read by load_csv: the fields as text, and columns of them as arrays.
class CsvTable {
 public:
  /// Of load_csv: the fields row by row, each ending in text_ where ends_ says, and the line that
  /// each row stands in.
  CsvTable(std::string path, std::vector<std::string> names, std::string text,
           std::vector<uint64_t> ends, std::vector<int64_t> lines);

  /// The names of the columns, from left to right.
  const std::vector<std::string>& names() const { return names_; }
  /// Number of rows, the header not among them.
  int64_t rows() const { return static_cast<int64_t>(lines_.size()); }

  /// One column as numbers, any[rows], of any dtype but bool; what is empty is NaN. Each is the
  /// nearest of the dtype, 0 where it is too small. Throws ValueError, with the line, for a field
  /// that is no number of the dtype, one that is too large and an empty one of an integer dtype
  /// among them; and for a column that is not there, or there twice.
  Array numbers(const std::string& column, Dtype dtype = float32, Loc loc = Loc::current()) const;
  /// Several columns side by side: any[rows, columns]. Without names: all of them, from left to
  /// right.
  Array matrix(const std::vector<std::string>& columns = {}, Dtype dtype = float32,
               Loc loc = Loc::current()) const;
  /// One column as it is written, quotation marks taken away.
  std::vector<std::string> text(const std::string& column, Loc loc = Loc::current()) const;
  /// One column of texts as numbers.
  Categories categories(const std::string& column, Loc loc = Loc::current()) const;

 private:
  size_t find(const char* op, const std::string& column) const;
  std::string_view field(size_t row, size_t column) const;

  std::string path_;
  std::vector<std::string> names_;
  std::string text_;
  std::vector<uint64_t> ends_;
  std::vector<int64_t> lines_;
};

/// Reads a table as RFC 4180 has it: fields in quotation marks may hold the delimiter, ends of
/// lines and doubled marks. Lines end in LF, CR LF or CR; empty ones are left out, and so is a mark
/// of UTF-8 at the start. Throws IoError, with the line, where rows differ in their number of
/// fields and for marks that are not closed or stand in the middle of a field; ValueError for a
/// delimiter that is a mark or the end of a line.
CsvTable load_csv(const std::string& path, const CsvOptions& options = {},
                  Loc loc = Loc::current());

}  // namespace spruce::data
