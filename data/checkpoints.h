// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run: what it goes on from when it was stopped, however that happened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spruce/core/io/tree_io.h"

namespace spruce::io {

/// Options of Checkpoints.
struct CheckpointsOptions {
  /// Write on a thread of its own, so that the run goes on meanwhile; else save() returns when the
  /// file is on the disk.
  bool background = true;
};

/// A tree that was restored, and the step that it was saved at.
template <class T>
struct Restored {
  T tree;            ///< as it was saved, bit by bit
  int64_t step = 0;  ///< what save() was given
};

namespace internal {
class CheckpointWriter;
struct CheckpointFile {
  int64_t step;
  std::string path;
};
}  // namespace internal

/// The checkpoints in a folder: one file for each, "step_000000001200.safetensors", as save_tree()
/// writes it. A file is written beside its place, brought to the disk (fsync) and then renamed, so
/// that a process that is killed leaves whole files alone, and at worst one that begins with
/// ".spruce-", which the next Checkpoints of the folder removes. One process at a time writes to a
/// folder; reading is free.
///
/// Everything that decides how a run goes on belongs into the tree: parameters, the optimizer's
/// state, the key, the step that batches() goes on from. Then a run that was killed ends with the
/// bits of one that was not.
class Checkpoints {
 public:
  /// The folder is made if it is not there. The newest `keep` checkpoints are kept, older ones are
  /// removed after each that is written; 0: all are kept. Throws IoError if the folder cannot be
  /// made or read, ValueError for a negative `keep`.
  explicit Checkpoints(const std::string& folder, int64_t keep = 3,
                       const CheckpointsOptions& options = {}, Loc loc = Loc::current());
  /// Waits for what is being written. What goes wrong then is lost: call wait() to see it.
  ~Checkpoints();
  Checkpoints(Checkpoints&&) noexcept;
  /// Waits as the destructor, then takes the other's place.
  Checkpoints& operator=(Checkpoints&&) noexcept;

  /// Saves a tree with its static fields. Arrays are held, not copied, until they are written; a
  /// compiled step that would reuse their memory (std::move) takes other memory meanwhile. Waits
  /// for the checkpoint before it, whose error, if any, is thrown here (IoError, with the line of
  /// its save). Throws ValueError for a negative step, and as save_tree(). Checkpoints of later
  /// steps stay, and restore() takes them: see remove_after().
  template <class T>
  void save(int64_t step, const T& tree, Loc loc = Loc::current()) {
    const OpScope at("Checkpoints::save", loc);
    write(step, tree::entries(tree), internal::static_texts(tree));
  }

  /// The newest checkpoint that can be read, in a tree of the form of `like`, whose static fields
  /// become those of the file. Files that are damaged are passed over. Nothing if there is no
  /// checkpoint. Throws TreeError, ShapeError or DtypeError where a whole file does not fit: it is
  /// one of another model; IoError if there are checkpoints and none can be read.
  template <class T>
  std::optional<Restored<T>> restore(const T& like, Loc loc = Loc::current()) const {
    const OpScope at("Checkpoints::restore", loc);
    std::string problem;
    for (const internal::CheckpointFile& file : newest_first()) {
      try {
        return Restored<T>{load_tree(file.path, like, {.static_fields = StaticFields::kRestore}),
                           file.step};
      } catch (const IoError& e) {
        if (problem.empty()) problem = e.what();
      }
    }
    if (!problem.empty()) throw_none_whole(problem);
    return std::nullopt;
  }
  /// The checkpoint of one step; one that is being written is waited for. Throws IoError if it is
  /// not there or cannot be read, and as restore().
  template <class T>
  T restore_step(int64_t step, const T& like, Loc loc = Loc::current()) const {
    const OpScope at("Checkpoints::restore_step", loc);
    wait();
    return load_tree(path_of(step), like, {.static_fields = StaticFields::kRestore});
  }

  /// Removes the checkpoints of the steps behind `step`, so that a run that goes on from an earlier
  /// one does not come upon them. Throws IoError for one that cannot be removed.
  void remove_after(int64_t step, Loc loc = Loc::current());

  /// The steps that there are checkpoints of, ascending; those that are being written are waited
  /// for.
  std::vector<int64_t> steps(Loc loc = Loc::current()) const;
  /// The file of a step, whether it is there or not.
  std::string path_of(int64_t step) const;
  /// Waits until all that was saved is on the disk. Throws IoError if something could not be
  /// written.
  void wait(Loc loc = Loc::current()) const;

 private:
  void write(int64_t step, std::vector<tree::Entry> entries, internal::StaticTexts statics);
  std::vector<internal::CheckpointFile> newest_first() const;
  [[noreturn]] void throw_none_whole(const std::string& problem) const;
  internal::CheckpointWriter& writer() const;

  std::unique_ptr<internal::CheckpointWriter> writer_;
};

}  // namespace spruce::io
