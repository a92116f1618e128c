// SPDX-License-Identifier: Apache-2.0
// All of the library spruce_data: batches, files, text, augmentations.
#pragma once

#include "spruce/data/augment.h"
#include "spruce/data/batches.h"
#include "spruce/data/checkpoints.h"
#include "spruce/data/collate.h"
#include "spruce/data/files/csv.h"
#include "spruce/data/files/image_folder.h"
#include "spruce/data/files/mapped.h"
#include "spruce/data/files/wav.h"
#include "spruce/data/log/log.h"
#include "spruce/data/log/progress.h"
#include "spruce/data/log/tensorboard.h"
#include "spruce/data/plot/image_grid.h"
#include "spruce/data/plot/plot.h"
#include "spruce/data/split.h"
#include "spruce/data/text/bpe.h"
#include "spruce/data/text/tokens.h"
