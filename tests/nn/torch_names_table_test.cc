// SPDX-License-Identifier: Apache-2.0
// docs/torch_names.md: it has each name of PyTorch once, and what it says to be ours is there.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace torch_names_table_test {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::filesystem::path source(const std::string& path) {
  return std::filesystem::path(SPRUCE_SOURCE_DIR) / path;
}

// All words of the public headers.
std::set<std::string> words_of_headers() {
  std::set<std::string> words;
  for (const char* part : {"core", "transforms", "nn", "optim", "data", "cuda"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(source(part))) {
      if (file.path().extension() != ".h") continue;
      std::string word;
      for (const char c : text_of(file.path()) + " ") {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
          word += c;
        } else if (!word.empty()) {
          words.insert(std::move(word));
          word.clear();
        }
      }
    }
  }
  return words;
}

// What stands between backticks.
std::vector<std::string> code_in(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; (at = text.find('`', at)) != text.npos;) {
    const size_t end = text.find('`', at + 1);
    if (end == text.npos) break;
    out.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

struct Row {
  std::string section, name, ours;
};
std::vector<Row> rows_of_page() {
  std::vector<Row> rows;
  std::istringstream page(text_of(source("docs/torch_names.md")));
  std::string line, section;
  while (std::getline(page, line)) {
    if (line.starts_with("## ")) section = line.substr(3);
    const size_t middle = line.find("` | ");
    if (!line.starts_with("| `") || middle == line.npos) continue;
    rows.push_back({section, line.substr(3, middle - 3), line.substr(middle + 4)});
  }
  return rows;
}

const std::map<std::string, std::string> kSections = {
    {"class", "Classes"},
    {"function", "Functions"},
    {"init", "Initialisers"},
    {"method", "Methods of Module"},
    {"utility", "torch.nn.utils"},
    {"parametrization", "torch.nn.utils.parametrizations"},
    {"pruning", "torch.nn.utils.prune"},
    {"sequence", "torch.nn.utils.rnn"}};

TEST(TorchNames, AreEachInTheTableOnce) {
  std::multiset<std::string> wanted, found;
  std::istringstream names(text_of(source("tests/nn/torch_names.txt")));
  std::string kind, name;
  for (std::string line; std::getline(names, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream(line) >> kind >> name;
    wanted.insert(kSections.at(kind) + ": " + name);
  }
  for (const Row& row : rows_of_page()) found.insert(row.section + ": " + row.name);
  EXPECT_GT(wanted.size(), 350u);
  EXPECT_EQ(found, wanted);
}

TEST(TorchNames, OfOursStandInPublicHeaders) {
  const std::set<std::string> words = words_of_headers();
  double ours = 0, all = 0;
  for (const Row& row : rows_of_page()) {
    bool is_ours = false;
    for (const std::string& code : code_in(row.ours)) {
      bool named = false;
      for (const char* space : {"nn::", "sp::", "optim::", "data::"})
        named = named || code.starts_with(space);
      if (!named) continue;
      is_ours = true;
      std::string word;
      for (const char c : code + ":") {
        if (c != ':') {
          word += c;
          continue;
        }
        const bool space = word == "nn" || word == "sp" || word == "optim" || word == "data";
        EXPECT_TRUE(word.empty() || space || words.contains(word)) << row.name << " says " << code;
        word.clear();
      }
    }
    EXPECT_TRUE(is_ours || row.ours.size() > 12) << row.name << " has neither a name nor a reason";
    if (row.section.starts_with("torch.nn")) continue;
    all += 1;
    ours += is_ours ? 1 : 0;
  }
  // Of classes (losses among them), functions, initialisers and methods.
  EXPECT_GE(ours / all, 0.97) << ours << " of " << all;
}

}  // namespace torch_names_table_test
