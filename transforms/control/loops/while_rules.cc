// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/while_rules.h"

#include <cmath>

#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/body/body.h"
#include "spruce/transforms/control/body/masked_operands.h"
#include "spruce/transforms/derive/tape.h"
#include "spruce/transforms/rules/effect_rules.h"
#include "spruce/transforms/vmap/collectives.h"

namespace spruce::internal {
namespace {

// The parts of a while_loop's inputs.
struct WhileParts {
  size_t condition, body, carry;

  WhileParts(const WhileParams& p, size_t inputs)
      : condition(static_cast<size_t>(p.condition_consts)),
        body(static_cast<size_t>(p.body_consts)),
        carry(inputs - condition - body) {}
  size_t first_carry() const { return condition + body; }
};

template <class T>
std::vector<T> joined(std::span<const T> a, std::span<const T> b) {
  std::vector<T> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

void forward_mode(const JvpArgs& a, WhileParams p) {
  const WhileParts at(p, a.in.size());
  Mask varies;
  for (size_t i = at.condition; i < a.in.size(); ++i) varies.push_back(a.tangents[i].defined());
  JvpBody body;
  for (;;) {
    const Mask asked(varies.begin() + static_cast<ptrdiff_t>(at.body), varies.end());
    body = jvp_body(p.body, varies, asked);
    bool again = false;
    for (size_t k = 0; k < at.carry; ++k) {
      if (!body.out_varies[k] || varies[at.body + k]) continue;
      varies[at.body + k] = again = true;
    }
    if (!again) break;
  }
  // The tangents of the constants of the body go behind them, the others behind the carry.
  std::vector<size_t> order;
  std::vector<Array> in(a.in.begin(), a.in.begin() + static_cast<ptrdiff_t>(at.condition));
  Graph condition = *p.condition;
  size_t next = varies.size();
  std::vector<size_t> tangent(varies.size());
  for (size_t i = 0; i < varies.size(); ++i) {
    if (varies[i]) tangent[i] = next++;
  }
  const auto take = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      order.push_back(i);
      in.push_back(a.in[at.condition + i]);
    }
    for (size_t i = begin; i < end; ++i) {
      if (!varies[i]) continue;
      order.push_back(tangent[i]);
      const Array& value = a.in[at.condition + i];
      const Array& t = a.tangents[at.condition + i];
      in.push_back(t.defined() ? t : rules::zeros_of(value.aval()));
    }
  };
  take(0, at.body);
  p.body_consts = static_cast<int64_t>(order.size());
  take(at.body, varies.size());
  for (size_t i = at.body; i < varies.size(); ++i) {
    if (varies[i]) condition.inputs.push_back(condition.add_value(a.in[at.condition + i].aval()));
  }
  body.graph.inputs = reordered(body.graph.inputs, order);
  p.body = std::make_shared<const Graph>(std::move(body.graph));
  p.condition = std::make_shared<const Graph>(std::move(condition));
  const std::vector<Array> out = rules::while_loop(p, in);
  next = at.carry;
  for (size_t k = 0; k < at.carry; ++k) {
    a.out[k] = out[k];
    if (body.out_varies[k]) a.out_tangents[k] = out[next++];
  }
}

// One step of the loop as a graph: its inputs are the constants of both functions, a count of the
// steps, and the carry; it runs the body or hands the carry on.
Graph one_step(const WhileParams& p, const WhileParts& at, const std::vector<Aval>& types) {
  CondParams branches;
  Graph hand_on;
  for (const Aval& type : input_avals(*p.body)) hand_on.inputs.push_back(hand_on.add_value(type));
  hand_on.outputs.assign(hand_on.inputs.begin() + static_cast<ptrdiff_t>(at.body),
                         hand_on.inputs.end());
  branches.branches = {std::make_shared<const Graph>(std::move(hand_on)), p.body};
  const auto step = [&](std::span<const Array> in) {
    const Array& count = in[at.first_carry()];
    const std::span<const Array> carry = in.subspan(at.first_carry() + 1);
    const Array more = apply_graph(*p.condition, joined(in.first(at.condition), carry))[0];
    std::vector<Array> args{astype(more & (count < Array(p.max_steps)), int32)};
    const auto consts = in.subspan(at.condition, at.body);
    args.insert(args.end(), consts.begin(), consts.end());
    args.insert(args.end(), carry.begin(), carry.end());
    std::vector<Array> next = rules::cond(branches, args);
    next.insert(next.begin(), count + Array(1));
    return next;
  };
  return stage_body("while_loop", step, types).graph;
}

// The loop as a scan of its greatest number of steps; with checkpoints as a scan of scans, of which
// the outer one keeps its carries alone.
void reverse_mode(const JvpArgs& a, const WhileParams& p) {
  if (p.max_steps < 0) {
    throw DerivativeError(
        "while_loop: reverse mode needs to know how many steps there are at most; give "
        "{.max_steps = n}, or use forward mode (jvp, jacfwd)");
  }
  const WhileParts at(p, a.in.size());
  const auto first_carry = static_cast<ptrdiff_t>(at.first_carry());
  std::vector<Array> in(a.in.begin(), a.in.end()), tangents(a.tangents.begin(), a.tangents.end());
  in.insert(in.begin() + first_carry, array(int64_t{0}));
  tangents.insert(tangents.begin() + first_carry, Array());
  std::vector<Aval> types;
  for (const Array& x : in) types.push_back(x.aval());
  ScanParams scan;
  scan.length = p.max_steps;
  scan.consts = static_cast<int64_t>(at.first_carry());
  scan.carry = static_cast<int64_t>(at.carry) + 1;
  scan.body = std::make_shared<const Graph>(one_step(p, at, types));
  if (p.checkpoint && p.max_steps > 1) {
    const auto inner = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(p.max_steps))));
    scan.length = inner;
    const Body outer = stage_body(
        "while_loop", [&](std::span<const Array> x) { return rules::scan(scan, x); }, types);
    scan.length = (p.max_steps + inner - 1) / inner;
    scan.checkpoint = true;
    scan.body = std::make_shared<const Graph>(outer.graph);
  }
  std::vector<Array> out(at.carry + 1), out_tangents(at.carry + 1);
  scan_p.jvp({scan_p, in, tangents, Params::make(std::move(scan)), out, out_tangents});
  for (size_t k = 0; k < at.carry; ++k) {
    a.out[k] = out[k + 1];
    a.out_tangents[k] = out_tangents[k + 1];
  }
}

