// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/image_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "spruce/core/io/path.h"
#include "spruce/core/op_scope.h"
#include "spruce/data/rows.h"

namespace spruce::data {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) out.push_back(entry);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

ImageFolder image_folder(const std::string& root, const ImageFolderOptions& options, Loc loc) {
  const OpScope at("image_folder", loc);
  io::internal::check_path("image_folder", root);
  ImageFolder out;
  out.options = options;
  try {
    for (const fs::path& folder : sorted_entries(root)) {
      if (!fs::is_directory(folder)) continue;
      const auto label = static_cast<int32_t>(out.classes.size());
      out.classes.push_back(folder.filename().string());
      for (const fs::path& file : sorted_entries(folder)) {
        if (!is_picture(file) || !fs::is_regular_file(file)) continue;
        out.paths.push_back(file.string());
        out.labels.push_back(label);
      }
    }
  } catch (const fs::filesystem_error& e) {
    throw IoError("image_folder: " + root + ": cannot be read: " + e.code().message());
  }
  if (out.paths.empty()) {
    throw IoError("image_folder: " + root +
                  ": no pictures; they have to lie in folders named by what they show, as in " +
                  root + "/cat/1.png");
  }
  return out;
}

LabelledImages ImageFolder::load(std::span<const int64_t> indices, Loc loc) const {
  const OpScope at("ImageFolder::load", loc);
  std::vector<Array> images;
  std::vector<int32_t> chosen;
  for (const int64_t i : indices) {
    if (i < 0 || i >= size()) {
      throw IndexError("ImageFolder::load: there is no picture " + std::to_string(i) +
                       "; the folder has " + std::to_string(size()));
    }
    const auto k = static_cast<size_t>(i);
    Array image = load_image(paths[k], {.channels = options.channels});
    if (options.transform) image = options.transform(image);
    if (!images.empty() && !(image.shape() == images[0].shape())) {
      throw ShapeError("ImageFolder::load: " + paths[k] + " is " + to_string(image.aval()) +
                       " and " + paths[static_cast<size_t>(indices[0])] + " is " +
                       to_string(images[0].aval()) +
                       "; give them one size by .transform, by a crop for example");
    }
    images.push_back(std::move(image));
    chosen.push_back(labels[k]);
  }
  if (images.empty()) throw ValueError("ImageFolder::load: no numbers of pictures are given");
  return {internal::stacked("ImageFolder::load", "the picture", images), array(chosen)};
}

}  // namespace spruce::data
