// SPDX-License-Identifier: Apache-2.0
#include "page.h"

namespace {

// One line a statement: the preprocessor has joined the lines of the source.
std::string laid_out(const std::string& code) {
  std::string out;
  int depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    depth += (c == '(' || c == '{') - (c == ')' || c == '}');
    out += c;
    if (c == ';' && depth == 0 && i + 1 < code.size() && code[i + 1] == ' ') {
      out += '\n';
      ++i;
    }
  }
  return out + ";";
}

constexpr const char* kIntroduction = R"(# Errors

What users get wrong, and what the library says. This page is made from the table in
[tests/errors](../tests/errors), which a test runs: each piece of code throws the error that stands
under it, to the letter, and after each the program goes on. `SPRUCE_UPDATE_DOCS=1
errors_tests --gtest_filter=Mistakes.PageIsCurrent` writes the page.

All errors derive from `spruce::Error`, a `std::runtime_error`. A message names the operation, the
arguments as `f32[2,3]`, and the next step; a star, `f32*[]`, marks a C++ number; where the user's line is known, it is the last line of the
message. Where a function that a transform, a loop or the like runs fails and knows no line of its own,
as `if (x > 0)` does not, the last line is that of the transform: "in the function given at main.cc:1".
Nothing is left half-changed: arguments are what they were.

| error | what |
| --- | --- |
| `ShapeError` | shapes, ranks or axes that do not fit |
| `DtypeError` | a dtype that the operation does not take |
| `IndexError` | an index or a slice outside of its axis |
| `ValueError` | an argument whose value is not allowed |
| `TreeError` | trees whose forms differ, or a tree that lacks a leaf |
| `TracerError` | a traced value where a known one is due, or outside of its function |
| `DerivativeError` | a derivative that does not exist |
| `GraphError` | a graph that is not well formed, or text that is no graph |
| `IoError` | a file that cannot be read or written, or does not hold what it says |
| `DeviceError` | arrays on devices that do not fit |
| `CheckError` | a condition of `check()` that does not hold |

With `SPRUCE_DEBUG_NANS=1` in the environment, or after `sp::set_debug_nans(true)`, each result is
checked, and the operation that makes the first NaN throws `ValueError`.

In the code below `sp` is `spruce`, `nn` is `spruce::nn`, `optim` is `spruce::optim` and `data` is
`spruce::data`; `table(rows)` is a `CsvTable` with one column `x`; `square_sum(x)` is `sum(x * x)`, `sum_of_products(a, b)` is
`sum(a * b)`, `again(x)` is `jit(again)(x - 1)`, `layers(n)` a vector of `n` layers `nn::Linear` from 2 to 2 features, and `Net` a module
with one layer `out`, an `nn::Linear` from 4 to 2. A `Checkpoint` has an array `weight` and an `int64_t
epoch`; `write_checkpoint` saves one with `f32[2]` and the epoch 7. `Pair` has the arrays `w` and `b`,
`Single` only `w`. Each mistake is followed by the same thing done
right.
)";

}  // namespace

std::vector<Section> all_sections() {
  return {array_mistakes(),     empty_mistakes(),  axis_mistakes(),      product_mistakes(),
          linalg_mistakes(),    index_mistakes(),  transform_mistakes(), derivative_mistakes(),
          loop_mistakes(),      tracer_mistakes(), debugging_mistakes(), tree_mistakes(),
          random_mistakes(),    layer_mistakes(),  loss_mistakes(),      module_mistakes(),
          optimizer_mistakes(), file_mistakes(),   tree_file_mistakes(), data_mistakes(),
          machine_mistakes()};
}

std::string errors_page() {
  std::string page = kIntroduction;
  for (const Section& section : all_sections()) {
    page += std::string("\n## ") + section.title + "\n";
    for (const Mistake& m : section.mistakes) {
      page += std::string("\n### ") + m.what + "\n\n```c++\n" + laid_out(m.wrong.text) +
              "\n```\n```text\n" + m.error + ": " + m.message + "\n```\n```c++\n" +
              laid_out(m.right.text) + "\n```\n";
    }
  }
  return page;
}
