// SPDX-License-Identifier: Apache-2.0
// What read_back.py reads: a file of each kind that Spruce writes, and arrays by DLPack. The script
// knows the values by their formula, which stands there in NumPy.
#include <spruce/core/dlpack.h>
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>
#include <exception>
#include <string>

namespace sp = spruce;
using sp::Array;

namespace {

constexpr sp::Dtype kDtypes[] = {sp::bool_,   sp::int8,    sp::int16,   sp::int32,  sp::int64,
                                 sp::uint8,   sp::uint16,  sp::uint32,  sp::uint64, sp::float16,
                                 sp::float32, sp::float64, sp::bfloat16};
const sp::Shape kShapes[] = {{3, 4, 5}, {}, {0, 3}, {7}};

// Element k from k * 37 % 101, from 0 to 100: see expected() in read_back.py.
Array values(sp::Dtype dtype, const sp::Shape& shape) {
  int64_t size = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) size *= shape[axis];
  const Array k = (sp::arange(size, sp::int64) * 37 % 101).reshape(shape);
  if (sp::is_bool(dtype)) return k % 2 == 1;
  if (sp::is_floating(dtype)) return ((k - 50).astype(sp::float64) / 8).astype(dtype);
  const bool is_signed = sp::short_name(dtype)[0] == 'i';
  return (is_signed ? k - 50 : k).astype(dtype);
}

std::string name_of(sp::Dtype dtype, size_t shape) {
  return std::string(sp::short_name(dtype)) + "_" + std::to_string(shape);
}

void write_arrays(const std::string& folder) {
  sp::NamedArrays all, of_numpy;  // which has no bfloat16
  for (const sp::Dtype dtype : kDtypes) {
    for (size_t s = 0; s < std::size(kShapes); ++s) {
      const std::string name = name_of(dtype, s);
      const Array x = values(dtype, kShapes[s]);
      all.insert(name, x);
      if (dtype == sp::bfloat16) continue;
      of_numpy.insert(name, x);
      sp::io::save_npy(folder + "/" + name + ".npy", x);
    }
  }
  sp::io::save_npz(folder + "/all.npz", of_numpy);
  sp::io::save_safetensors(folder + "/all.safetensors", all, {.metadata = {{"made by", "spruce"}}});
  sp::nn::save_torch(folder + "/all.pt", all);
  // A model: its names are those of PyTorch's layer.
  const sp::nn::Linear linear{values(sp::float32, {3, 4}), values(sp::float32, {3})};
  sp::nn::save_torch(folder + "/linear.pt", {{"weight", linear.weight}, {"bias", *linear.bias}});
  sp::io::Checkpoints(folder + "/checkpoints", 2, {.background = false}).save(12, linear);
}

void write_logs(const std::string& folder) {
  sp::io::TensorBoard board(folder + "/events");
  sp::io::CsvLog table(folder + "/log.csv");
  sp::io::JsonLog lines(folder + "/log.jsonl");
  for (int64_t step = 0; step < 20; ++step) {
    const sp::io::Metrics metrics = {{"train/loss", 1 / (1 + static_cast<double>(step))},
                                     {"rate", 1e-3 * static_cast<double>(step)}};
    board.scalars(step, metrics);
    table.write(step, metrics);
    lines.write(step, metrics);
  }
  board.histogram(5, "weights", values(sp::float32, {3, 4, 5}));
  board.image(6, "picture", values(sp::uint8, {5, 7, 3}));
}

void write_pictures(const std::string& folder) {
  const auto save = [&](const std::string& name, const Array& picture) {
    sp::data::save_png(folder + "/" + name + ".png", picture);
    sp::io::save_npy(folder + "/" + name + "_pixels.npy", picture);
  };
  save("grey", values(sp::uint8, {5, 7}));
  for (const int64_t channels : {1, 2, 3, 4})
    save("channels" + std::to_string(channels), values(sp::uint8, {5, 7, channels}));
  const std::vector<sp::data::Curve> curves = {{"train", {3, 1, 0.5}}, {"a < b", {2, 1, 1}}};
  const Array matrix = sp::array({{9, 1}, {2, 8}}), images = values(sp::uint8, {5, 4, 6, 3});
  save("curves", sp::data::curves_image(curves, {.title = "loss & rate"}));
  save("matrix", sp::data::matrix_image(matrix));
  save("grid", sp::data::image_grid(images, {.scale = 2}));
  sp::data::save_text(folder + "/curves.svg",
                      sp::data::curves_svg(curves, {.title = "loss & rate"}));
  sp::data::save_text(folder + "/matrix.svg", sp::data::matrix_svg(matrix));
  sp::data::save_text(folder + "/grid.svg", sp::data::image_grid_svg(images, {.scale = 2}));
}

void write_sound(const std::string& folder) {
  sp::data::save_wav(folder + "/sound.wav", {values(sp::float32, {60, 2}) / 8.0f, 8000});
}

}  // namespace

extern "C" {

/// Writes all files into a folder. 0, or 1 after a message on standard error.
int spruce_write(const char* folder) {
  try {
    write_arrays(folder);
    write_logs(folder);
    write_pictures(folder);
    write_sound(folder);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

/// The array of a dtype and a shape, by their numbers above, as DLManagedTensorVersioned* or, for
/// `versioned` 0, as DLManagedTensor*, which the caller takes over. Null beyond the last.
void* spruce_dlpack(int dtype, int shape, int versioned) {
  if (dtype >= static_cast<int>(std::size(kDtypes)) ||
      shape >= static_cast<int>(std::size(kShapes)))
    return nullptr;
  const Array x = values(kDtypes[dtype], kShapes[shape]);
  if (versioned != 0) return sp::to_dlpack(x).release();
  return sp::to_dlpack_unversioned(x).release();
}

/// How many bytes of arrays are alive: 0 when all that was handed out has been let go.
long long spruce_live_bytes() { return sp::memory::live_bytes(); }
}
