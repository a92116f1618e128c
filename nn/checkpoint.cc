// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/checkpoint.h"

namespace spruce::nn {
namespace {

bool is_torch(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(".pth") || path.ends_with(".bin");
}

}  // namespace

NamedArrays load_checkpoint(const std::string& path, Loc loc) {
  if (is_torch(path)) return load_torch(path, loc);
  return path.ends_with(".npz") ? io::load_npz(path, loc) : io::load_safetensors(path, loc);
}

void save_checkpoint(const std::string& path, const NamedArrays& arrays, Loc loc) {
  if (is_torch(path)) return save_torch(path, arrays, loc);
  if (path.ends_with(".npz")) return io::save_npz(path, arrays, loc);
  io::save_safetensors(path, arrays, {}, loc);
}

}  // namespace spruce::nn
