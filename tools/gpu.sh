# SPDX-License-Identifier: Apache-2.0
# `./dev gpu`, which reads this file: what is done on a machine with a GPU, and what is made ready for
# one that has no packages, no compiler cache and little time (docs/cuda.md).

packed=.gpu
architecture=${SPRUCE_GPU_ARCHITECTURE:-90}  # of the GPU that kernels are packed for

# What of the suite looks at the device and not at the emulator.
gpu_cases='Cuda/*:CudaDonation.*:CudaLarge.*:CudaProducts.Nan*:CudaProducts.ThePrecision*'
gpu_cases+=':CudaProducts.Operands*:CudaControl.Scans*:CudaDevice.Arrays*'
gpu_cases+=':CudaDevice.CompiledFunctionsRunThere:CudaDevice.Results*:CudaDevice.Loops*'
gpu_cases+=':CudaDevice.Several*:CudaProfile.Copies*'
sanitized='CudaDonation.*:*AreAsOnTheCpu/reduce_sum:*AreAsOnTheCpu/sort:*AreAsOnTheCpu/softmax'
sanitized+=':*AreAsOnTheCpu/scatter_add:*AreAsOnTheCpu/attention:CudaProducts.Operands*'

gpu_programs() {
  local tests="build/$preset/tests" program
  printf '%s\n' "$tests/cuda_tests" "$tests/reference_tests" "build/$preset/benchmarks/spruce_bench"
  for program in "$tests"/northstar_*; do
    [[ ! -x $program ]] || printf '%s\n' "$program"
  done
}

# The programs, the libraries that they load but for those of the compiler, and all kernels that the
# tests run, compiled.
gpu_pack() {
  build
  local tests="build/$preset/tests" texts="$PWD/build/$preset/gpu_texts" programs program library
  [[ -x $tests/cuda_fill_cache ]] || fail "./dev gpu pack: CMake did not find the CUDA toolkit here"
  rm -rf "$packed" "$texts"
  mkdir -p "$packed/lib"
  say "Running the tests on the emulator, which says what they compile"
  export SPRUCE_EMULATOR_TEXTS=$texts
  "$tests/cuda_tests" --gtest_brief=1 --gtest_filter="$gpu_cases"
  SPRUCE_TEST_DEVICE=cuda "$tests/reference_tests" --gtest_brief=1
  for program in "$tests"/northstar_*; do
    [[ ! -x $program ]] || SPRUCE_TEST_DEVICE=cuda "$program" data/digits.csv >/dev/null
  done
  unset SPRUCE_EMULATOR_TEXTS
  say "Compiling $(sort -u "$texts" | wc -l) kernels for sm_$architecture"
  SPRUCE_CUDA_CACHE=$packed/cache "$tests/cuda_fill_cache" "$architecture" "$texts"
  mapfile -t programs < <(gpu_programs)
  ldd "${programs[@]}" | awk '/=>/ {print $3}' | sort -u | while read -r library; do
    [[ $library =~ /(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt)\.so ]] ||
      cp -L "$library" "$packed/lib"
  done
  strip "$packed"/lib/*
  tar -cJf "$packed/pack.txz" --owner=0 --group=0 -C "$packed" lib cache -C "$PWD" "${programs[@]}"
  rm -rf "${packed:?}/lib" "${packed:?}/cache"
  say "$(du -h "$packed/pack.txz" | cut -f1) in $packed/pack.txz: carry $packed, and run ./dev gpu there"
}

# Puts what was packed in place of a build.
gpu_unpack() {
  say "Unpacking $packed/pack.txz"
  tar -xJf "$packed/pack.txz" -C "$packed"
  mkdir -p build
  cp -r "$packed/build/." build/
  local here=$PWD built
  export LD_LIBRARY_PATH=$here/$packed/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export SPRUCE_CUDA_CACHE=$here/$packed/cache
  # Tests read their cases where the sources stood when they were built.
  built=$(grep -aoE '/[^[:cntrl:]]*/tests/reference/cases.bin' "build/$preset/tests/reference_tests" |
    head -1)
  built=${built%/tests/reference/cases.bin}
  if [[ $built != "$here" && ! -e $built ]]; then
    mkdir -p "$(dirname "$built")"
    ln -sfn "$here" "$built"
  fi
}

