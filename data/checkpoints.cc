// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/checkpoints.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <future>

#include "spruce/core/io/path.h"

namespace spruce::io {

namespace fs = std::filesystem;

namespace internal {
namespace {

constexpr std::string_view kBegin = "step_", kEnd = ".safetensors";

[[noreturn]] void throw_folder(const std::string& folder, const fs::filesystem_error& e) {
  throw IoError("Checkpoints: the folder " + folder + ": " + e.code().message());
}

// The number that stands between two texts in a name; false where there is none.
bool number_between(std::string_view name, std::string_view begin, std::string_view end,
                    int64_t* out) {
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size())
    return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(end.size());
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), *out);
  return parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && *out >= 0;
}

// A file of AtomicFile, ".spruce-<process>-<number>.tmp", whose process is no more.
bool is_left_over(const std::string& name) {
  const size_t dash = name.rfind('-');
  int64_t process = 0;
  return name.ends_with(".tmp") && dash != name.npos &&
         number_between(name.substr(0, dash), ".spruce-", "", &process) && process != ::getpid() &&
         ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

}  // namespace

/// Writes one checkpoint at a time.
class CheckpointWriter {
 public:
  CheckpointWriter(std::string folder, int64_t keep, bool background)
      : folder_(std::move(folder)), keep_(keep), background_(background) {}
  ~CheckpointWriter() {
    if (pending_.valid()) pending_.wait();
  }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  std::string path_of(int64_t step) const {
    char name[64];
    std::snprintf(name, sizeof name, "/step_%012" PRId64 ".safetensors", step);
    return folder_ + name;
  }

  std::vector<CheckpointFile> newest_first() const {
    std::vector<CheckpointFile> out;
    try {
      for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        int64_t step = 0;
        if (number_between(entry.path().filename().string(), kBegin, kEnd, &step))
          out.push_back({step, entry.path().string()});
      }
    } catch (const fs::filesystem_error& e) {
      throw_folder(folder_, e);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
    return out;
  }

  void wait() {
    if (pending_.valid()) pending_.get();
  }

  void write(int64_t step, std::vector<tree::Entry> entries, StaticTexts statics) {
    wait();
    auto work = [this, step, entries = std::move(entries), statics = std::move(statics),
                 line = LocScope::current()] {
      const OpScope at("Checkpoints::save", line);
      save_leaves(path_of(step), entries, statics);
      remove_old(step);
    };
    if (background_)
      pending_ = std::async(std::launch::async, std::move(work));
    else
      work();
  }

 private:
  // Keeps what was just written, even where the folder has later steps of a run before.
  void remove_old(int64_t written) const {
    if (keep_ == 0) return;
    int64_t kept = 1;
    for (const CheckpointFile& file : newest_first()) {
      if (file.step == written || kept++ < keep_) continue;
      std::error_code ignored;  // someone else may have removed it
      fs::remove(file.path, ignored);
    }
  }

  std::string folder_;
  int64_t keep_;
  bool background_;
  std::future<void> pending_;
};

}  // namespace internal

Checkpoints::Checkpoints(const std::string& folder, int64_t keep, const CheckpointsOptions& options,
                         Loc loc) {
  const OpScope at("Checkpoints", loc);
  if (keep < 0) {
    throw ValueError("Checkpoints: keep is " + std::to_string(keep) +
                     "; it has to be positive, or 0 to keep all");
  }
  internal::make_folder("Checkpoints", folder);
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (internal::is_left_over(entry.path().filename().string())) {
        std::error_code ignored;
        fs::remove(entry.path(), ignored);
      }
    }
  } catch (const fs::filesystem_error& e) {
    internal::throw_folder(folder, e);
  }
  writer_ = std::make_unique<internal::CheckpointWriter>(folder, keep, options.background);
}

internal::CheckpointWriter& Checkpoints::writer() const {
  if (writer_ == nullptr)
    throw ValueError("Checkpoints: they were moved to another variable; use that one");
  return *writer_;
}

Checkpoints::~Checkpoints() = default;
Checkpoints::Checkpoints(Checkpoints&&) noexcept = default;
Checkpoints& Checkpoints::operator=(Checkpoints&&) noexcept = default;

void Checkpoints::write(int64_t step, std::vector<tree::Entry> entries,
                        internal::StaticTexts statics) {
  if (step < 0)
    throw ValueError("Checkpoints::save: the step is " + std::to_string(step) + ", below 0");
  for (const tree::Entry& e : entries) {
    // Here, where the user's line is known, and not on the thread.
    if (e.value.is_tracer() && e.value.impl()->concrete() == nullptr) {
      throw TracerError("Checkpoints::save: the array '" + e.path + "' of type " +
                        to_string(e.value.aval()) +
                        " has no value while its function is traced; save it outside");
    }
  }
  internal::check_given("Checkpoints::save", entries);
  internal::check_texts("Checkpoints::save", entries, statics);
  writer().write(step, std::move(entries), std::move(statics));
}

std::vector<internal::CheckpointFile> Checkpoints::newest_first() const {
  writer().wait();
  return writer().newest_first();
}

void Checkpoints::throw_none_whole(const std::string& problem) const {
  throw IoError("Checkpoints::restore: none of the checkpoints can be read; of the newest: " +
                problem);
}

void Checkpoints::remove_after(int64_t step, Loc loc) {
  const OpScope at("Checkpoints::remove_after", loc);
  for (const internal::CheckpointFile& file : newest_first()) {
    if (file.step <= step) break;
    std::error_code problem;
    fs::remove(file.path, problem);
    if (problem) {
      throw IoError("Checkpoints::remove_after: " + file.path +
                    ": cannot be removed: " + problem.message());
    }
  }
}

std::vector<int64_t> Checkpoints::steps(Loc loc) const {
  const OpScope at("Checkpoints::steps", loc);
  std::vector<int64_t> out;
  for (const internal::CheckpointFile& file : newest_first()) out.insert(out.begin(), file.step);
  return out;
}

std::string Checkpoints::path_of(int64_t step) const { return writer().path_of(step); }

void Checkpoints::wait(Loc loc) const {
  const OpScope at("Checkpoints::wait", loc);
  writer().wait();
}

}  // namespace spruce::io
