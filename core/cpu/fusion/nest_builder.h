// SPDX-License-Identifier: Apache-2.0
// How a nest is made: what its rows are, which stages they go through, where what passes between
// stages stands.
#pragma once

#include <algorithm>
#include <map>

#include "spruce/core/cpu/fusion/nest.h"

namespace spruce::cpu {

class NestBuilder {
 public:
  NestBuilder(Nest& nest, const NestSource& source, int phase)
      : n_(nest),
        g_(source.graph),
        s_(source.schedule),
        storages_(source.storages),
        phase_(phase),
        p_(s_.phases[static_cast<size_t>(phase)]) {}

  void build();

 private:
  using Entry = Nest::Entry;
  using Step = Nest::Step;
  using Mode = Nest::Mode;
  enum class Form : uint8_t { kAll, kByRow };  // of values: all elements, or one for each row

  const Equation& eq(int e) const { return g_.equations[static_cast<size_t>(e)]; }
  ValueId result(int e) const { return eq(e).outputs[0]; }
  Dtype dtype(ValueId v) const { return g_.avals[static_cast<size_t>(v)].dtype; }
  int64_t bytes(ValueId v) const { return size_of(dtype(v)); }
  bool is_reduction(int e) const { return eq(e).primitive->kind == PrimitiveKind::kReduction; }
  bool is_in_pieces(ValueId v) const {
    return storages_[static_cast<size_t>(v)].kind == Storage::Kind::kPieces;
  }
  bool reads_pieces(int e) const {
    return std::any_of(eq(e).inputs.begin(), eq(e).inputs.end(),
                       [&](ValueId x) { return is_in_pieces(s_.root_of(x)); });
  }
  bool is_cross_block(int e) const { return s_.cross_block[static_cast<size_t>(e)]; }
  fusion::AxisSet reduced(int e) const { return s_.space.reduced[static_cast<size_t>(e)]; }
  bool has_home(ValueId v) const {
    return storages_[static_cast<size_t>(v)].kind != Storage::Kind::kNone;
  }
  // True for what this nest computes and goes on with.
  bool is_own(ValueId v) const {
    return s_.phase_of_value(v) == phase_ && !is_cross_block(s_.producer[static_cast<size_t>(v)]);
  }
  bool has(fusion::AxisSet set, int axis) const { return axis >= 0 && (set >> axis & 1) != 0; }
  Form form(fusion::AxisSet depends) const {
    return p_.axes == 0 || has(depends, p_.inner()) ? Form::kAll : Form::kByRow;
  }
  Form form_of(int e) const {  // of what the equation works on
    return form(s_.depends(result(e)) | reduced(e));
  }
  int& stage(int e) { return stage_[static_cast<size_t>(e)]; }

  void choose_mode();
  void reduced_axis_inside(std::vector<int>& axes) const;
  void choose_stages();
  bool again(ValueId v);
  bool read_later(ValueId v);
  void build_stage(int at, Form form);

  size_t local(int64_t size) {
    const size_t at = n_.local_bytes_;
    n_.local_bytes_ += static_cast<size_t>((size + 63) / 64 * 64);
    return at;
  }
  Entry laid_out(ValueId v, int64_t size) const;
  Entry home_entry(ValueId v) const;
  Entry pieced_entry(ValueId v);
  Entry local_entry(int64_t rows, int64_t count, int64_t size);
  Entry place(ValueId v);
  Entry joined(ValueId v, bool* scalar);
  Entry accumulated(int e);

  // A stage in the making. Its operations are numbered from 0, its inputs from -1 downwards.
  struct Draft {
    Form form;
    Stage stage;
    std::map<ValueId, int> values;
    std::vector<Entry> in, out, acc;

    int value(int id) const {
      return id < 0 ? -1 - id : static_cast<int>(stage.inputs.size()) + id;
    }
  };
  int use(Draft& d, ValueId v);
  static std::optional<uint32_t> known_bits(const Entry& e, Dtype dtype, bool scalar);
  int use_whole(Draft& d, ValueId v);
  int apply(Draft& d, int e);
  void reduce(Draft& d, int e);
  void store(Draft& d, int value, Entry to, Stage::Mode mode = Stage::Mode::kStore);
  void reduce_contiguous(Draft& d, int e, Step step, int value, bool of_row, bool of_rows);
  void add_step(Step step, std::vector<Entry> entries);
  void add_stage(Draft& d, Step::Kind kind);
  static int widened(Draft& d, int value);

  Nest& n_;
  const Graph& g_;
  const fusion::Schedule& s_;
  const std::vector<Storage>& storages_;
  const int phase_;
  const fusion::Phase& p_;
  int row_axis_ = -1;
  int box_axis_ = -1;  // from box to box: where boxes have one row, that of rows
  std::vector<int> outer_axes_;
  std::vector<int> stage_;     // by equation
  std::vector<int> last_use_;  // by value: the last stage of this nest that reads it
  std::vector<int> again_;     // by value: operations to compute it anew; 0 for never
  std::map<ValueId, Entry> places_, spread_;
  std::map<size_t, int> first_read_;  // by number of what stands in pieces: its first entry
  std::vector<std::pair<Step, std::vector<Entry>>> after_;  // steps that follow the stage
  int stages_ = 0;
  size_t workspace_ = 0;  // of the kernels
};

}  // namespace spruce::cpu
