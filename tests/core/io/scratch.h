// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, and bytes of files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "spruce/core/error.h"

namespace spruce::io {

class Scratch {
 public:
  Scratch() {
    std::string name = testing::TempDir() + "spruce-io-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name), std::ios::binary).rdbuf();
    return out.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      out.push_back(entry.path().filename());
    return out;
  }

 private:
  std::string folder_;
};

/// The message of the IoError that `f` throws.
inline std::string io_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const IoError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// A file in memory, whose bytes are soon changed.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("spruce-io", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("no file in memory");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// The path of the file, which now has these bytes.
  std::string with(const std::string& bytes) const {
    const auto n = static_cast<off_t>(bytes.size());
    if (ftruncate(file_, n) != 0 || pwrite(file_, bytes.data(), bytes.size(), 0) != n)
      throw std::runtime_error("no memory for a file");
    return "/proc/self/fd/" + std::to_string(file_);
  }

 private:
  int file_;
};

/// Calls `load` with the file cut short at every place, and with damaged bytes at every place: it
/// must load or throw IoError, and a file that is cut short or too long must not load. How often
/// damage was seen.
inline int damage(const std::string& good, const std::function<void(const std::string&)>& load) {
  const MemoryFile file;
  int seen = 0;
  const auto attempt = [&](const std::string& bytes) {
    try {
      load(file.with(bytes));
      return true;
    } catch (const IoError&) {
      ++seen;
      return false;
    }
  };
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(attempt(good.substr(0, n))) << "cut to " << n << " bytes";
  for (size_t i = 0; i < good.size(); ++i) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu, 0x15u}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
      attempt(bytes);
    }
  }
  EXPECT_FALSE(attempt(good + "x"));
  EXPECT_TRUE(attempt(good));
  return seen;
}

}  // namespace spruce::io
