// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulator/block.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

// What kernel_header.h declares. One launch runs at a time.
extern "C" {
struct spruce_uint3 {
  unsigned x, y, z;
};
spruce_uint3 spruce_thread_idx, spruce_block_idx, spruce_block_dim, spruce_grid_dim;
alignas(1024) char spruce_dynamic_shared[spruce::cuda_emulator::kMostShared];
unsigned spruce_block_barrier(int predicate);
const unsigned long long* spruce_warp_exchange(unsigned mask, unsigned long long value);
unsigned spruce_active_mask();
[[noreturn]] void spruce_trap(const char* why);
}

namespace spruce::cuda_emulator {
namespace {

constexpr unsigned kLanes = 32;
constexpr size_t kStack = 128 * 1024;

enum class State : uint8_t { kRunning, kAtBlockBarrier, kAtWarpBarrier, kFinished };

struct Fiber {
  ucontext_t start;
  jmp_buf here;
  bool started = false;
  spruce_uint3 index{};
  size_t number = 0;                      // among the threads of the block
  unsigned mask = 0;                      // of the warp barrier
  unsigned long long given = 0;           // to the other lanes
  unsigned long long received[kLanes]{};  // from them
};

// The launch that runs.
const HostKernel* kernel = nullptr;
void** arguments = nullptr;
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<State> states;  // of each, apart from them: they are looked at all the time
char* stacks = nullptr;
Fiber* self = nullptr;
jmp_buf scheduler;
unsigned votes = 0, result_of_votes = 0;

// Where a failing kernel goes.
sigjmp_buf escape;
volatile sig_atomic_t in_kernel = 0;
std::string* reason = nullptr;

void back_to_scheduler() {
  if (_setjmp(self->here) == 0) _longjmp(scheduler, 1);
}

// A fiber runs one thread of each block that it is given.
void fiber_main() {
  for (;;) {
    kernel->call(arguments);
    states[self->number] = State::kFinished;
    back_to_scheduler();
  }
}

void resume(Fiber& f) {
  self = &f;
  spruce_thread_idx = f.index;
  if (_setjmp(scheduler) != 0) return;
  if (f.started) _longjmp(f.here, 1);
  f.started = true;
  setcontext(&f.start);
}

void prepare_fibers(size_t n) {
  if (stacks == nullptr) {
    void* p = ::mmap(nullptr, 1024 * kStack, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) std::abort();
    stacks = static_cast<char*>(p);
  }
  while (fibers.size() < n) {
    fibers.push_back(std::make_unique<Fiber>());
    Fiber& f = *fibers.back();
    f.number = fibers.size() - 1;
    getcontext(&f.start);
    f.start.uc_stack.ss_sp = stacks + f.number * kStack;
    f.start.uc_stack.ss_size = kStack;
    f.start.uc_link = nullptr;
    makecontext(&f.start, fiber_main, 0);
  }
}

// Lets the lanes first..first+lanes go on whose warp barrier all have reached that it waits for.
bool release_warp(size_t first, size_t lanes) {
  unsigned waiting = 0;
  for (size_t i = 0; i < lanes; ++i)
    waiting |= static_cast<unsigned>(states[first + i] == State::kAtWarpBarrier) << i;
  bool any = false;
  for (unsigned left = waiting; left != 0;) {
    const unsigned mask = fibers[first + static_cast<size_t>(std::countr_zero(left))]->mask;
    unsigned same = 0;  // who waits with that mask
    for (unsigned rest = left; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(rest));
      same |= static_cast<unsigned>(fibers[first + i]->mask == mask) << i;
    }
    left &= ~same;
    if ((mask & (lanes < kLanes ? (1u << lanes) - 1 : ~0u)) != same) continue;
    unsigned long long given[kLanes];
    std::memset(given, 0xff, sizeof given);  // what no lane has given
    for (size_t i = 0; i < lanes; ++i) {
      if ((same >> i & 1u) != 0) given[i] = fibers[first + i]->given;
    }
    for (size_t i = 0; i < lanes; ++i) {
      if ((same >> i & 1u) == 0) continue;
      std::memcpy(fibers[first + i]->received, given, sizeof given);
      states[first + i] = State::kRunning;
    }
    any = true;
  }
  return any;
}

// Lets those go on whose barrier is reached by all that it waits for. Returns false where nobody
// can go on.
bool release(size_t n) {
  bool any = false;
  for (size_t first = 0; first < n; first += kLanes)
    any = release_warp(first, std::min<size_t>(kLanes, n - first)) || any;
  for (size_t i = 0; i < n; ++i) {
    if (states[i] != State::kAtBlockBarrier) return any;
  }
  result_of_votes = votes;
  votes = 0;
  std::fill_n(states.begin(), n, State::kRunning);
  return true;
}

std::string stuck(size_t n) {
  size_t block = 0, warp = 0, finished = 0;
  for (size_t i = 0; i < n; ++i) {
    block += states[i] == State::kAtBlockBarrier;
    warp += states[i] == State::kAtWarpBarrier;
    finished += states[i] == State::kFinished;
  }
  return "a barrier that not all threads reach: " + std::to_string(block) +
         " wait for the block, " + std::to_string(warp) + " for their warp, " +
         std::to_string(finished) + " have ended";
}

std::string run_fibers(Size3 block, std::mt19937_64& random) {
  const size_t n = size_t{block.x} * block.y * block.z;
  size_t t = 0;
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x, ++t) fibers[t]->index = {x, y, z};
    }
  }
  states.assign(n, State::kRunning);
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  votes = 0;
  // Some warps go on until they wait for the others, so that they come to shared memory that those
  // have yet to read; then some others.
  uint64_t going = random();
  for (;;) {
    std::shuffle(order.begin(), order.end(), random);
    bool all_finished = true, some_went = false, some_stay = false;
    for (const uint32_t i : order) {
      const bool goes = (going >> i / kLanes & 1) != 0;
      some_stay = some_stay || (states[i] == State::kRunning && !goes);
      some_went = some_went || (states[i] == State::kRunning && goes);
      if (states[i] == State::kRunning && goes) resume(*fibers[i]);
      all_finished = all_finished && states[i] == State::kFinished;
    }
    if (all_finished) return {};
    if (!release(n) && !some_stay && !some_went) return stuck(n);
    if (!some_went) going = random();
  }
}

