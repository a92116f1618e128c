// SPDX-License-Identifier: Apache-2.0
// The table of docs/optimizer_names.md: every name of Optax and torch.optim has a row, and what a
// row calls ours stands in a public header.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace spruce::optim {
namespace names_test {

const std::filesystem::path kRoot = SPRUCE_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The public headers without comments and string literals.
std::string declarations() {
  static const std::regex aside(R"(//[^\n]*|"(\\.|[^"\\\n])*")");
  std::string all;
  for (const char* part : {"optim", "nn", "core", "transforms"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / part)) {
      if (entry.path().extension() != ".h") continue;
      std::istringstream lines(text_of(entry.path()));
      for (std::string line; std::getline(lines, line);)
        all += std::regex_replace(line, aside, "") + "\n";
    }
  }
  return all;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether `name` is declared: a whole word in front of ( { < ; or =.
bool declares(const std::string& headers, const std::string& name) {
  for (size_t at = headers.find(name); at != std::string::npos; at = headers.find(name, at + 1)) {
    if (at > 0 && is_name(headers[at - 1])) continue;
    size_t behind = at + name.size();
    while (headers[behind] == ' ') ++behind;
    if (std::string("({<;=:").find(headers[behind]) != std::string::npos) return true;
  }
  return false;
}

// The names in the code spans of a cell: up to the first character that is in no name.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> out;
  for (size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
    const size_t end = cell.find('`', at + 1);
    if (end == std::string::npos) break;
    size_t stop = at + 1;
    while (is_name(cell[stop])) ++stop;
    out.push_back(cell.substr(at + 1, stop - at - 1));
    at = end + 1;
  }
  return out;
}

struct Row {
  std::string theirs, ours;
};

std::vector<Row> rows() {
  std::vector<Row> out;
  std::istringstream page(text_of(kRoot / "docs" / "optimizer_names.md"));
  for (std::string line; std::getline(page, line);) {
    const size_t middle = line.find(" | ");
    if (!line.starts_with("| `") || middle == std::string::npos) continue;
    out.push_back({line.substr(0, middle), line.substr(middle + 3)});
  }
  return out;
}

TEST(OptimizerNames, EveryNameOfOptaxAndTorchHasARow) {
  std::map<std::string, int> listed;
  for (const Row& row : rows()) {
    for (const std::string& name : names_in(row.theirs)) ++listed[name];
  }
  std::istringstream known(text_of(kRoot / "tests" / "optim" / "names.txt"));
  size_t count = 0;
  std::map<std::string, int> unknown = listed;
  for (std::string line; std::getline(known, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string name = line.substr(line.rfind('.') + 1);
    EXPECT_EQ(listed[name], 1) << line << " in docs/optimizer_names.md";
    unknown.erase(name);
    ++count;
  }
  EXPECT_GE(count, 240u);
  for (const auto& [name, times] : unknown)
    ADD_FAILURE() << name << " is no name of names.txt, " << times;
}

TEST(OptimizerNames, OursStandInPublicHeaders) {
  const std::string headers = declarations();
  size_t with = 0, without = 0;
  for (const Row& row : rows()) {
    const std::vector<std::string> theirs = names_in(row.theirs);
    if (row.ours.starts_with("none: ")) {
      EXPECT_GT(row.ours.size(), 20u) << row.theirs << ": a reason";
      without += theirs.size();
      continue;
    }
    with += theirs.size();
    if (row.ours.starts_with("the same")) {
      for (const std::string& name : theirs) EXPECT_TRUE(declares(headers, name)) << name;
      continue;
    }
    ASSERT_TRUE(row.ours.starts_with('`')) << row.theirs << ": a name of ours, or none: and why";
    EXPECT_TRUE(declares(headers, names_in(row.ours).at(0))) << row.theirs << row.ours;
  }
  EXPECT_GE(with, 10 * without) << with << " names are there, " << without << " are not";
  EXPECT_FALSE(declares(headers, "split_real_and_imaginary"));
}

}  // namespace names_test
}  // namespace spruce::optim
