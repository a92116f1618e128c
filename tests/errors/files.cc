// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <string>

#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

struct Checkpoint {
  Array weight;
  int64_t epoch;
};

// A file with weight: f32[2] and the epoch 7.
void write_checkpoint(const char* path) { sp::io::save_tree(path, Checkpoint{sp::ones({2}), 7}); }

}  // namespace

Section tree_file_mistakes() {
  return {
      "Trees in files",
      __FILE__,
      {
          {"A model that was moved from",
           CODE(Checkpoint c{sp::ones({2}), 7}; const Checkpoint next = std::move(c);
                sp::io::save_tree("mistake.safetensors", c)),
           CODE(Checkpoint c{sp::ones({2}), 7}; const Checkpoint next = std::move(c);
                sp::io::save_tree("mistake.safetensors", next); std::remove("mistake.safetensors")),
           "ValueError",
           "save_tree: all arrays of the tree (1, the first is weight) are undefined: they have "
           "been moved from, as by step(std::move(model)), or were never given values" HERE},
          {"A static field that is another in the file",
           CODE(write_checkpoint("mistake.safetensors");
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({2}), 0})),
           CODE(write_checkpoint("mistake.safetensors");
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({2}), 0},
                                  {.static_fields = sp::io::StaticFields::kRestore});
                std::remove("mistake.safetensors")),
           "TreeError",
           "load_tree: 'mistake.safetensors' has other static fields than the tree:\n  epoch is 7 "
           "in the file and 0 in the tree\n  load with .static_fields = StaticFields::kRestore to "
           "take those of the file, or ::kKeep to keep those of the tree" HERE},
          {"A static field that the tree does not have",
           CODE(write_checkpoint("mistake.safetensors"); sp::io::load_tree(
                    "mistake.safetensors", std::map<std::string, Array>{{"weight", sp::zeros({2})}},
                    {.static_fields = sp::io::StaticFields::kRestore})),
           CODE(write_checkpoint("mistake.safetensors"); sp::io::load_tree(
                    "mistake.safetensors", std::map<std::string, Array>{{"weight", sp::zeros({2})}},
                    {.static_fields = sp::io::StaticFields::kKeep});
                std::remove("mistake.safetensors")),
           "TreeError",
           "load_tree: 'mistake.safetensors' has other static fields than the tree:\n  unexpected: "
           "epoch, which is 7\n  load with .static_fields = StaticFields::kKeep to keep those of "
           "the tree" HERE},
          {"A file whose arrays have other names",
           CODE(sp::io::save_safetensors("mistake.safetensors", {{"fc.w", sp::ones({2})}});
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({2}), 0})),
           CODE(sp::io::save_safetensors("mistake.safetensors", {{"fc.w", sp::ones({2})}});
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({2}), 0},
                                  {.rename = [](const std::string&) { return "fc.w"; }});
                std::remove("mistake.safetensors")),
           "TreeError",
           "load_tree: 'mistake.safetensors' has other names than the tree:\n  missing: weight\n  "
           "unexpected: fc.w" HERE},
          {"An array of another shape in the file",
           CODE(write_checkpoint("mistake.safetensors");
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({3}), 7})),
           CODE(write_checkpoint("mistake.safetensors");
                sp::io::load_tree("mistake.safetensors", Checkpoint{sp::zeros({2}), 7});
                std::remove("mistake.safetensors")),
           "ShapeError",
           "load_tree: weight is f32[2] in 'mistake.safetensors' and f32[3] in the tree" HERE},
          {"A tree in a file that is not there",
           CODE(sp::io::load_tree("no_such_file.safetensors", sp::ones({2}))),
           CODE(sp::io::save_tree("mistake.safetensors", sp::ones({2}));
                sp::io::load_tree("mistake.safetensors", sp::ones({2}));
                std::remove("mistake.safetensors")),
           "IoError",
           "load_tree: no_such_file.safetensors: cannot be opened: No such file or "
           "directory" HERE},
          {"A tree for a folder that is not there",
           CODE(sp::io::save_tree("no_such_folder/a.safetensors", sp::ones({2}))),
           CODE(sp::io::save_tree("mistake.safetensors", sp::ones({2}));
                std::remove("mistake.safetensors")),
           "IoError",
           "save_tree: no_such_folder/a.safetensors: no file can be made in its folder: No such "
           "file or directory" HERE},
          {"A path that holds a NUL byte",
           CODE(sp::io::save_npy(std::string("mistake\0.npy", 12), sp::ones({2}))),
           CODE(sp::io::save_npy("mistake.npy", sp::ones({2})); std::remove("mistake.npy")),
           "IoError",
           "save_npy: mistake\\0.npy: the path has a NUL byte at 7, and no file has such a name; "
           "give the path without it" HERE},
          {"A file that holds no function",
           CODE(std::ofstream("mistake.fn") << "text"; sp::load_function("mistake.fn")),
           CODE(sp::save_function("mistake.fn", sp::sin, sp::ones({2}));
                sp::load_function("mistake.fn"); std::remove("mistake.fn")),
           "IoError",
           "load_function: mistake.fn: at byte 0: the head of the file takes 8 bytes from byte 0 "
           "on "
           "and there are only 4 bytes in all; the file is cut short or damaged" HERE},
          {"An array where a function was saved with a number",
           CODE(const auto scaled = [](const Array& x, const Array& by) { return x * by; };
                sp::save_function("mistake.fn", scaled, sp::ones({2}), Array(0.5f));
                sp::load_function("mistake.fn")({sp::ones({2}), sp::array(0.5f)})),
           CODE(const auto scaled = [](const Array& x, const Array& by) { return x * by; };
                sp::save_function("mistake.fn", scaled, sp::ones({2}), sp::array(0.5f));
                sp::load_function("mistake.fn")({sp::ones({2}), sp::array(0.5f)});
                std::remove("mistake.fn")),
           "DtypeError",
           "load_function: mistake.fn: argument 1 is f32[], the function was saved for f32*[], a "
           "C++ number; give one, or save the function with array(...) there" HERE},
      }};
}

Section machine_mistakes() {
  return {"Threads",
          __FILE__,
          {
              {"No thread at all", CODE(sp::set_threads(0)), CODE(sp::set_threads(sp::threads())),
               "ValueError", "set_threads: 0 threads; at least one is needed" HERE},
              {"More threads than any machine has", CODE(sp::set_threads(100000)),
               CODE(sp::set_threads(sp::threads())), "ValueError",
               "set_threads: 100000 threads; at most 1024 are possible, and more than there are "
               "cores make nothing faster" HERE},
          }};
}
