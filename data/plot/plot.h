// SPDX-License-Identifier: Apache-2.0
// Curves and matrices as drawings: SVG, which browsers show, pixels for PNG, and text for a
// terminal.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// A curve. NaN and infinities leave a gap in it.
struct Curve {
  std::string name;            ///< shown beside it
  std::vector<double> y;       ///< the values
  std::vector<double> x = {};  ///< where they are, as many as there are values; none: 0, 1, 2, ...
};

/// Options of curves_svg, curves_image and curves_text.
struct CurvesOptions {
  std::string title = {};    ///< above the drawing
  std::string x_label = {};  ///< below it, "step"
  std::string y_label = {};  ///< beside it, "loss"
  bool log_y = false;        ///< powers of ten at equal distances; values up to 0 leave gaps
};

/// The curves with axes and names, 640 by 400 pixels. Throws ValueError without curves and where x
/// and y have different lengths.
std::string curves_svg(const std::vector<Curve>& curves, const CurvesOptions& options = {},
                       Loc loc = Loc::current());
/// The same as pixels, u8[800, 1280, 3], for save_png() or TensorBoard::image(). Letters beyond
/// ASCII are boxes there.
Array curves_image(const std::vector<Curve>& curves, const CurvesOptions& options = {},
                   Loc loc = Loc::current());
/// The same in 64 by 16 letters: each curve is drawn with the first letter of its name.
std::string curves_text(const std::vector<Curve>& curves, const CurvesOptions& options = {},
                        Loc loc = Loc::current());

/// Options of matrix_svg, matrix_image and matrix_text.
struct MatrixOptions {
  std::string title = {};               ///< above the drawing
  std::vector<std::string> names = {};  ///< of the rows and columns; none: their numbers
};

/// A matrix, such as nn::confusion_matrix() gives: number[n, m] with each entry in a square, the
/// darker the greater its share of its row. Throws ShapeError for another rank, ValueError for
/// names that are neither none nor as many as there are rows, TracerError under transforms.
std::string matrix_svg(const Array& matrix, const MatrixOptions& options = {},
                       Loc loc = Loc::current());
/// The same as pixels, u8[88 n + 144, 88 m + 192, 3], for save_png() or TensorBoard::image().
/// Throws ShapeError too for more than 128 rows or columns.
Array matrix_image(const Array& matrix, const MatrixOptions& options = {},
                   Loc loc = Loc::current());
/// The same as a table of text.
std::string matrix_text(const Array& matrix, const MatrixOptions& options = {},
                        Loc loc = Loc::current());

/// Writes text to a file, which is replaced as a whole or not at all. Throws IoError.
void save_text(const std::string& path, const std::string& text, Loc loc = Loc::current());

}  // namespace spruce::data