void run_plain(Size3 block) {
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x) {
        spruce_thread_idx = {x, y, z};
        kernel->call(arguments);
      }
    }
  }
}

constexpr int kCaught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction former_actions[NSIG];

void on_signal(int number, siginfo_t* info, void* context) {
  if (in_kernel != 0) siglongjmp(escape, number);
  const struct sigaction& former = former_actions[number];
  if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction != nullptr) {
    former.sa_sigaction(number, info, context);
    return;
  }
  ::signal(number, SIG_DFL);  // the access is made again, and ends the program
}

void catch_signals() {
  static const bool once = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (const int number : kCaught) ::sigaction(number, &action, &former_actions[number]);
    return true;
  }();
  (void)once;
}

}  // namespace

std::string run_grid(const HostKernel& k, Size3 grid, Size3 block, size_t dynamic_shared,
                     void** args, uint64_t seed) {
  catch_signals();
  std::mt19937_64 random(seed);
  kernel = &k;
  arguments = args;
  spruce_grid_dim = {grid.x, grid.y, grid.z};
  spruce_block_dim = {block.x, block.y, block.z};
  const size_t threads = size_t{block.x} * block.y * block.z;
  if (k.has_barriers) prepare_fibers(threads);
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  // Blocks in steps that meet each once: any start, and a stride without a common factor.
  uint64_t stride = random() % blocks | 1;
  while (std::gcd(stride, blocks) != 1) stride += 2;
  uint64_t b = random() % blocks;
  std::string why;
  reason = &why;
  in_kernel = 1;
  const int failed = sigsetjmp(escape, 1);
  if (failed != 0) {
    in_kernel = 0;
    fibers.clear();  // some stand in the middle of the kernel
    if (why.empty()) {
      why = failed == SIGFPE   ? "a division of integers by zero"
            : failed == SIGILL ? "an access at an address that is no multiple of its size"
                               : "an access to memory that is not an argument of the kernel";
    }
    why += " (block " + std::to_string(spruce_block_idx.x) + "," +
           std::to_string(spruce_block_idx.y) + "," + std::to_string(spruce_block_idx.z) +
           " thread " + std::to_string(spruce_thread_idx.x) + "," +
           std::to_string(spruce_thread_idx.y) + "," + std::to_string(spruce_thread_idx.z) + ")";
    return why;
  }
  for (uint64_t n = 0; n < blocks; ++n, b = (b + stride) % blocks) {
    spruce_block_idx = {static_cast<unsigned>(b % grid.x),
                        static_cast<unsigned>(b / grid.x % grid.y),
                        static_cast<unsigned>(b / grid.x / grid.y)};
    if (k.shared_bytes > 0) std::memset(k.shared, 0xff, k.shared_bytes);
    if (dynamic_shared > 0) std::memset(spruce_dynamic_shared, 0xff, dynamic_shared);
    if (!k.has_barriers) {
      run_plain(block);
      continue;
    }
    why = run_fibers(block, random);
    if (!why.empty()) {
      fibers.clear();
      break;
    }
  }
  in_kernel = 0;
  return why;
}

}  // namespace spruce::cuda_emulator

using spruce::cuda_emulator::back_to_scheduler;
using spruce::cuda_emulator::self;
using spruce::cuda_emulator::State;
using spruce::cuda_emulator::states;

extern "C" unsigned spruce_block_barrier(int predicate) {
  spruce::cuda_emulator::votes += predicate != 0;
  states[self->number] = State::kAtBlockBarrier;
  back_to_scheduler();
  return spruce::cuda_emulator::result_of_votes;
}

extern "C" const unsigned long long* spruce_warp_exchange(unsigned mask, unsigned long long value) {
  if ((mask >> self->number % spruce::cuda_emulator::kLanes & 1u) == 0)
    spruce_trap("a lane is not in the mask that it waits with");
  self->given = value;
  self->mask = mask;
  states[self->number] = State::kAtWarpBarrier;
  back_to_scheduler();
  return self->received;
}

extern "C" unsigned spruce_active_mask() { return 0xffffffffu; }

extern "C" void spruce_trap(const char* why) {
  *spruce::cuda_emulator::reason = why;
  siglongjmp(spruce::cuda_emulator::escape, SIGTRAP);
}
