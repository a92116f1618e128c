// SPDX-License-Identifier: Apache-2.0
// Passes over graphs. Each takes a checked graph and returns a checked graph with the same meaning.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// Replaces calls of functions with their own derivative rules, of checkpoints and of linear solves
/// by their bodies: the rules are of no use any more.
Graph inline_calls(Graph graph);
/// Takes out equations, constants and values that no output depends on.
Graph dead_code(Graph graph);
/// Computes what is computed twice once: equations with equal primitives, parameters and inputs.
Graph common_subexpressions(Graph graph);
/// The two of the graph alone. The graphs within it, those of loops and branches, stay as they are:
/// they were tidied when they were made, and to do so again at each level around them would take
/// time quadratic in the depth.
Graph outermost_dead_code(Graph graph);
Graph outermost_common_subexpressions(Graph graph);
/// Makes all values strong; outputs that were weak are converted at the end. The passes below rely
/// on it.
Graph drop_weak_types(Graph graph);
/// Computes what depends on constants alone in the outermost graph, up to a megabyte a value.
/// Repetitions and counts stay equations unless they are small.
Graph constant_folding(Graph graph);
/// Takes away repetitions that elementwise operations do by themselves.
Graph drop_broadcasts(Graph graph);
/// The rules of the next three, and constant_folding, until none applies.
Graph simplify(Graph graph);
/// Rules of arithmetic: x * 1, x - (-y), conversions that lose nothing, choices that are known.
Graph algebra(Graph graph);
/// Rules of operations that move elements: what does nothing goes, two in a row become one.
Graph simplify_data_movement(Graph graph);
/// Rules of reductions: over axes of size 1, of reductions, of copies.
Graph reductions(Graph graph);
/// Sums of padded pieces that stand side by side become concatenations.
Graph pads_to_concatenate(Graph graph);
/// Takes transposes into the products that they surround; products of single elements become
/// multiplications.
Graph fold_transposes(Graph graph);
/// Moves a transpose of what is computed element by element from an array of fewer bytes to that
/// array.
Graph narrow_transposes(Graph graph);
/// Makes gathers of single elements out of each array of a batch read one array.
Graph flatten_gathers(Graph graph);
/// Lets gathers and scatters move negative indices into range as they read them.
Graph wrap_indices(Graph graph);
/// Makes one equation of a gather of rows and a reduction over lists of them, or of a scatter_add
/// and the rows that it takes from another array.
Graph gather_reductions(Graph graph);
/// Moves what is the same in all steps of a scan in front of it, and sums of products over the
/// steps behind it.
Graph loop_invariants(Graph graph);
/// Moves what is the same in all steps of a while loop in front of it; a carry that no step changes
/// is such.
Graph while_invariants(Graph graph);
/// Scatters of one place along an axis become elementwise choices.
Graph scatter_to_select(Graph graph);
/// Orders the equations so that less memory is in use at once, where a greedy order saves more than
/// a twentieth of the peak.
Graph schedule(Graph graph);
/// Writes out some composites in the operations that they are made of: those of optimizers, and
/// what has no kernel.
Graph expand_composites(Graph graph);
/// Computes slice by slice what is computed element by element and read only in slices with long
/// runs.
Graph push_slices_up(Graph graph);
/// Makes one `fused` equation of elementwise equations, broadcasts and reductions that pass values
/// to each other, where that spares trips to memory. The last of the passes that see single
/// operations.
Graph fuse(Graph graph);
/// Makes one unrolled `fused` equation of equations over arrays of a few elements, where there is a
/// code generator.
Graph tiny(Graph graph);
/// Runs equations that treat the rows of large arrays one by one, a product and what follows it, on
/// blocks of rows that stay in the cache, where that spares enough trips to memory.
Graph row_blocks(Graph graph);

/// Takes from scans what nobody needs: results, slices, constants, carries that never change.
Graph simplify_scans(Graph graph);
/// Takes from scans the stacked results that the scan which reads them can make again from others
/// by a few elementwise operations.
Graph rematerialize_residuals(Graph graph);
/// Copies the body of a scan as often as its parameter `unroll` says.
Graph unroll_scans(Graph graph);

}  // namespace spruce::passes
