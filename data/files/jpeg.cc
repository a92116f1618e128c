// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg, whose errors are left by longjmp: what runs between setjmp and there has no
// destructors.
#include "spruce/data/files/image.h"

#ifdef SPRUCE_HAS_JPEG
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>

namespace spruce::data::internal {
namespace {

struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf place;
  char problem[JMSG_LENGTH_MAX] = "";
};

void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  (*info->err->format_message)(info, errors->problem);
  std::longjmp(errors->place, 1);
}
// Damaged data is a warning there, after which pixels are made up. Bytes between two parts of a
// file harm nothing.
void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) leave(info);
}

bool read_head(jpeg_decompress_struct* info, Errors* errors, const uint8_t* bytes, size_t size) {
  if (setjmp(errors->place) != 0) return false;
  jpeg_create_decompress(info);
  jpeg_mem_src(info, bytes, static_cast<unsigned long>(size));
  jpeg_read_header(info, TRUE);
  return true;
}

bool read_pixels(jpeg_decompress_struct* info, Errors* errors, uint8_t* out, int64_t row_bytes) {
  if (setjmp(errors->place) != 0) return false;
  jpeg_start_decompress(info);
  while (info->output_scanline < info->output_height) {
    JSAMPROW row = out + info->output_scanline * row_bytes;
    jpeg_read_scanlines(info, &row, 1);
  }
  jpeg_finish_decompress(info);
  return true;
}

struct Decoder {
  jpeg_decompress_struct info{};
  ~Decoder() { jpeg_destroy_decompress(&info); }
};

}  // namespace

Array read_jpeg(const std::string& name, const std::vector<uint8_t>& bytes, int64_t max_pixels) {
  Errors errors;
  Decoder decoder;
  jpeg_decompress_struct& info = decoder.info;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leave;
  errors.base.emit_message = on_message;
  const auto fail = [&] {
    throw IoError("load_image: " + name + ": " + errors.problem + "; the file is damaged");
  };
  if (!read_head(&info, &errors, bytes.data(), bytes.size())) fail();
  if (info.num_components != 1 && info.num_components != 3) {
    throw IoError("load_image: " + name + ": it has " + std::to_string(info.num_components) +
                  " components (CMYK?), and only grey and colour pictures are read; convert it");
  }
  check_pixels(name, info.image_height, info.image_width, max_pixels);
  info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  const int64_t row = int64_t{info.image_width} * info.num_components;
  const Array out = spruce::internal::make_array(
      {Dtype::kUint8, false, {info.image_height, info.image_width, info.num_components}});
  auto* to = static_cast<uint8_t*>(spruce::internal::mutable_data(out));
  if (!read_pixels(&info, &errors, to, row)) fail();
  return out;
}

}  // namespace spruce::data::internal
#else
namespace spruce::data::internal {

Array read_jpeg(const std::string& name, const std::vector<uint8_t>&, int64_t) {
  throw IoError("load_image: " + name +
                ": Spruce was built without libjpeg; install libjpeg-dev, configure and build it "
                "again");
}

}  // namespace spruce::data::internal
#endif
