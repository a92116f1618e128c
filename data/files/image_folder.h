// SPDX-License-Identifier: Apache-2.0
// Sets of labelled pictures: folders of files, and the binary files of CIFAR.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spruce/data/files/image.h"

namespace spruce::data {

/// Pictures and what they show; a tree.
struct LabelledImages {
  Array images;  ///< u8[n, height, width, channels], or what a transform made of that
  Array labels;  ///< i32[n]
};

/// Options of image_folder.
struct ImageFolderOptions {
  int channels = 3;  ///< see LoadImageOptions
  /// Done to each picture, u8[height, width, channels], when it is loaded: crops, for example, that
  /// give pictures of different sizes one size. Without it the picture is taken as it is.
  std::function<Array(const Array&)> transform{};
};

/// Pictures in folders named by what they show: root/cat/1.png, root/dog/7.jpg. It holds the names
/// of the files; pictures are read when they are asked for, so the set may be larger than memory.
struct ImageFolder {
  std::vector<std::string> paths;    ///< of the files, by class and then by name
  std::vector<int32_t> labels;       ///< of each file: a place in `classes`
  std::vector<std::string> classes;  ///< the names of the folders, in the order of their bytes
  ImageFolderOptions options{};      ///< how files are loaded

  /// How many pictures there are.
  int64_t size() const { return static_cast<int64_t>(paths.size()); }
  /// The pictures with those numbers, read from their files: what batches_by() calls. Throws
  /// IndexError for numbers that are not there, ShapeError where pictures differ in size, and as
  /// load_image().
  LabelledImages load(std::span<const int64_t> indices, Loc loc = Loc::current()) const;
};

/// The pictures (.png, .jpg, .jpeg, in any case) in the folders of `root`; other files are left
/// out, and so is what lies deeper. Throws IoError if the folder cannot be read or there is no
/// picture.
ImageFolder image_folder(const std::string& root, const ImageFolderOptions& options = {},
                         Loc loc = Loc::current());

/// CIFAR-10 from its binary files (data_batch_1.bin, ...), one after the other: u8[n,32,32,3] and
/// labels 0 .. 9. Throws IoError for a file that is cut short or has other labels.
LabelledImages load_cifar10(const std::vector<std::string>& paths, Loc loc = Loc::current());

/// CIFAR-100; a tree.
struct Cifar100 {
  Array images;  ///< u8[n,32,32,3]
  Array labels;  ///< i32[n]: 0 .. 99
  Array coarse;  ///< i32[n]: the group that the label belongs to, 0 .. 19
};
/// CIFAR-100 from a binary file (train.bin, test.bin). Throws as load_cifar10().
Cifar100 load_cifar100(const std::string& path, Loc loc = Loc::current());

}  // namespace spruce::data
