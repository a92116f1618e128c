// SPDX-License-Identifier: Apache-2.0
// PNG by libpng, which leaves its functions by longjmp: what runs between setjmp and there has no
// destructors.
#include <algorithm>
#include <string>

#include "spruce/data/files/image.h"

#ifdef SPRUCE_HAS_PNG
#include <png.h>

#include <csetjmp>
#include <cstring>

namespace spruce::data {
namespace {

using spruce::internal::make_array;
using spruce::internal::mutable_data;

// Bytes that are read, or a file that is written, and what went wrong.
struct Stream {
  const uint8_t* bytes = nullptr;
  size_t size = 0, at = 0;
  std::vector<uint8_t>* out = nullptr;
  char problem[256] = "";
};

void on_error(png_structp png, png_const_charp text) {
  auto* stream = static_cast<Stream*>(png_get_error_ptr(png));
  std::strncpy(stream->problem, text, sizeof stream->problem - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, size_t n) {
  auto* stream = static_cast<Stream*>(png_get_io_ptr(png));
  if (n > stream->size - stream->at) png_error(png, "the file is cut short");
  std::memcpy(out, stream->bytes + stream->at, n);
  stream->at += n;
}
void write_bytes(png_structp png, png_bytep bytes, size_t n) {
  auto* stream = static_cast<Stream*>(png_get_io_ptr(png));
  bool full = false;
  try {
    stream->out->insert(stream->out->end(), bytes, bytes + n);
  } catch (...) {
    full = true;
  }
  if (full) png_error(png, "there is no memory for the file");
}
void flush(png_structp) {}

struct Size {
  int64_t height = 0, width = 0;
  int channels = 0;
};

// Reads all in front of the pixels. False: on_error has said why.
bool read_head(png_structp png, png_infop info, Size* size) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_read_info(png, info);
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size->height = png_get_image_height(png, info);
  size->width = png_get_image_width(png, info);
  size->channels = png_get_channels(png, info);
  return true;
}

bool read_pixels(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

bool write_pixels(png_structp png, png_infop info, const Size* size, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_IHDR(png, info, static_cast<png_uint_32>(size->width),
               static_cast<png_uint_32>(size->height), 8, kTypes[size->channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
  return true;
}

// Gives libpng's memory back.
struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool reads;
  Png(bool r, Stream* stream) : reads(r) {
    png = r ? png_create_read_struct(PNG_LIBPNG_VER_STRING, stream, on_error, on_warning)
            : png_create_write_struct(PNG_LIBPNG_VER_STRING, stream, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) {
      free();
      throw std::bad_alloc();
    }
  }
  ~Png() { free(); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

 private:
  void free() {
    if (reads)
      png_destroy_read_struct(&png, &info, nullptr);
    else
      png_destroy_write_struct(&png, &info);
  }
};

std::vector<png_bytep> rows_of(uint8_t* at, int64_t height, int64_t row_bytes) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y) rows.push_back(at + y * row_bytes);
  return rows;
}

}  // namespace

namespace internal {

Array read_png(const std::string& name, const std::vector<uint8_t>& bytes, int64_t max_pixels) {
  Stream stream{bytes.data(), bytes.size()};
  const auto fail = [&] {
    throw IoError("load_image: " + name + ": at byte " + std::to_string(stream.at) + ": " +
                  stream.problem + "; the file is damaged");
  };
  const Png png(true, &stream);
  png_set_read_fn(png.png, &stream, read_bytes);
  Size size;
  if (!read_head(png.png, png.info, &size)) fail();
  check_pixels(name, size.height, size.width, max_pixels);
  const Array out = make_array({Dtype::kUint8, false, {size.height, size.width, size.channels}});
  std::vector<png_bytep> rows =
      rows_of(static_cast<uint8_t*>(mutable_data(out)), size.height, size.width * size.channels);
  if (!read_pixels(png.png, rows.data())) fail();
  return out;
}

std::vector<uint8_t> encode_png(const char* op, const Array& image) {
  const Aval& aval = image.aval();
  if (aval.dtype != Dtype::kUint8) {
    throw DtypeError(std::string(op) + ": the picture is " + to_string(aval) +
                     "; give u8, 0 is black and 255 is white");
  }
  const int rank = aval.shape.rank();
  const Size size{rank >= 2 ? aval.shape[0] : 0, rank >= 2 ? aval.shape[1] : 0,
                  rank == 3 ? static_cast<int>(std::min<int64_t>(aval.shape[2], 5)) : 1};
  if (rank < 2 || rank > 3 || size.height < 1 || size.width < 1 || size.height > INT32_MAX ||
      size.width > INT32_MAX || size.channels < 1 || size.channels > 4) {
    throw ShapeError(std::string(op) + ": the picture is " + to_string(aval) +
                     "; give u8[height, width] or u8[height, width, channels], 1 to 4 channels");
  }
  const HostSpan<uint8_t> pixels = image.data<uint8_t>();
  std::vector<uint8_t> bytes;
  Stream stream;
  stream.out = &bytes;
  const Png png(false, &stream);
  png_set_write_fn(png.png, &stream, write_bytes, flush);
  // libpng takes pointers to what it does not change.
  std::vector<png_bytep> rows =
      rows_of(const_cast<uint8_t*>(pixels.data()), size.height, size.width * size.channels);
  if (!write_pixels(png.png, png.info, &size, rows.data()))
    throw IoError(std::string(op) + ": " + stream.problem);
  return bytes;
}

}  // namespace internal
}  // namespace spruce::data
#else
namespace spruce::data {

constexpr const char* kAbsent =
    ": Spruce was built without libpng; install libpng-dev, configure and build it again";

namespace internal {
Array read_png(const std::string& name, const std::vector<uint8_t>&, int64_t) {
  throw IoError("load_image: " + name + kAbsent);
}
std::vector<uint8_t> encode_png(const char* op, const Array&) {
  throw IoError(op + std::string(kAbsent));
}
}  // namespace internal

}  // namespace spruce::data
#endif
