// SPDX-License-Identifier: Apache-2.0
// Many pictures as one.
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::data {

/// Options of image_grid.
struct ImageGridOptions {
  int64_t columns = 0;  ///< pictures side by side; 0: so that the whole is about square
  int64_t gap = 1;      ///< pixels between neighbours, and none around
  int64_t scale = 1;    ///< each pixel becomes a square of so many
  double low = 0;       ///< of floating pictures: what is black
  double high = 1;      ///< of floating pictures: what is white; beyond both is cut off
};

/// Pictures in rows, from the top left, for save_png() or TensorBoard: u8 or f[n, height, width] or
/// [n, height, width, channels], 1 to 4 channels -> u8[rows, columns] or u8[rows, columns,
/// channels]. Gaps and what is left over of the last row are grey; NaN is black. Throws ShapeError
/// and DtypeError for other arrays and for none, ValueError for options out of range, TracerError
/// under transforms.
Array image_grid(const Array& images, const ImageGridOptions& options = {},
                 Loc loc = Loc::current());
/// The same as SVG, which holds the pixels as PNG and shows them with sharp edges. Throws as
/// image_grid(); IoError where this build lacks libpng.
std::string image_grid_svg(const Array& images, const ImageGridOptions& options = {},
                           Loc loc = Loc::current());
/// The same for a terminal: each pixel is two letters, of five from a blank for black to a full
/// block for white; colours are shown as grey, as load_image() has it, and what is transparent on
/// black. Gaps are blank. Throws as image_grid().
std::string image_grid_text(const Array& images, const ImageGridOptions& options = {},
                            Loc loc = Loc::current());

}  // namespace spruce::data
