// SPDX-License-Identifier: Apache-2.0
// docs/primitives.md is what the registry says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "spruce/core/primitive.h"

namespace spruce {
namespace primitives_page_test {

constexpr const char* kIntroduction = R"(# Primitives

The operations that all others are made of; one file each in a folder of [core/primitives](../core/primitives).
This table is made from the registry by `SPRUCE_UPDATE_DOCS=1 pages_tests`, and a test
checks that it is current.

- **jvp**: how it is differentiated in forward mode: by a rule, or by differentiating its slow form
  (`expand`). Reverse mode follows from it.
- **transpose**: whether it is linear in some input, so that reverse mode can run it backwards.
- **vmap**: how it is mapped: by a rule, or by mapping its slow form.
- **runs as**: a kernel, or a call of public operations.
- **in place**: whether its result may take the memory of an input.
)";

const char* rule(bool own, bool expand) { return own ? "rule" : expand ? "expand" : ""; }

std::string page() {
  std::ostringstream out;
  const auto all = all_primitives();
  const auto count = [&](auto has) {
    return std::count_if(all.begin(), all.end(), [&](const Primitive* p) { return has(*p); });
  };
  out << kIntroduction << "\nThere are " << all.size() << ": "
      << count([](const Primitive& p) { return p.kind == PrimitiveKind::kElementwise; })
      << " elementwise ones, "
      << count([](const Primitive& p) { return p.kind == PrimitiveKind::kReduction; })
      << " reductions, " << count([](const Primitive& p) { return p.transpose != nullptr; })
      << " that are linear in some input.\n"
      << "\n| primitive | jvp | transpose | vmap | runs as | in place |\n| --- | --- | --- | --- | "
         "--- | --- |\n";
  for (const Primitive* p : all) {
    out << "| `" << p->name << "` | " << rule(p->jvp != nullptr, p->expand != nullptr) << " | "
        << (p->transpose != nullptr ? "rule" : "") << " | "
        << rule(p->batch != nullptr, p->expand != nullptr) << " | "
        << (p->cpu != nullptr    ? "kernel"
            : p->call != nullptr ? "call"
                                 : "")
        << " | " << (p->in_place ? "yes" : "") << " |\n";
  }
  return out.str();
}

TEST(PrimitivesPage, IsCurrent) {
  const std::string path = std::string(SPRUCE_SOURCE_DIR) + "/docs/primitives.md";
  const std::string wanted = page();
  if (std::getenv("SPRUCE_UPDATE_DOCS") != nullptr) std::ofstream(path) << wanted;
  std::ostringstream current;
  current << std::ifstream(path).rdbuf();
  EXPECT_EQ(current.str(), wanted) << "write it anew: SPRUCE_UPDATE_DOCS=1 pages_tests";
}

}  // namespace primitives_page_test
}  // namespace spruce
