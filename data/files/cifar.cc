// SPDX-License-Identifier: Apache-2.0
// CIFAR's binary files: for each picture its labels, one byte each, then 32 x 32 bytes of red, of
// green and of blue.
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"
#include "spruce/data/files/image_folder.h"

namespace spruce::data {
namespace {

constexpr uint64_t kSide = 32, kPlane = kSide * kSide, kColours = 3;

// Appends what a file holds; labels[k] are those of byte k, which has to be below classes[k].
void append(const io::internal::Source& source, std::span<const int> classes,
            std::vector<uint8_t>& pixels, std::vector<std::vector<int32_t>>& labels) {
  const uint64_t record = classes.size() + kColours * kPlane;
  if (source.size() == 0 || source.size() % record != 0) {
    source.fail(source.size(), "the file has " + std::to_string(source.size()) +
                                   " bytes, no multiple of " + std::to_string(record) +
                                   "; it is cut short or of another kind");
  }
  const std::vector<uint8_t> bytes = source.bytes(0, source.size(), "the pictures");
  for (uint64_t from = 0; from < bytes.size(); from += record) {
    for (size_t k = 0; k < classes.size(); ++k) {
      const uint8_t label = bytes[from + k];
      if (label >= classes[k]) {
        source.fail(from + k, "the label is " + std::to_string(label) + " and there are " +
                                  std::to_string(classes[k]) + " classes");
      }
      labels[k].push_back(label);
    }
    const uint8_t* planes = bytes.data() + from + classes.size();
    for (uint64_t p = 0; p < kPlane; ++p) {
      for (uint64_t c = 0; c < kColours; ++c) pixels.push_back(planes[c * kPlane + p]);
    }
  }
}

Array images_of(const std::vector<uint8_t>& pixels, size_t count) {
  return array(pixels, {static_cast<int64_t>(count), kSide, kSide, kColours});
}

}  // namespace

LabelledImages load_cifar10(const std::vector<std::string>& paths, Loc loc) {
  const OpScope at("load_cifar10", loc);
  if (paths.empty()) throw ValueError("load_cifar10: no files are given");
  constexpr int kClasses[] = {10};
  std::vector<uint8_t> pixels;
  std::vector<std::vector<int32_t>> labels(1);
  for (const std::string& path : paths)
    append(io::internal::FileSource("load_cifar10", path), kClasses, pixels, labels);
  return {images_of(pixels, labels[0].size()), array(labels[0])};
}

Cifar100 load_cifar100(const std::string& path, Loc loc) {
  const OpScope at("load_cifar100", loc);
  constexpr int kClasses[] = {20, 100};  // the group comes first
  std::vector<uint8_t> pixels;
  std::vector<std::vector<int32_t>> labels(2);
  append(io::internal::FileSource("load_cifar100", path), kClasses, pixels, labels);
  return {images_of(pixels, labels[0].size()), array(labels[1]), array(labels[0])};
}

}  // namespace spruce::data
