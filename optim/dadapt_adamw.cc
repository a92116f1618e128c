// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/dadapt_adamw.h"

namespace spruce::optim {

DadaptAdamW dadapt_adamw(DadaptAdamWOptions options, Loc loc) {
  return DadaptAdamW(std::move(options), loc);
}

}  // namespace spruce::optim
