// SPDX-License-Identifier: Apache-2.0
// docs/errors.md from the table of mistakes.
#pragma once

#include <string>

#include "mistakes.h"

/// All sections, in the order of the page.
std::vector<Section> all_sections();
/// The text of the page.
std::string errors_page();
