// SPDX-License-Identifier: Apache-2.0
// A fuzzer that any compiler can build: changes inputs of the corpus at random, from a seed, and
// keeps those that still hold a function as a start for others.
//
//   fuzz_graph [--seconds 10] [--inputs N] [--seed 1] [--keep FILE] [--write-corpus FOLDER]
//              [INPUT ...]
//
// With inputs it runs these and ends; otherwise N at most. The input that is being run stands in
// FILE (of the current folder: fuzz_input), so that it is there after a crash.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "spruce/core/primitive.h"
#include "tests/fuzz/target.h"

namespace spruce::fuzz {
namespace {

constexpr size_t kMost = 1 << 16;  // bytes of an input

/// A file that always holds the input that is being run.
class Keeper {
 public:
  explicit Keeper(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || ::ftruncate(file, kMost) != 0) return;
    void* p = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p != MAP_FAILED) place_ = static_cast<char*>(p);
    ::close(file);
  }
  void keep(const std::string& input) {
    if (place_ == nullptr) return;
    std::memcpy(place_, input.data(), input.size());
    std::memset(place_ + input.size(), 0, kMost - input.size());
  }

 private:
  char* place_ = nullptr;
};

class Mutator {
 public:
  Mutator(uint64_t seed, const std::vector<std::string>& corpus) : random_(seed), corpus_(corpus) {}

  std::string next() {
    std::string s = corpus_[below(corpus_.size())];
    for (size_t n = 1 + below(5); n > 0; --n) change(s);
    if (s.size() > kMost) s.resize(kMost);
    return s;
  }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

 private:
  void change(std::string& s) {
    if (s.size() < 2) {
      s = "t";
      return;
    }
    const size_t at = 1 + below(s.size() - 1);
    switch (below(10)) {
      case 0:
        s[at] = static_cast<char>(s[at] ^ (1 << below(8)));
        return;
      case 1:
        s.erase(at, 1 + below(8));
        return;
      case 2:
        s.insert(at, s.substr(1 + below(s.size() - 1), below(20)));
        return;
      case 3: {
        const std::string& other = corpus_[below(corpus_.size())];
        const size_t from = below(other.size());
        s.insert(at, other.substr(from, 1 + below(40)));
        return;
      }
      case 4: {  // a line twice, or gone
        const size_t begin = s.find('\n', at);
        const size_t end = begin == std::string::npos ? begin : s.find('\n', begin + 1);
        if (end == std::string::npos) return;
        if (below(2) == 0)
          s.erase(begin, end - begin);
        else
          s.insert(begin, s.substr(begin, end - begin));
        return;
      }
      case 5:
        replace_word(s, at, all_primitives()[below(all_primitives().size())]->name);
        return;
      case 6: {
        static constexpr const char* kTypes[] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                                 "u32",  "u64", "f16", "bf16", "f32", "f64"};
        const size_t type = s.find_first_of("fiub", at);
        if (type != std::string::npos) replace_word(s, type, kTypes[below(13)]);
        return;
      }
      default: {  // a number
        static constexpr const char* kNumbers[] = {"0",
                                                   "1",
                                                   "-1",
                                                   "2",
                                                   "3",
                                                   "7",
                                                   "8",
                                                   "9",
                                                   "10",
                                                   "64",
                                                   "-2",
                                                   "-9",
                                                   "100",
                                                   "65536",
                                                   "1e30",
                                                   "2147483648",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "1000000000000",
                                                   "nan"};
        const size_t digit = s.find_first_of("0123456789", at);
        if (digit == std::string::npos) return;
        const size_t end = std::min(s.find_first_not_of("0123456789", digit), s.size());
        s.replace(digit, end - digit, kNumbers[below(std::size(kNumbers))]);
        return;
      }
    }
  }
  static void replace_word(std::string& s, size_t at, const std::string& by) {
    const char* kWord = "abcdefghijklmnopqrstuvwxyz_0123456789";
    size_t begin = at;
    while (begin > 1 && std::strchr(kWord, s[begin - 1]) != nullptr && s[begin - 1] != '\0')
      --begin;
    const size_t end = std::min(s.find_first_not_of(kWord, begin), s.size());
    s.replace(begin, end - begin, by);
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& corpus_;
};

int fuzz(double seconds, uint64_t most, uint64_t seed, const std::string& keep) {
  std::vector<std::string> inputs = corpus();
  Keeper keeper(keep);
  const auto one = [&](const std::string& input) {
    keeper.keep(input);
    return run(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  };
  for (const std::string& input : inputs) {
    if (one(input)) continue;
    std::fprintf(stderr, "fuzz: an input of the corpus is refused:\n%s\n", input.c_str());
    return 1;
  }
  const size_t own = inputs.size();
  Mutator mutator(seed, inputs);
  const auto begin = std::chrono::steady_clock::now();
  uint64_t runs = 0, taken = 0;
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (; runs < most && passed() < seconds; ++runs) {
    const std::string input = mutator.next();
    if (!one(input)) continue;
    ++taken;
    // The newer half of what is kept makes room.
    if (inputs.size() < 2 * own)
      inputs.push_back(input);
    else
      inputs[own + mutator.below(own)] = input;
  }
  std::printf("seed %llu: %llu inputs in %.0f s, %llu of them held a function, %zu in the corpus\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(runs),
              passed(), static_cast<unsigned long long>(taken), own);
  return 0;
}

}  // namespace
}  // namespace spruce::fuzz

int main(int argc, char** argv) {
  double seconds = 10;
  uint64_t seed = 1, most = UINT64_MAX;
  std::string keep = "fuzz_input", folder;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--seconds" && more)
      seconds = std::stod(argv[++i]);
    else if (word == "--inputs" && more)
      most = std::stoull(argv[++i]);
    else if (word == "--seed" && more)
      seed = std::stoull(argv[++i]);
    else if (word == "--keep" && more)
      keep = argv[++i];
    else if (word == "--write-corpus" && more)
      folder = argv[++i];
    else
      files.push_back(word);
  }
  if (!folder.empty()) {
    size_t n = 0;
    for (const std::string& input : spruce::fuzz::corpus())
      std::ofstream(folder + "/" + std::to_string(n++), std::ios::binary) << input;
    return 0;
  }
  for (const std::string& path : files) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    std::string input = text.str();
    while (!input.empty() && input[0] == 't' && input.back() == '\0') input.pop_back();
    const bool held =
        spruce::fuzz::run(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    std::printf("%s: %s\n", path.c_str(), held ? "holds a function" : "refused");
  }
  return files.empty() ? spruce::fuzz::fuzz(seconds, most, seed, keep) : 0;
}
