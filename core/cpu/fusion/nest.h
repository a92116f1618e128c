// SPDX-License-Identifier: Apache-2.0
// One loop nest of a fused graph, ready to run: stages over rows (or over pieces of one long row),
// and what passes between them.
#pragma once

#include "spruce/core/cpu/boxes.h"
#include "spruce/core/cpu/fusion/pieced_rows.h"
#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/cpu/fusion/storage.h"
#include "spruce/core/fusion/schedule.h"

namespace spruce::cpu {

/// What a nest is made from.
struct NestSource {
  const Graph& graph;
  const fusion::Schedule& schedule;
  const std::vector<Storage>& storages;  ///< by value
};

/// The memory of one run.
struct NestMemory {
  std::span<const View> in, out;
  char* workspace;  ///< what Storage::kWorkspace counts from
};

class Nest {
 public:
  Nest(const NestSource& source, int phase);

  /// Memory of one run, and of each thread that takes part in it; both aligned to 64.
  size_t shared_bytes() const {
    return accumulated_bytes_ * static_cast<size_t>(apart_ ? 1 : pieces_);
  }
  size_t thread_bytes() const { return local_bytes_; }
  void run(const NestMemory& memory, char* shared, char* thread) const;

  /// When input i is read for the last time, and when output k is written for the first time, in
  /// steps of the nest that do all of a block before the next one begins; -1 for never.
  int last_read(size_t input) const;
  int first_write(size_t output) const;

 private:
  friend class NestBuilder;

  static constexpr int64_t kMostRows = 64;  // of a block of long rows

  /// A pointer that a step gets, and how it moves on.
  struct Entry {
    enum class Base : uint8_t {
      kInput,
      kConstant,
      kOutput,
      kWorkspace,
      kThread,
      kAccumulated,
      kPieced
    };
    Base base = Base::kThread;
    size_t at = 0;
    const void* data = nullptr;
    int64_t offset = 0;          // bytes behind that
    int64_t inner = 0;           // bytes for the next element of the row
    int64_t row = 0;             // bytes for the next row of a block
    int64_t block = 0;           // bytes for the next box where blocks follow each other
    std::vector<int64_t> outer;  // bytes for the next index of the axes outside of rows
    int step = 0;                // the step that uses it
    int same = -1;               // of kPieced: the first entry that reads the same
    bool writes = false;
  };
  struct Step {
    enum class Kind : uint8_t {
      kStage,              // over each row of the block
      kStageOfBlock,       // over all elements of the block at once
      kRowValues,          // over one element for each row
      kStart,              // accumulators of the rows
      kFinish,             // accumulators of the rows become values
      kFoldRows,           // each row of the block becomes one element
      kFoldColumns,        // the rows of the block become one
      kConvertTo16Bit,     // f32 for each row becomes a 16-bit float
      kSpread,             // elements that stand for several become all of a block
      kAccumulate,         // elements join accumulators, row by row
      kAddToAccumulators,  // f32 parts of columns join accumulators, every so many rows
    } kind;
    size_t first = 0;  // of its entries
    size_t outs = 0, accs = 0, end = 0;
    std::shared_ptr<const StageKernel> kernel;
    ReduceLoop loop = nullptr;
    Stage::Kind reduction = Stage::Kind::kSum;
    Dtype dtype = Dtype::kFloat32;
    bool wide = false;
    int64_t count = 0;    // elements for each row
    int64_t stride = 0;   // of accumulators within a row
    BoxSteps steps = {};  // of kSpread
    bool once = false;    // the rows of the block are one already
  };
  struct Accumulated {
    Stage::Kind kind;
    Dtype dtype;
    size_t at;  // bytes into the accumulators of one piece
    int64_t n;
    Storage to;
  };

  enum class Mode : uint8_t { kFlat, kRows, kContiguousRows };

  /// What threads share out: blocks, or elements of the only row where there is one stage.
  int64_t units() const {
    return mode_ == Mode::kFlat ? inner_ : outer_count_ * ((rows_ + block_ - 1) / block_);
  }
  char* base(const Entry& e, const NestMemory& m, char* accumulated, char* thread) const;
  /// The pointers and row steps of a thread, by entry; `now` moves on from row to row.
  struct Pointers {
    char **at, **now;
    const int64_t* row_steps;
    int64_t* own_row_steps;  // the same where values stand in pieces, else null
  };

  Pointers pointers(char* thread) const;
  void place_pieces(const Pointers& p, const NestMemory& m, char* thread,
                    const PiecedRows::Block& block) const;
  void run_flat(const NestMemory& m, char* accumulated, char* thread, int64_t begin,
                int64_t end) const;
  void run_range(const NestMemory& m, char* accumulated, char* thread, int64_t begin,
                 int64_t end) const;
  void run_block(const Pointers& p, char* thread, int64_t rows, bool first) const;
  void run_step(const Step& s, const Pointers& p, int64_t rows) const;
  void add_to_accumulators(char** at, bool join) const;

  Mode mode_ = Mode::kFlat;
  int64_t inner_ = 1;           // elements of a row
  int64_t rows_ = 1;            // along the axis of rows
  int64_t block_ = 1;           // rows of a block
  int64_t box_rows_ = 1;        // rows of a box, of which a block has several; where it is not 1,
                                // the axis of rows is two axes in one
  int64_t tile_ = 1;            // elements that are worked on at a time of the only row
  std::vector<int64_t> outer_;  // sizes of the axes outside
  int64_t outer_count_ = 1;
  std::vector<Entry> entries_;
  std::vector<Step> steps_;
  std::vector<Accumulated> accumulated_;
  std::vector<PiecedRows> pieced_;
  size_t accumulated_bytes_ = 0;
  int64_t pieces_ = 1;
  // Pieces are parts of the first axis outside, which no reduction is over: they share
  // accumulators.
  bool apart_ = false;
  size_t local_bytes_ = 0;
  size_t kernel_workspace_ = 0, pointers_ = 0;    // within the memory of a thread
  std::vector<int64_t> row_steps_, block_steps_;  // by entry
  int64_t rows_between_sums_ =
      0;  // rows after which sums of columns are added up; 0: there are none
};

}  // namespace spruce::cpu
