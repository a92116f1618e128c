// SPDX-License-Identifier: Apache-2.0
// Compiles texts of kernels for a GPU that is not here, into the folder that SPRUCE_CUDA_CACHE
// names.
//   fill_cache <architecture, as 90> <file with a path of a text in each line>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "spruce/core/error.h"
#include "spruce/cuda/driver/compile.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::getenv("SPRUCE_CUDA_CACHE") == nullptr) {
    std::cerr << "usage: SPRUCE_CUDA_CACHE=folder fill_cache <architecture> <list of texts>\n";
    return 2;
  }
  const int architecture = std::atoi(argv[1]);
  std::ifstream list(argv[2]);
  std::set<std::string> distinct;
  for (std::string line; std::getline(list, line);) distinct.insert(line);
  const std::vector<std::string> paths(distinct.begin(), distinct.end());
  std::atomic<size_t> next{0}, failed{0};
  const auto work = [&] {
    for (size_t i = next++; i < paths.size(); i = next++) {
      try {
        std::ifstream in(paths[i], std::ios::binary);
        (void)spruce::cuda::compile({std::istreambuf_iterator<char>(in), {}}, architecture);
      } catch (const spruce::Error& e) {
        if (failed++ == 0) std::cerr << paths[i] << ": " << e.what() << "\n";
      }
    }
  };
  std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (std::thread& t : threads) t = std::thread(work);
  for (std::thread& t : threads) t.join();
  std::cout << paths.size() << " texts, " << failed << " failed\n";
  return failed > 0 || paths.empty() ? 1 : 0;
}
