// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/shape.h"
#include "spruce/data/plot/axis.h"
#include "spruce/data/plot/drawing.h"

namespace spruce::data {
namespace {

using internal::Axis;
using internal::Box;
using internal::Drawing;
using internal::Label;
using internal::Line;
using internal::Polyline;
using internal::text_of;

constexpr internal::Colour kColours[] = {0x1f77b4, 0xd62728, 0x2ca02c, 0x9467bd,
                                         0xff7f0e, 0x17becf, 0x8c564b, 0x7f7f7f};
// The most rows and columns of a matrix as pixels.
constexpr int64_t kMostEntries = 128;

// A number beside an axis.
std::string mark_of(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.4g", x);
  return out;
}

struct Axes {
  Axis x, y;
};

double place_of(const Curve& c, size_t i) { return c.x.empty() ? static_cast<double>(i) : c.x[i]; }

Axes axes_of(const char* op, const std::vector<Curve>& curves, const CurvesOptions& o) {
  if (curves.empty()) throw ValueError(std::string(op) + ": there are no curves");
  Axes axes;
  axes.y.log = o.log_y;
  for (const Curve& c : curves) {
    if (!c.x.empty() && c.x.size() != c.y.size()) {
      throw ValueError(std::string(op) + ": the curve '" + c.name + "' has " +
                       std::to_string(c.y.size()) + " values and " + std::to_string(c.x.size()) +
                       " places for them");
    }
    for (size_t i = 0; i < c.y.size(); ++i) {
      axes.x.add(place_of(c, i));
      axes.y.add(c.y[i]);
    }
  }
  axes.x.finish();
  axes.y.finish();
  return axes;
}

// The entries of a matrix and the names of its rows and columns.
struct Table {
  int64_t rows, columns;
  std::vector<double> entries;
  std::vector<std::string> row_names, column_names;
};

Table table_of(const char* op, const Array& matrix, const MatrixOptions& o) {
  const Array host = io::internal::saved_array(op, "matrix", matrix);
  if (host.rank() != 2)
    throw ShapeError(std::string(op) + ": takes a matrix [n, m], got " + to_string(host.aval()));
  Table t{host.shape(0), host.shape(1), astype(host, float64).to_vector<double>(), {}, {}};
  if (!o.names.empty() && static_cast<int64_t>(o.names.size()) != t.rows) {
    throw ValueError(std::string(op) + ": there are " + std::to_string(o.names.size()) +
                     " names for " + std::to_string(t.rows) + " rows");
  }
  const auto name = [&](int64_t i) {
    const auto k = static_cast<size_t>(i);
    return k < o.names.size() ? o.names[k] : std::to_string(i);
  };
  for (int64_t i = 0; i < t.rows; ++i) t.row_names.push_back(name(i));
  for (int64_t k = 0; k < t.columns; ++k) t.column_names.push_back(name(k));
  return t;
}

Drawing drawing_of(const char* op, const std::vector<Curve>& curves, const CurvesOptions& o) {
  const Axes axes = axes_of(op, curves, o);
  constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kTop = 30, kRight = 620, kBottom = 350;
  const auto across = [&](double v) { return kLeft + axes.x.share(v) * (kRight - kLeft); };
  const auto down = [&](double v) { return kBottom - axes.y.share(v) * (kBottom - kTop); };
  Drawing out{kWidth, kHeight};
  const auto label = [&](double x, double y, Label::Anchor anchor, const std::string& text,
                         internal::Colour colour = internal::kBlack, bool upward = false) {
    if (!text.empty()) out.parts.emplace_back(Label{x, y, anchor, text, colour, upward});
  };
  for (const double v : axes.y.marks())
    out.parts.emplace_back(Line{kLeft, down(v), kRight, down(v), internal::kPaleGrey});
  for (const double v : axes.x.marks())
    out.parts.emplace_back(Line{across(v), kTop, across(v), kBottom, internal::kPaleGrey});
  for (const double v : axes.y.marks()) label(kLeft - 6, down(v) + 4, Label::kEnd, mark_of(v));
  for (const double v : axes.x.marks()) label(across(v), kBottom + 16, Label::kMiddle, mark_of(v));
  label((kLeft + kRight) / 2, 18, Label::kMiddle, o.title);
  label((kLeft + kRight) / 2, kHeight - 12, Label::kMiddle, o.x_label);
  label(16, (kTop + kBottom) / 2, Label::kMiddle, o.y_label, internal::kBlack, true);
  for (size_t k = 0; k < curves.size(); ++k) {
    const Curve& c = curves[k];
    Polyline line{{}, kColours[k % std::size(kColours)]};
    bool pen = false;  // whether the curve goes on from the point before
    for (size_t i = 0; i < c.y.size(); ++i) {
      const double x = across(place_of(c, i)), y = down(c.y[i]);
      const bool known = std::isfinite(x) && std::isfinite(y);
      if (known && !pen) line.runs.emplace_back();
      if (known) line.runs.back().emplace_back(x, y);
      pen = known;
    }
    label(kRight - 6, kTop + 16 + 16 * static_cast<double>(k), Label::kEnd, c.name, line.colour);
    out.parts.emplace_back(std::move(line));
  }
  return out;
}

Drawing drawing_of(const Table& t, const MatrixOptions& o) {
  constexpr double kSquare = 44, kMargin = 80, kTop = 56;
  Drawing out{kMargin + kSquare * static_cast<double>(t.columns) + 16,
              kTop + kSquare * static_cast<double>(t.rows) + 16};
  const auto label = [&](double x, double y, Label::Anchor anchor, const std::string& text,
                         internal::Colour colour = internal::kBlack) {
    out.parts.emplace_back(Label{x, y, anchor, text, colour});
  };
  if (!o.title.empty()) label(out.width / 2, 20, Label::kMiddle, o.title);
  for (int64_t k = 0; k < t.columns; ++k) {
    label(kMargin + (static_cast<double>(k) + 0.5) * kSquare, kTop - 8, Label::kMiddle,
          t.column_names[static_cast<size_t>(k)]);
  }
  for (int64_t i = 0; i < t.rows; ++i) {
    const double* row = t.entries.data() + i * t.columns;
    double total = 0;
    for (int64_t k = 0; k < t.columns; ++k) total += std::abs(row[k]);
    const double y = kTop + static_cast<double>(i) * kSquare;
    label(kMargin - 8, y + kSquare / 2 + 4, Label::kEnd, t.row_names[static_cast<size_t>(i)]);
    for (int64_t k = 0; k < t.columns; ++k) {
      const double share = total > 0 ? std::abs(row[k]) / total : 0;
      const double x = kMargin + static_cast<double>(k) * kSquare;
      out.parts.emplace_back(Box{x, y, kSquare, kSquare, internal::kBlue, share});
      label(x + kSquare / 2, y + kSquare / 2 + 4, Label::kMiddle, text_of(row[k]),
            share > 0.6 ? internal::kWhite : internal::kBlack);
    }
  }
  return out;
}

}  // namespace

std::string curves_svg(const std::vector<Curve>& curves, const CurvesOptions& o, Loc loc) {
  const OpScope at("curves_svg", loc);
  return internal::svg_of(drawing_of("curves_svg", curves, o));
}

Array curves_image(const std::vector<Curve>& curves, const CurvesOptions& o, Loc loc) {
  const OpScope at("curves_image", loc);
  return internal::pixels_of(drawing_of("curves_image", curves, o));
}

std::string curves_text(const std::vector<Curve>& curves, const CurvesOptions& o, Loc loc) {
  const OpScope at("curves_text", loc);
  const Axes axes = axes_of("curves_text", curves, o);
  constexpr int kColumns = 64, kRows = 16, kMargin = 10;
  std::vector<std::string> lines(kRows, std::string(kColumns, ' '));
  for (const Curve& c : curves) {
    for (size_t i = 0; i < c.y.size(); ++i) {
      const double x = axes.x.share(place_of(c, i)), y = axes.y.share(c.y[i]);
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      const auto row = static_cast<size_t>(std::lround((1 - y) * (kRows - 1)));
      const auto column = static_cast<size_t>(std::lround(x * (kColumns - 1)));
      lines[row][column] = !c.name.empty() && c.name[0] > ' ' ? c.name[0] : '*';
    }
  }
  const auto value = [&](double y) { return mark_of(o.log_y ? std::pow(10, y) : y); };
  std::string out = o.title.empty() ? "" : o.title + "\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string mark = i == 0 ? value(axes.y.high) : i + 1 == lines.size() ? value(axes.y.low) : "";
    mark.insert(0, mark.size() < kMargin ? kMargin - mark.size() : 0, ' ');
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
    out += mark + " |" + lines[i] + "\n";
  }
  const std::string first = mark_of(axes.x.low), last = mark_of(axes.x.high);
  const size_t between =
      kColumns > first.size() + last.size() ? kColumns - first.size() - last.size() : 1;
  return out + std::string(kMargin + 2, ' ') + first + std::string(between, ' ') + last +
         (o.x_label.empty() ? "" : " " + o.x_label) + "\n";
}