# NVRTC and cuBLASLt of Python's packages, where the loader and /usr/local/cuda have none.
gpu_toolkit() {
  [[ -z ${CUDA_HOME:-} ]] || return 0
  if ldconfig -p 2>/dev/null | grep -q libcublasLt || compgen -G '/usr/local/cuda/lib64/libcublasLt*' >/dev/null; then
    return 0
  fi
  CUDA_HOME=$(python3 -c 'import nvidia.cu13 as m; print(list(m.__path__)[0])' 2>/dev/null) || return 0
  export CUDA_HOME
}

gpu_test() {
  local tests="build/$preset/tests" program status=0
  say "Testing on $(nvidia-smi -L | head -1)"
  "$tests/cuda_tests" --gtest_brief=1 --gtest_filter="$gpu_cases" || status=1
  SPRUCE_TEST_DEVICE=cuda "$tests/reference_tests" --gtest_brief=1 || status=1
  for program in "$tests"/northstar_*; do
    [[ -x $program ]] || continue
    SPRUCE_TEST_DEVICE=cuda "$program" data/digits.csv >/dev/null ||
      { say "${program##*/} failed" && status=1; }
  done
  return "$status"
}

gpu_sanitize() {
  local program status=0
  if ! command -v compute-sanitizer >/dev/null; then
    say "There is no compute-sanitizer here; it comes with the CUDA toolkit"
    return 0
  fi
  for program in memcheck racecheck; do
    say "compute-sanitizer, $program"
    # An update of a graph may fail, after which the graph is made anew.
    SPRUCE_CUDA_POOL=off compute-sanitizer --tool "$program" --report-api-errors no \
      --error-exitcode 1 "build/$preset/tests/cuda_tests" --gtest_brief=1 \
      --gtest_filter="$sanitized" || status=1
  done
  return "$status"
}

# JAX in f32 as we are, not in TF32. Its Python is the one that is there.
gpu_bench() {
  local status=0
  if [[ -z ${SPRUCE_PEERS_VENV:-} ]] && python3 -c 'import jax' 2>/dev/null; then
    SPRUCE_PEERS_VENV=$(python3 -c 'import sys; print(sys.prefix)')
    export SPRUCE_PEERS_VENV
  fi
  JAX_DEFAULT_MATMUL_PRECISION=highest python3 benchmarks/run.py \
    --program "build/$preset/benchmarks/spruce_bench" --peers --device cuda:0 --tuned-only \
    --threads "$(nproc)" --rounds 1 --seconds 0.3 --page benchmarks/RESULTS_GPU.md "$@" || status=1
  # Where a borrowed machine takes files back from.
  [[ -z ${OUT:-} || ! -d ${OUT:-} ]] || cp benchmarks/RESULTS_GPU.md "$OUT"
  return "$status"
}

gpu() {
  local word=${1:-all} status=0
  if [[ $word == pack ]]; then
    gpu_pack
    return
  fi
  if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    fail "./dev gpu: there is no GPU that nvidia-smi shows on this machine. What does not need one is
tested by ./dev test -R '^cuda' on the emulator, where the headers of the CUDA toolkit are."
  fi
  if [[ -e $packed/pack.txz ]]; then
    gpu_unpack
  else
    build
  fi
  [[ -x build/$preset/tests/cuda_tests ]] ||
    fail "./dev gpu: this build has no CUDA tests; CMake did not find the headers of the toolkit. Name its
folder in CUDA_HOME, and take the preset release."
  gpu_toolkit
  export SPRUCE_TEST_GPU=1
  case $word in
    test) gpu_test ;;
    sanitize) gpu_sanitize ;;
    bench) gpu_bench "${@:2}" ;;
    *)
      gpu_test || status=1
      gpu_sanitize || status=1
      gpu_bench "$@" || status=1
      return "$status"
      ;;
  esac
}
