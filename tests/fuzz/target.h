// SPDX-License-Identifier: Apache-2.0
// What the fuzzers feed: bytes that are taken for the text of a graph or for a file of a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spruce::fuzz {

/// The first byte says how the others are read:
///   't'  the text of a graph
///   'f'  a file of a function, whose lengths and checksum are made to fit first
///   'r'  such a file as it is
/// Returns true if they hold a function. Anything but an exception of Spruce's is a finding.
bool run(const uint8_t* data, size_t size);

/// Inputs that hold functions: each primitive with each of its samples, nested graphs, and files.
std::vector<std::string> corpus();

}  // namespace spruce::fuzz
