// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/shape.h"

namespace spruce::data {
namespace {

constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                    "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};

std::string text_of(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.6g", x);
  return out;
}

// A number beside an axis.
std::string mark_of(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.4g", x);
  return out;
}

// Text within SVG.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const std::string& more = {}) {
  return "<text x=\"" + text_of(x) + "\" y=\"" + text_of(y) + "\" text-anchor=\"" + anchor + "\"" +
         more + ">" + escaped(text) + "</text>\n";
}

std::string svg(double width, double height, const std::string& body) {
  const std::string size = text_of(width) + "\" height=\"" + text_of(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"" + size +
         "\" fill=\"white\"/>\n" + body + "</svg>\n";
}

// An axis: what is shown of it, and where its marks are.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool log = false;

  double scaled(double v) const {
    if (!log) return v;
    return v > 0 ? std::log10(v) : std::numeric_limits<double>::quiet_NaN();
  }
  void add(double v) {
    const double s = scaled(v);
    if (!std::isfinite(s)) return;
    low = std::min(low, s);
    high = std::max(high, s);
  }
  // One that holds nothing, a single value, or values that are all but equal gets a width.
  void finish() {
    if (low > high) low = 0, high = 1;
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low > 1e-9 * size) return;
    const double more = size > 0 ? 0.05 * size : 0.5;
    low -= more;
    high += more;
  }
  /// From 0 to 1; NaN for what the axis does not show.
  double share(double v) const { return (scaled(v) - low) / (high - low); }
  // Multiples of 1, 2 or 5 times a power of ten, about five of them.
  std::vector<double> marks() const {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double m : {5.0, 2.0, 1.0})
      if (m * power >= rough) step = m * power;
    if (log) step = std::max(1.0, std::round(step));
    std::vector<double> out;
    for (double k = std::ceil(low / step); k * step <= high * (1 + 1e-12) + 1e-300; ++k)
      out.push_back(log ? std::pow(10, k * step) : k * step);
    return out;
  }
};

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

}  // namespace

std::string curves_svg(const std::vector<Curve>& curves, const CurvesOptions& o, Loc loc) {
  const OpScope at("curves_svg", loc);
  const Axes axes = axes_of("curves_svg", curves, o);
  constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kTop = 30, kRight = 620, kBottom = 350;
  const auto across = [&](double v) { return kLeft + axes.x.share(v) * (kRight - kLeft); };
  const auto down = [&](double v) { return kBottom - axes.y.share(v) * (kBottom - kTop); };
  std::string body = "<g stroke=\"#ddd\">\n";
  for (const double v : axes.y.marks())
    body +=
        "<path d=\"M" + text_of(kLeft) + " " + text_of(down(v)) + "H" + text_of(kRight) + "\"/>\n";
  for (const double v : axes.x.marks())
    body += "<path d=\"M" + text_of(across(v)) + " " + text_of(kTop) + "V" + text_of(kBottom) +
            "\"/>\n";
  body += "</g>\n";
  for (const double v : axes.y.marks()) body += label(kLeft - 6, down(v) + 4, "end", mark_of(v));
  for (const double v : axes.x.marks())
    body += label(across(v), kBottom + 16, "middle", mark_of(v));
  body += label((kLeft + kRight) / 2, 18, "middle", o.title);
  body += label((kLeft + kRight) / 2, kHeight - 12, "middle", o.x_label);
  body += label(16, (kTop + kBottom) / 2, "middle", o.y_label, " transform=\"rotate(-90 16 190)\"");
  for (size_t k = 0; k < curves.size(); ++k) {
    const Curve& c = curves[k];
    const std::string colour = kColours[k % std::size(kColours)];
    std::string path;
    bool pen = false;  // whether the curve goes on from the point before
    for (size_t i = 0; i < c.y.size(); ++i) {
      const double x = across(place_of(c, i)), y = down(c.y[i]);
      const bool known = std::isfinite(x) && std::isfinite(y);
      if (known) path += (pen ? "L" : "M") + text_of(x) + " " + text_of(y);
      pen = known;
    }
    body +=
        "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.5\"/>\n";
    body += label(kRight - 6, kTop + 16 + 16 * static_cast<double>(k), "end", c.name,
                  " fill=\"" + colour + "\"");
  }
  return svg(kWidth, kHeight, body);
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
  const Table t = table_of("matrix_svg", matrix, o);
  constexpr double kSquare = 44, kMargin = 80, kTop = 56;
  const double width = kMargin + kSquare * static_cast<double>(t.columns) + 16;
  std::string body = label(width / 2, 20, "middle", o.title);
  for (int64_t k = 0; k < t.columns; ++k) {
    body += label(kMargin + (static_cast<double>(k) + 0.5) * kSquare, kTop - 8, "middle",
                  t.column_names[static_cast<size_t>(k)]);
  }
  for (int64_t i = 0; i < t.rows; ++i) {
    const double* row = t.entries.data() + i * t.columns;
    double total = 0;
    for (int64_t k = 0; k < t.columns; ++k) total += std::abs(row[k]);
    const double y = kTop + static_cast<double>(i) * kSquare;
    body += label(kMargin - 8, y + kSquare / 2 + 4, "end", t.row_names[static_cast<size_t>(i)]);
    for (int64_t k = 0; k < t.columns; ++k) {
      const double share = total > 0 ? std::abs(row[k]) / total : 0;
      const double x = kMargin + static_cast<double>(k) * kSquare;
      body += "<rect x=\"" + text_of(x) + "\" y=\"" + text_of(y) +
              "\" width=\"44\" height=\"44\" " + "fill=\"#1f77b4\" fill-opacity=\"" +
              text_of(share) + "\" stroke=\"#ddd\"/>\n";
      body += label(x + kSquare / 2, y + kSquare / 2 + 4, "middle", text_of(row[k]),
                    share > 0.6 ? " fill=\"white\"" : "");
    }
  }
  return svg(width, kTop + kSquare * static_cast<double>(t.rows) + 16, body);
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
