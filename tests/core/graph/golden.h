// SPDX-License-Identifier: Apache-2.0
// Texts that stand as files beside the tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace spruce {

/// The text of tests/<name>. With SPRUCE_UPDATE_DOCS set, `got` is written there first.
inline std::string golden(const std::string& name, const std::string& got) {
  const std::string path = std::string(SPRUCE_SOURCE_DIR) + "/tests/" + name;
  if (std::getenv("SPRUCE_UPDATE_DOCS") != nullptr) std::ofstream(path) << got;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace spruce
