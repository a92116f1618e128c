// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/driver/compile.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "spruce/core/error.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

namespace fs = std::filesystem;

// What follows from each operation's rounding alone: sums are contracted where a text says fmaf.
constexpr const char* kNoContraction = "--fmad=false";
constexpr const char* kStandard = "--std=c++17";

const std::string& cache_folder() {
  static const auto& folder = *new std::string([] {
    if (const char* named = std::getenv("SPRUCE_CUDA_CACHE")) return std::string(named);
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0)
      return std::string(cache) + "/spruce/cuda";
    const char* home = std::getenv("HOME");
    return home == nullptr ? std::string() : std::string(home) + "/.cache/spruce/cuda";
  }());
  return folder;
}

// Two passes of FNV-1a with different starts: 128 bits.
std::string key(const std::string& text, int architecture) {
  int major = 0, minor = 0;
  check(nvrtc().nvrtcVersion(&major, &minor), "nvrtcVersion");
  const std::string settings = std::to_string(architecture) + "." + std::to_string(major) + "." +
                               std::to_string(minor) + kNoContraction + kStandard;
  std::array<uint64_t, 2> h = {0xcbf29ce484222325u, 0x9e3779b97f4a7c15u};
  for (const std::string* part : {&settings, &text}) {
    for (const char c : *part) {
      for (uint64_t& each : h) each = (each ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      h[1] = h[1] << 9 | h[1] >> 55;
    }
  }
  std::array<char, 33> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx%016llx", static_cast<unsigned long long>(h[0]),
                static_cast<unsigned long long>(h[1]));
  return hex.data();
}

// A file holds the text before the binary, so that two texts of one key cannot be mistaken.
std::optional<std::string> kept(const fs::path& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string all{std::istreambuf_iterator<char>(in), {}};
  if (all.size() <= text.size() + 1 || all.compare(0, text.size(), text) != 0) return std::nullopt;
  return all.substr(text.size() + 1);
}

// Whole or not at all; a cache that cannot be written is none.
void keep(const fs::path& path, const std::string& text, const std::string& binary) {
  static std::atomic<int> next{0};
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path own =
      path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(next++);
  {
    std::ofstream out(own, std::ios::binary);
    out << text << '\0' << binary;
    if (!out.flush()) {
      fs::remove(own, failed);
      return;
    }
  }
  fs::rename(own, path, failed);
}

std::string compile_now(const std::string& text, int architecture) {
  const NvrtcTable& n = nvrtc();
  nvrtcProgram program = nullptr;
  check(n.nvrtcCreateProgram(&program, text.c_str(), "spruce.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  struct Destroy {
    nvrtcProgram* program;
    ~Destroy() { nvrtc().nvrtcDestroyProgram(program); }
  } const destroy{&program};
  const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
  const std::array<const char*, 3> options = {target.c_str(), kNoContraction, kStandard};
  const nvrtcResult result =
      n.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS) {
    size_t bytes = 0;
    n.nvrtcGetProgramLogSize(program, &bytes);
    std::string log(bytes, '\0');
    if (bytes > 0) n.nvrtcGetProgramLog(program, log.data());
    throw DeviceError("cuda: a kernel does not compile for sm_" + std::to_string(architecture) +
                      ": " + n.nvrtcGetErrorString(result) + "\n" + log.c_str());
  }
  size_t bytes = 0;
  check(n.nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
  std::string binary(bytes, '\0');
  check(n.nvrtcGetCUBIN(program, binary.data()), "nvrtcGetCUBIN");
  return binary;
}

}  // namespace

std::string compile(const std::string& text, int architecture) {
  if (cache_folder().empty()) return compile_now(text, architecture);
  const fs::path path = fs::path(cache_folder()) / (key(text, architecture) + ".cubin");
  if (std::optional<std::string> found = kept(path, text)) return *std::move(found);
  std::string binary = compile_now(text, architecture);
  keep(path, text, binary);
  return binary;
}

}  // namespace spruce::cuda
