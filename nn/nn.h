// SPDX-License-Identifier: Apache-2.0
// All of nn.
#pragma once

#include "spruce/nn/activations.h"
#include "spruce/nn/attention.h"
#include "spruce/nn/context.h"
#include "spruce/nn/conv.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/embedding.h"
#include "spruce/nn/factory.h"
#include "spruce/nn/flatten.h"
#include "spruce/nn/functionalize.h"
#include "spruce/nn/init.h"
#include "spruce/nn/linear.h"
#include "spruce/nn/loss.h"
#include "spruce/nn/mixed.h"
#include "spruce/nn/module.h"
#include "spruce/nn/norm.h"
#include "spruce/nn/pool.h"
#include "spruce/nn/rnn.h"
