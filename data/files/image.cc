// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/image.h"

#include <algorithm>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

// One pixel of `from` channels as one of `to`.
void convert(const uint8_t* in, int from, uint8_t* out, int to) {
  const bool grey = from <= 2;
  const uint8_t opaque = from == 2 ? in[1] : from == 4 ? in[3] : 255;
  if (to <= 2) {
    // The integers of Pillow: weights in 1 / 65536, rounded.
    out[0] = grey ? in[0]
                  : static_cast<uint8_t>(
                        (in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 0x8000u) >> 16);
  } else {
    for (int c = 0; c < 3; ++c) out[c] = grey ? in[0] : in[c];
  }
  if (to == 4) out[3] = opaque;
}

Array with_channels(const Array& image, int channels) {
  const int from = static_cast<int>(image.shape()[2]);
  if (channels == 0 || channels == from) return image;
  const Array out = spruce::internal::make_array(
      {Dtype::kUint8, false, {image.shape()[0], image.shape()[1], channels}});
  const HostSpan<uint8_t> pixels = image.data<uint8_t>();
  auto* to = static_cast<uint8_t*>(spruce::internal::mutable_data(out));
  for (size_t at = 0; at < pixels.size(); at += static_cast<size_t>(from), to += channels)
    convert(pixels.data() + at, from, to, channels);
  return out;
}

}  // namespace

namespace internal {

void check_pixels(const std::string& name, int64_t height, int64_t width, int64_t max_pixels) {
  if (height >= 1 && width >= 1 && height <= max_pixels / width) return;
  throw IoError("load_image: " + name + ": the picture has " + std::to_string(height) + " x " +
                std::to_string(width) + " pixels, and at most " + std::to_string(max_pixels) +
                " are read; raise .max_pixels if it is meant");
}

}  // namespace internal

Array load_image(const std::string& path, const LoadImageOptions& options, Loc loc) {
  const OpScope at("load_image", loc);
  if (options.channels != 0 && options.channels != 1 && options.channels != 3 &&
      options.channels != 4) {
    throw ValueError("load_image: " + std::to_string(options.channels) +
                     " channels; take 1, 3, 4, or 0 for those of the file");
  }
  const io::internal::FileSource source("load_image", path);
  const std::vector<uint8_t> bytes = source.bytes(0, source.size(), "the picture");
  constexpr uint8_t kPng[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr uint8_t kJpeg[] = {0xff, 0xd8, 0xff};
  const auto begins = [&](const auto& mark) {
    return bytes.size() >= std::size(mark) &&
           std::equal(std::begin(mark), std::end(mark), bytes.begin());
  };
  Array image;
  if (begins(kPng))
    image = internal::read_png(path, bytes, options.max_pixels);
  else if (begins(kJpeg))
    image = internal::read_jpeg(path, bytes, options.max_pixels);
  else
    source.fail(0, "this is neither PNG nor JPEG: it does not begin as they do");
  return with_channels(image, options.channels);
}

void save_png(const std::string& path, const Array& image, Loc loc) {
  const OpScope at("save_png", loc);
  const std::vector<uint8_t> bytes = internal::encode_png("save_png", image);
  io::internal::AtomicFile file("save_png", path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace spruce::data
