// SPDX-License-Identifier: Apache-2.0
// Each mistake throws its error with its whole message, and the program goes on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <typeinfo>

#include "page.h"
#include "spruce/core/empty_array_error.h"
#include "spruce/core/interpreter.h"

namespace sp = spruce;

namespace mistakes_test {

const char* type_name(const sp::Error& e) {
  const std::pair<const std::type_info*, const char*> types[] = {
      {&typeid(sp::ShapeError), "ShapeError"},
      {&typeid(sp::DtypeError), "DtypeError"},
      {&typeid(sp::IndexError), "IndexError"},
      {&typeid(sp::ValueError), "ValueError"},
      {&typeid(sp::internal::EmptyArrayError), "ValueError"},
      {&typeid(sp::TreeError), "TreeError"},
      {&typeid(sp::TracerError), "TracerError"},
      {&typeid(sp::DerivativeError), "DerivativeError"},
      {&typeid(sp::GraphError), "GraphError"},
      {&typeid(sp::IoError), "IoError"},
      {&typeid(sp::DeviceError), "DeviceError"},
      {&typeid(sp::CheckError), "CheckError"}};
  for (const auto& [type, name] : types) {
    if (*type == typeid(e)) return name;
  }
  return "Error";
}

// A place in `file` at the end becomes HERE or WITHIN; places from a graph name the file without
// its folder.
std::string without_line(const std::string& message, const std::string& file) {
  for (const auto& [words, mark] :
       {std::pair{"\n  at ", HERE}, {"\n  in the function given at ", WITHIN}}) {
    for (const std::string& name : {file, file.substr(file.rfind('/') + 1)}) {
      const std::string place = words + name + ":";
      const size_t at = message.rfind(place), digits = at + place.size();
      if (at == std::string::npos || digits == message.size()) continue;
      if (message.find_first_not_of("0123456789", digits) == std::string::npos)
        return message.substr(0, at) + mark;
    }
  }
  return message;
}

struct Thrown {
  std::string error = "nothing";
  std::string message;
};

Thrown run(const Code& code, const std::string& file) {
  Thrown thrown;
  try {
    code.run();
  } catch (const sp::Error& e) {
    thrown = {type_name(e), without_line(e.what(), file)};
  } catch (const std::exception& e) {
    thrown = {"another exception", e.what()};
  }
  return thrown;
}

TEST(Mistakes, ThrowTheirMessageAndTheProgramGoesOn) {
  // Some of them write files, under names that the page shows.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  size_t count = 0;
  for (const Section& section : all_sections()) {
    for (const Mistake& m : section.mistakes) {
      SCOPED_TRACE(std::string(section.title) + ": " + m.what + "\n" + m.wrong.text);
      const Thrown wrong = run(m.wrong, section.file);
      EXPECT_EQ(wrong.error, m.error);
      EXPECT_EQ(wrong.message, m.message);
      if (std::getenv("SPRUCE_SHOW_ERRORS") != nullptr) {
        std::cout << "@@" << m.what << "\n@" << wrong.error << "\n" << wrong.message << "\n@end\n";
      }
      EXPECT_EQ(sp::Interpreter::current(), nullptr) << "a transform is still running";
      EXPECT_EQ(sp::LocScope::current().file(), nullptr) << "a place is still set";
      const Thrown right = run(m.right, section.file);
      EXPECT_EQ(right.error, "nothing") << right.message;
      ++count;
    }
  }
  std::filesystem::current_path(before);
  EXPECT_GE(count, 140u);
  RecordProperty("mistakes", static_cast<int>(count));
}

TEST(Mistakes, EveryErrorTypeHasOne) {
  std::set<std::string> types;
  for (const Section& section : all_sections()) {
    for (const Mistake& m : section.mistakes) types.insert(m.error);
  }
  EXPECT_EQ(types, (std::set<std::string>{"CheckError", "DerivativeError", "DeviceError",
                                          "DtypeError", "GraphError", "IndexError", "IoError",
                                          "ShapeError", "TracerError", "TreeError", "ValueError"}));
}

TEST(Mistakes, NameTheOperation) {
  for (const Section& section : all_sections()) {
    for (const Mistake& m : section.mistakes) {
      const std::string message = m.message;
      const size_t colon = message.find(": ");
      ASSERT_NE(colon, std::string::npos) << message;
      EXPECT_EQ(message.substr(0, colon).find('\n'), std::string::npos) << message;
    }
  }
}

TEST(Mistakes, PageIsCurrent) {
  const std::string path = std::string(SPRUCE_SOURCE_DIR) + "/docs/errors.md";
  const std::string page = errors_page();
  if (std::getenv("SPRUCE_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  std::ostringstream current;
  current << std::ifstream(path).rdbuf();
  EXPECT_EQ(current.str(), page)
      << "write it anew: SPRUCE_UPDATE_DOCS=1 errors_tests --gtest_filter=Mistakes.PageIsCurrent";
}

}  // namespace mistakes_test
