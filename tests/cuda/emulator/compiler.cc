// SPDX-License-Identifier: Apache-2.0
// What was compiled stays in a folder of the build, under a name made from the text: with the text
// itself (.cu), which other tests give to NVRTC.
#include "tests/cuda/emulator/compiler.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <regex>

#include "tests/cuda/emulator/emulator.h"

struct _nvrtcProgram {
  std::string text, log, image;
};

namespace spruce::cuda_emulator {
namespace {

namespace fs = std::filesystem;
constexpr const char* kHeader = SPRUCE_SOURCE_DIR "/tests/cuda/emulator/kernel_header.h";
constexpr const char* kFolder = SPRUCE_EMULATED_KERNELS;
// What a kernel calls of libm is in the program that loads it. An access that is not aligned, which
// a GPU does not make, is an instruction that raises SIGILL.
constexpr const char* kFlags =
    " -std=c++17 -w -fPIC -shared -ffp-contract=off -fno-math-errno -fno-strict-aliasing"
    " -fno-exceptions -fno-asynchronous-unwind-tables -nostdlib -fno-use-linker-plugin"
    " -fsanitize=alignment -fsanitize-undefined-trap-on-error ";
// Thousands of texts are compiled, most of them for one call of a few elements: compiling has to
// be quick, not what it makes. Programs that work on many elements set the variable.
const std::string& flags() {
  static const bool fast = std::getenv("SPRUCE_EMULATOR_OPTIMIZES") != nullptr;
  static const std::string all = std::string(fast ? " -O1" : " -O0") + kFlags;
  return all;
}
constexpr std::string_view kMark = "emulated ";

std::atomic<int64_t> compiled{0};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string hash(const std::string& s) {
  uint64_t h[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
  for (const char c : s) {
    for (uint64_t& each : h) each = (each ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    h[1] = (h[1] << 7 | h[1] >> 57) + 0x9e3779b97f4a7c15u;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h[0]),
                static_cast<unsigned long long>(h[1]));
  return text;
}

// Dynamic shared memory has one address, and each kernel a function that takes its arguments as the
// driver does.
std::string for_the_host(const std::string& text) {
  static const std::regex dynamic(
      R"(extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w:\s]+?)\s*(\w+)\s*\[\s*\]\s*;)");
  static const std::regex kernel(
      R"(extern\s+"C"\s+__global__\s+(?:__launch_bounds__\([^)]*\)\s+)?void\s+)"
      R"((?:__launch_bounds__\([^)]*\)\s+)?(\w+)\s*\()");
  std::string out =
      std::regex_replace(text, dynamic, "$1* const $2 = (($1*)spruce_dynamic_shared);");
  out += R"(
extern "C" char __start_spruce_shared[] __attribute__((weak));
extern "C" char __stop_spruce_shared[] __attribute__((weak));
extern "C" void* spruce_shared_begin() { return __start_spruce_shared; }
extern "C" size_t spruce_shared_size() { return __stop_spruce_shared - __start_spruce_shared; }
)";
  for (std::sregex_iterator i(text.begin(), text.end(), kernel), end; i != end; ++i) {
    const std::string name = (*i)[1];
    out += "extern \"C\" void spruce_call_" + name + "(void** p) { spruce_call(" + name +
           ", p); }\nextern \"C\" size_t spruce_sizes_" + name +
           "(size_t* s) { return spruce_sizes(" + name + ", s); }\n";
  }
  return out;
}

// A path beside the given one that no other thread or process writes to.
std::string own_path(const std::string& path) {
  static std::atomic<int> next{0};
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(next++);
}

// A header of that text, precompiled.
std::string precompiled_header(const std::string& text) {
  const std::string path = std::string(kFolder) + "/" + hash(text + flags()) + ".h";
  if (fs::exists(path)) return path;
  const std::string own = own_path(path);
  std::ofstream(own, std::ios::binary) << text;
  const std::string command = std::string(SPRUCE_HOST_COMPILER) + flags() + "-x c++-header " + own +
                              " -o " + own + ".gch > /dev/null 2>&1";
  // Without it texts only take longer. What is wrong in it, the text that includes it reports.
  if (std::system(command.c_str()) == 0) fs::rename(own + ".gch", path + ".gch");
  fs::rename(own, path);
  return path;
}

// What the texts of many kernels begin with: the functions in front of the first one.
std::string_view head_of(std::string_view text) {
  const size_t kernel = text.find("extern \"C\"");
  const std::string_view head = text.substr(0, kernel == text.npos ? 0 : kernel);
  return head.find("__shared__") == head.npos ? head : std::string_view();
}

// Adds the path of a text to the file that SPRUCE_EMULATOR_TEXTS names, if there is one.
void note(const std::string& text) {
  static const char* const name = std::getenv("SPRUCE_EMULATOR_TEXTS");
  if (name != nullptr) std::ofstream(name, std::ios::app) << text + "\n";
}

// The path of the library that holds the kernels of the text, or "" and a log.
std::string compile(const std::string& text, std::string& log) {
  fs::create_directories(kFolder);
  static const std::string every = read(kHeader);
  const std::string stem = std::string(kFolder) + "/" + hash(text + every + flags());
  const std::string library = stem + ".so";
  note(stem + ".cu");
  if (fs::exists(library)) return library;
  const std::string own = own_path(stem), head(head_of(text));
  const std::string header = precompiled_header(every + head);
  std::ofstream(own + ".cu", std::ios::binary) << text;
  std::ofstream(own + ".cc", std::ios::binary) << for_the_host(text.substr(head.size()));
  const std::string command = std::string(SPRUCE_HOST_COMPILER) + flags() + "-include " + header +
                              " -x c++ " + own + ".cc -o " + own + ".so > " + own + ".log 2>&1";
  ++compiled;
  const int status = std::system(command.c_str());
  if (status != 0) {
    log = read(own + ".log");
    return {};
  }
  fs::rename(own + ".cu", stem + ".cu");
  fs::rename(own + ".so", library);
  fs::remove(own + ".cc");
  fs::remove(own + ".log");
  return library;
}

nvrtcResult version(int* major, int* minor) {
  *major = CUDA_VERSION / 1000;
  *minor = CUDA_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}

const char* error_string(nvrtcResult r) {
  return r == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

nvrtcResult create(nvrtcProgram* program, const char* text, const char*, int headers,
                   const char* const*, const char* const*) {
  if (headers != 0) return NVRTC_ERROR_INVALID_INPUT;
  *program = new _nvrtcProgram{text, {}, {}};
  return NVRTC_SUCCESS;
}

nvrtcResult compile_program(nvrtcProgram program, int, const char* const*) {
  const std::string path = compile(program->text, program->log);
  if (path.empty()) return NVRTC_ERROR_COMPILATION;
  program->image = std::string(kMark) + path;
  return NVRTC_SUCCESS;
}

nvrtcResult log_size(nvrtcProgram program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult get_log(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult cubin_size(nvrtcProgram program, size_t* bytes) {
  *bytes = program->image.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult cubin(nvrtcProgram program, char* image) {
  std::memcpy(image, program->image.c_str(), program->image.size() + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult destroy(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

std::mutex mutex;
std::map<void*, bool>& modules_with_barriers() {
  static auto* m = new std::map<void*, bool>;
  return *m;
}

}  // namespace

const cuda::NvrtcTable& nvrtc_table() {
  static const cuda::NvrtcTable table = {
      .nvrtcVersion = version,
      .nvrtcGetErrorString = error_string,
      .nvrtcCreateProgram = create,
      .nvrtcCompileProgram = compile_program,
      .nvrtcGetProgramLogSize = log_size,
      .nvrtcGetProgramLog = get_log,
      .nvrtcGetCUBINSize = cubin_size,
      .nvrtcGetCUBIN = cubin,
      .nvrtcDestroyProgram = destroy,
  };
  return table;
}

void* open_module(const void* image) {
  const std::string_view bytes(static_cast<const char*>(image));
  if (bytes.substr(0, kMark.size()) != kMark) return nullptr;
  const std::string path(bytes.substr(kMark.size()));
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::fprintf(stderr, "emulator: %s\n", ::dlerror());
    return nullptr;
  }
  // A function that is not called is not in the table of symbols.
  const std::string library = read(path);
  const std::lock_guard lock(mutex);
  modules_with_barriers()[module] = library.find("spruce_block_barrier") != std::string::npos ||
                                    library.find("spruce_warp_exchange") != std::string::npos;
  return module;
}

bool find_function(void* module, const char* name, HostFunction& out) {
  const auto symbol = [&](const std::string& s) { return ::dlsym(module, s.c_str()); };
  void* call = symbol(std::string("spruce_call_") + name);
  if (call == nullptr) return false;
  out.name = name;
  out.kernel.call = reinterpret_cast<void (*)(void**)>(call);
  const auto sizes =
      reinterpret_cast<size_t (*)(size_t*)>(symbol(std::string("spruce_sizes_") + name));
  out.sizes.resize(sizes(nullptr));
  sizes(out.sizes.data());
  out.kernel.shared = reinterpret_cast<void* (*)()>(symbol("spruce_shared_begin"))();
  out.kernel.shared_bytes = reinterpret_cast<size_t (*)()>(symbol("spruce_shared_size"))();
  const std::lock_guard lock(mutex);
  out.kernel.has_barriers = modules_with_barriers()[module];
  return true;
}

int64_t compiled_texts() { return compiled; }

std::string driver_without_functions() {
  fs::create_directories(kFolder);
  const std::string path = std::string(kFolder) + "/driver_without_functions.so";
  const std::string command = std::string(SPRUCE_HOST_COMPILER) +
                              " -shared -Wl,-soname,libcuda.so.1 -x c++ /dev/null -o " + path;
  return std::system(command.c_str()) == 0 ? path : "";
}

}  // namespace spruce::cuda_emulator