// Whether the condition depends on the batch, and which carries do.
struct Batched {
  bool condition;
  Mask carry;
};

Batched settle(const BatchArgs& a, const WhileParams& p, const WhileParts& at) {
  const auto first = a.batched.begin();
  const Mask condition_consts(first, first + static_cast<ptrdiff_t>(at.condition));
  const Mask body_consts(first + static_cast<ptrdiff_t>(at.condition),
                         first + static_cast<ptrdiff_t>(at.first_carry()));
  Batched b{false, Mask(first + static_cast<ptrdiff_t>(at.first_carry()), a.batched.end())};
  const auto with_carry = [&](Mask consts) {
    consts.insert(consts.end(), b.carry.begin(), b.carry.end());
    return consts;
  };
  for (;;) {
    const Mask before = b.carry;
    const Mask out =
        batch_body(p.body, a, with_carry(body_consts), Mask(at.carry, false)).out_batched;
    for (size_t k = 0; k < at.carry; ++k) b.carry[k] = b.carry[k] || out[k];
    b.condition = batch_body(p.condition, a, with_carry(condition_consts), {false}).out_batched[0];
    if (b.condition) b.carry.assign(at.carry, true);
    if (b.carry == before) return b;
  }
}

}  // namespace

void jvp_of_while(const JvpArgs& a) {
  const auto& p = a.params.get<WhileParams>();
  bool any = false;
  for (size_t i = static_cast<size_t>(p.condition_consts); i < a.in.size(); ++i)
    any = any || a.tangents[i].defined();
  if (!any) {  // only the condition depends on what varies
    const std::vector<Array> out = rules::while_loop(p, a.in);
    for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
  } else if (in_reverse_mode(a.tangents)) {
    reverse_mode(a, p);
  } else {
    forward_mode(a, p);
  }
}