std::string matrix_svg(const Array& matrix, const MatrixOptions& o, Loc loc) {
  const OpScope at("matrix_svg", loc);
  return internal::svg_of(drawing_of(table_of("matrix_svg", matrix, o), o));
}

Array matrix_image(const Array& matrix, const MatrixOptions& o, Loc loc) {
  const OpScope at("matrix_image", loc);
  const Table t = table_of("matrix_image", matrix, o);
  if (t.rows > kMostEntries || t.columns > kMostEntries) {
    throw ShapeError("matrix_image: takes at most " + std::to_string(kMostEntries) +
                     " rows and columns, got " + to_string(matrix.aval()) +
                     "; image_grid() shows larger ones, a pixel an entry");
  }
  return internal::pixels_of(drawing_of(t, o));
}

std::string matrix_text(const Array& matrix, const MatrixOptions& o, Loc loc) {
  const OpScope at("matrix_text", loc);
  const Table t = table_of("matrix_text", matrix, o);
  size_t side = 0, wide = 0;
  for (const std::string& name : t.row_names) side = std::max(side, name.size());
  for (const std::string& name : t.column_names) wide = std::max(wide, name.size());
  for (const double x : t.entries) wide = std::max(wide, text_of(x).size());
  const auto right = [](const std::string& text, size_t n) {
    return std::string(n > text.size() ? n - text.size() : 0, ' ') + text;
  };
  std::string out = (o.title.empty() ? "" : o.title + "\n") + std::string(side, ' ');
  for (const std::string& name : t.column_names) out += " " + right(name, wide);
  out += "\n";
  for (size_t i = 0; i < t.row_names.size(); ++i) {
    out += right(t.row_names[i], side);
    for (size_t k = 0; k < t.column_names.size(); ++k)
      out += " " + right(text_of(t.entries[i * t.column_names.size() + k]), wide);
    out += "\n";
  }
  return out;
}

void save_text(const std::string& path, const std::string& text, Loc loc) {
  const OpScope at("save_text", loc);
  io::internal::AtomicFile file("save_text", path);
  file.write(text);
  file.commit();
}

}  // namespace spruce::data
