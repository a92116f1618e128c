// SPDX-License-Identifier: Apache-2.0
// Passes over graphs. Each takes a checked graph and returns a checked graph with the same meaning.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// Replaces calls of functions with their own derivative rules, of checkpoints and of linear solves
/// by their bodies: the rules are of no use any more.
Graph inline_calls(const Graph& graph);
/// Takes out equations, constants and values that no output depends on.
Graph dead_code(const Graph& graph);
/// Computes what is computed twice once: equations with equal primitives, parameters and inputs.
Graph common_subexpressions(const Graph& graph);
/// Makes all values strong; outputs that were weak are converted at the end. The passes below rely
/// on it.
Graph settle_types(const Graph& graph);
/// Computes what depends on constants alone, up to a megabyte a value. Repetitions and counts stay
/// equations unless they are small.
Graph constant_folding(const Graph& graph);
/// Takes away repetitions that elementwise operations do by themselves.
Graph broadcasts(const Graph& graph);
/// Rules of arithmetic: x * 1, x - (-y), conversions that lose nothing, choices that are known.
Graph algebra(const Graph& graph);
/// Rules of operations that move elements: what does nothing goes, two in a row become one.
Graph movement(const Graph& graph);
/// Sums of padded pieces that stand side by side become concatenations.
Graph joins(const Graph& graph);
/// Rules of reductions: over axes of size 1, of reductions, of copies.
Graph reductions(const Graph& graph);
/// Takes transposes into the products that they surround; products of single elements become
/// multiplications.
Graph layout(const Graph& graph);
/// Lets attention read its operands where they stand in other arrays and write its results in the
/// order in which they are wanted.
Graph heads(const Graph& graph);
/// Moves what is the same in all steps of a scan in front of it, and sums of products over the
/// steps behind it.
Graph loop_invariants(const Graph& graph);
/// Moves what is the same in all steps of a while loop in front of it; a carry that no step changes
/// is such.
Graph while_invariants(const Graph& graph);
/// Scatters of one place along an axis become elementwise choices.
Graph one_hot(const Graph& graph);
/// Orders the equations so that less memory is in use at once, where a greedy order saves more than
/// a twentieth of the peak.
Graph schedule(const Graph& graph);
/// Writes out some composites in the operations that they are made of: those of optimizers, and
/// what has no kernel.
Graph expand_composites(const Graph& graph);
/// Computes slice by slice what is computed element by element and read only in slices with long
/// runs.
Graph slices(const Graph& graph);
/// Makes one `fused` equation of elementwise equations, broadcasts and reductions that pass values
/// to each other, where that spares trips to memory. The last of the passes that see single
/// operations.
Graph fuse(const Graph& graph);
/// Makes one equation of equations over arrays of a few elements, where there is a code generator.
Graph tiny(const Graph& graph);
/// Runs equations that treat the rows of large arrays one by one, a product and what follows it, on
/// blocks of rows that stay in the cache, where that spares enough trips to memory.
Graph row_blocks(const Graph& graph);

/// Takes from scans what nobody needs: results, slices, constants, carries that never change.
Graph scan_tidy(const Graph& graph);
/// Takes from scans the stacked results that the scan which reads them can make again from others
/// by a few elementwise operations.
Graph scan_residuals(const Graph& graph);
/// Copies the body of a scan as often as its parameter `unroll` says.
Graph scan_unroll(const Graph& graph);

}  // namespace spruce::passes
