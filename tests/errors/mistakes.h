// SPDX-License-Identifier: Apache-2.0
// What users get wrong: one table for the test and for docs/errors.md.
#pragma once

#include <spruce/spruce.h>

#include <vector>

/// Code as text and as a function.
struct Code {
  const char* text;
  void (*run)();
};
#define CODE(...)                     \
  Code {                              \
#__VA_ARGS__, [] { __VA_ARGS__; } \
  }

/// A message that ends in the user's line.
#define HERE "\n  at main.cc:1"
/// One that ends in the line of the transform or loop whose function was running.
#define WITHIN "\n  in the function given at main.cc:1"

/// A mistake, what the library says of it, and the same thing done right.
struct Mistake {
  const char* what;
  Code wrong;
  Code right;
  const char* error;    // the type
  const char* message;  // all of it; HERE and WITHIN stand for any line of the table's file
};

/// n layers from 2 to 2 features: a tree of several leaves.
using Layers = std::vector<spruce::nn::Linear>;
inline Layers layers(int n) {
  Layers out;
  for (int i = 0; i < n; ++i) out.push_back(spruce::nn::Linear::init(spruce::Key(i), 2, 2));
  return out;
}

struct Section {
  const char* title;
  const char* file;
  std::vector<Mistake> mistakes;
};

Section array_mistakes();
Section empty_mistakes();
Section axis_mistakes();
Section index_mistakes();
Section product_mistakes();
Section linalg_mistakes();
Section transform_mistakes();
Section derivative_mistakes();
Section loop_mistakes();
Section tracer_mistakes();
Section debugging_mistakes();
Section tree_mistakes();
Section random_mistakes();
Section layer_mistakes();
Section loss_mistakes();
Section module_mistakes();
Section optimizer_mistakes();
Section file_mistakes();
Section tree_file_mistakes();
Section machine_mistakes();
Section data_mistakes();
