// SPDX-License-Identifier: Apache-2.0
// Gives the texts of kernels that the emulator has compiled to the real NVRTC, and reads what ptxas
// says of registers and spills. A text is compiled for one of sm_80, sm_90 and sm_100, by turns, or
// with --all for each; what was found good is not compiled again. After --seconds it stops, and
// says how many texts are left for the next run.
//   check_texts [--all] [--seconds n] <folder>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/error.h"
#include "spruce/cuda/driver/tables.h"

namespace {

namespace fs = std::filesystem;
constexpr std::array<int, 3> kArchitectures = {80, 90, 100};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Compiled {
  bool good = false;
  std::string log;
};

Compiled compile(const std::string& text, int architecture) {
  const spruce::cuda::NvrtcTable& n = spruce::cuda::nvrtc();
  nvrtcProgram program = nullptr;
  n.nvrtcCreateProgram(&program, text.c_str(), "spruce.cu", 0, nullptr, nullptr);
  const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
  const std::array<const char*, 5> options = {target.c_str(), "--fmad=false", "--std=c++17",
                                              "--ptxas-options=-v", "-w"};
  Compiled out;
  out.good = n.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()) ==
             NVRTC_SUCCESS;
  size_t bytes = 0;
  n.nvrtcGetProgramLogSize(program, &bytes);
  out.log.resize(bytes);
  if (bytes > 0) n.nvrtcGetProgramLog(program, out.log.data());
  n.nvrtcDestroyProgram(&program);
  return out;
}

int most_of(const std::string& log, const std::regex& number) {
  int most = 0;
  for (std::sregex_iterator i(log.begin(), log.end(), number), end; i != end; ++i)
    most = std::max(most, std::stoi((*i)[1]));
  return most;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  bool all = false;
  int64_t seconds = 1'000'000'000;
  fs::path folder;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--all")
      all = true;
    else if (arguments[i] == "--seconds" && i + 1 < arguments.size())
      seconds = std::stoll(std::string(arguments[++i]));
    else
      folder = arguments[i];
  }
  if (folder.empty()) {
    std::cerr << "usage: check_texts [--all] [--seconds n] <folder>\n";
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    return std::chrono::steady_clock::now() - began > std::chrono::seconds(seconds);
  };
  const std::regex spills(R"((\d+) bytes spill stores)"), registers(R"(Used (\d+) registers)");
  size_t texts = 0, compiled = 0, failed = 0, left = 0;
  int most_registers = 0;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const fs::path& path = entry.path();
      // While it is compiled, a text has the number of the process in its name.
      if (path.extension() != ".cu" || path.stem().string().find('.') != std::string::npos)
        continue;
      const std::string text = read(path);
      for (size_t a = 0; a < kArchitectures.size(); ++a) {
        if (!all && static_cast<size_t>(path.stem().string().back()) % kArchitectures.size() != a)
          continue;
        const int architecture = kArchitectures[a];
        fs::path stamp = path;
        stamp.replace_extension(".sm_" + std::to_string(architecture));
        if (fs::exists(stamp)) continue;
        if (is_late()) {
          ++left;
          continue;
        }
        const Compiled c = compile(text, architecture);
        ++compiled;
        most_registers = std::max(most_registers, most_of(c.log, registers));
        const int spilled = most_of(c.log, spills);
        if (c.good && spilled == 0) {
          std::ofstream(stamp) << c.log.c_str();
          continue;
        }
        ++failed;
        std::cout << path.string() << " for sm_" << architecture << ": "
                  << (c.good ? std::to_string(spilled) + " bytes of spills" : c.log) << "\n";
      }
      ++texts;
    }
  } catch (const spruce::Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  std::cout << texts << " texts, " << compiled << " compiled now, " << failed << " failed, " << left
            << " left for the next run, at most " << most_registers << " registers\n";
  return failed > 0 || texts == 0 ? 1 : 0;
}