void batch_of_while(const BatchArgs& a) {
  WhileParams p = a.params.get<WhileParams>();
  const WhileParts at(p, a.in.size());
  const Batched b = settle(a, p, at);
  if (b.condition && has_effects(a.params)) return batch_one_by_one(a);
  Mask condition_in(a.batched.begin(), a.batched.begin() + static_cast<ptrdiff_t>(at.condition));
  Mask body_in(a.batched.begin() + static_cast<ptrdiff_t>(at.condition),
               a.batched.begin() + static_cast<ptrdiff_t>(at.first_carry()));
  condition_in.insert(condition_in.end(), b.carry.begin(), b.carry.end());
  body_in.insert(body_in.end(), b.carry.begin(), b.carry.end());
  const Graph condition = batch_body(p.condition, a, condition_in, {b.condition}).graph;
  const Graph body = batch_body(p.body, a, body_in, b.carry).graph;
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t k = 0; k < at.carry; ++k) {
    const size_t i = at.first_carry() + k;
    if (b.carry[k]) in[i] = rules::materialize_batch(in[i], a.batched[i], a.size);
  }
  if (!b.condition) {
    p.condition = std::make_shared<const Graph>(condition);
    p.body = std::make_shared<const Graph>(body);
    const std::vector<Array> out = rules::while_loop(p, in);
    for (size_t k = 0; k < at.carry; ++k) {
      a.out[k] = out[k];
      a.out_batched[k] = b.carry[k];
    }
    return;
  }
  // Which loops go on is part of the carry, so that the condition is asked once a step. The loop's
  // condition only looks at it; the body has the constants of both. Through a collective the
  // examples that are done count too.
  const bool masked = !asks_for_any_axis(a.params);
  const std::span<const Array> consts = std::span<const Array>(in).first(at.first_carry());
  const auto ask = [&](std::span<const Array> all, std::span<const Array> carry) {
    return apply_graph(condition, joined(all.first(at.condition), carry))[0];
  };
  std::vector<Array> start(consts.begin(), consts.end());
  start.push_back(ask(consts, std::span<const Array>(in).subspan(at.first_carry())));
  start.insert(start.end(), in.begin() + static_cast<ptrdiff_t>(at.first_carry()), in.end());
  std::vector<Aval> types;
  for (const Array& x : start) types.push_back(x.aval());
  const Body step = stage_body(
      "vmap",
      [&](std::span<const Array> x) {
        const Array& more = x[at.first_carry()];
        const std::span<const Array> carry = x.subspan(at.first_carry() + 1);
        std::vector<Array> operands = joined(x.subspan(at.condition, at.body), carry);
        if (masked) operands = masked_operands(std::move(operands), body_in, more);
        std::vector<Array> next = apply_graph(body, operands);
        for (size_t k = 0; k < next.size(); ++k)
          next[k] = where(rules::over_leading_axes(more, next[k].rank()), next[k], carry[k]);
        const Array again = ask(x, next) & more;
        next.insert(next.begin(), again);
        return next;
      },
      types);
  const Body more = stage_body(
      "vmap", [&](std::span<const Array> x) { return std::vector<Array>{any(x[0])}; },
      std::span<const Aval>(types).subspan(at.first_carry()));
  p.condition_consts = 0;
  p.body_consts = static_cast<int64_t>(at.first_carry());
  p.condition = std::make_shared<const Graph>(more.graph);
  p.body = std::make_shared<const Graph>(step.graph);
  const std::vector<Array> out = rules::while_loop(p, start);
  for (size_t k = 0; k < at.carry; ++k) a.out[k] = out[k + 1];
}

}  // namespace spruce::internal
