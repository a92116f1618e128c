// SPDX-License-Identifier: Apache-2.0
// Pictures in files: PNG and JPEG, by libpng and libjpeg.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// Options of load_image.
struct LoadImageOptions {
  /// 1: grey, 3: red, green, blue, 4: and how opaque; 0: as many as the file has (2 is grey and how
  /// opaque). Grey of colours is 0.299 red + 0.587 green + 0.114 blue, as in Pillow; what is
  /// transparent is not mixed with anything.
  int channels = 0;
  /// The most pixels that are read: a small file can claim many. As Pillow's limit.
  int64_t max_pixels = 178'956'970;
};

/// The picture in a PNG or JPEG file, whichever its first bytes say: u8[height, width, channels],
/// from the top left. Palettes become colours, 16 bits become 8; gamma, colour profiles and the
/// orientation in EXIF are not looked at. Throws IoError for what is damaged, cut short, of another
/// kind, CMYK, or too large, and where this build lacks the library; ValueError for options out of
/// range.
Array load_image(const std::string& path, const LoadImageOptions& options = {},
                 Loc loc = Loc::current());

/// Writes u8[height, width] or u8[height, width, channels], 1 to 4 channels, as PNG. The file is
/// replaced as a whole or not at all. Throws DtypeError and ShapeError for other arrays; IoError
/// where it cannot be written or this build lacks libpng.
void save_png(const std::string& path, const Array& image, Loc loc = Loc::current());

namespace internal {

/// What the bytes of a file hold, before channels are converted. `name` stands in messages.
Array read_png(const std::string& name, const std::vector<uint8_t>& bytes, int64_t max_pixels);
Array read_jpeg(const std::string& name, const std::vector<uint8_t>& bytes, int64_t max_pixels);
/// The bytes of a PNG file. Throws as save_png(), naming `op`.
std::vector<uint8_t> encode_png(const char* op, const Array& image);
/// Throws IoError, naming the picture, if it has more pixels.
void check_pixels(const std::string& name, int64_t height, int64_t width, int64_t max_pixels);

}  // namespace internal
}  // namespace spruce::data
