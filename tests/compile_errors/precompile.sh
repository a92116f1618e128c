#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Precompiles <spruce/spruce.h> for the programs here, each of which would take seconds otherwise.
#   precompile.sh <folder> <spruce.h> <compiler> [<flag> ...]
set -euo pipefail
folder=$1
header=$2
shift 2
mkdir -p "$folder/spruce"
"$@" -w -x c++-header "$header" -o "$folder/spruce/spruce.h.gch"
