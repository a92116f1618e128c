// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that change what the library does.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spruce::internal {

/// The value of the variable `name`, one of `known`; "" where it is unset or empty. Another value
/// is named on stderr, with those that are known, and counts as unset. Each variable is read once,
/// where it is first needed.
std::string_view environment(const char* name, std::initializer_list<std::string_view> known);

/// The values of a variable that holds several, with commas between them; of others, only those in
/// `known` are taken.
std::vector<std::string> environment_list(const char* name, const std::vector<std::string>& known);

}  // namespace spruce::internal
