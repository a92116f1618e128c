// SPDX-License-Identifier: Apache-2.0
// Saving puts the whole new file in place or leaves the old one as it was.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "spruce/core/io/io.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/reduce.h"
#include "tests/core/io/file_limit.h"
#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace atomic_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

NamedArrays large(float value) { return {{"w", full({100000}, value)}, {"v", full({100}, value)}}; }

TEST(AtomicSave, AKilledProcessLeavesTheOldFileWhole) {
  const Scratch s;
  const std::string path = s.path("model.safetensors");
  save_safetensors(path, large(1));
  const std::string before = s.read("model.safetensors");
  const NamedArrays next = large(2);

  const pid_t child = fork();
  if (child == 0) {  // the signal of a file that grows too large ends it in the middle of the data
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const FileLimit limit(200000);
    signal(SIGXFSZ, SIG_DFL);
    save_safetensors(path, next);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
  EXPECT_EQ(s.read("model.safetensors"), before);
  EXPECT_EQ(load_safetensors(path).at("w").data<float>()[99999], 1.0f);
  EXPECT_EQ(s.names().size(), 2u);  // the half-written file stands beside the old one
  save_safetensors(path, next);
  EXPECT_EQ(load_safetensors(path).at("w").data<float>()[99999], 2.0f);
}

TEST(AtomicSave, AFullDiskIsAnErrorAndLeavesTheOldFileWhole) {
  const Scratch s;
  const std::string path = s.path("x");
  const auto attempt = [&](const std::function<void(const NamedArrays&)>& save) {
    save(large(1));
    const std::string before = s.read("x");
    std::string error;
    {
      const FileLimit limit(200000);
      error = io_error([&] { save(large(2)); });
    }
    EXPECT_THAT(error,
                HasSubstr("x: cannot be written, the old file is unchanged: File too large"));
    EXPECT_EQ(s.read("x"), before);
    EXPECT_THAT(s.names(), ElementsAre("x"));
  };
  attempt([&](const NamedArrays& a) { save_safetensors(path, a); });
  attempt([&](const NamedArrays& a) { save_npz(path, a); });
  attempt([&](const NamedArrays& a) { save_npy(path, a.at("w")); });
}

TEST(AtomicSave, PlacesThatCannotBeWritten) {
  const Scratch s;
  EXPECT_THAT(io_error([&] { save_npy(s.path("no/such/folder/x.npy"), array(1)); }),
              HasSubstr("no file can be made in its folder: No such file"));
  EXPECT_THAT(io_error([&] { save_npy(s.path(""), array(1)); }), HasSubstr("is no regular file"));
  EXPECT_THAT(io_error([] { save_npy("/dev/full", array(1)); }),
              HasSubstr("/dev/full: is no regular file"));
  EXPECT_THAT(io_error([] { (void)load_npy("/dev/null"); }), HasSubstr("it is no regular file"));
}

TEST(AtomicSave, APathWithANulByteIsNoOtherFile) {
  const Scratch s;
  save_npy(s.path("x"), array(1));
  const std::string path = s.path("x") + std::string("\0.npy", 5);
  const auto refused = HasSubstr("x\\0.npy: the path has a NUL byte at ");
  EXPECT_THAT(io_error([&] { save_npy(path, array(2)); }), refused);
  EXPECT_THAT(io_error([&] { save_npz(path, {{"w", array(2)}}); }), refused);
  EXPECT_THAT(io_error([&] { save_safetensors(path, {{"w", array(2)}}); }), refused);
  EXPECT_THAT(io_error([&] { save_tree(path, array(2)); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_npy(path); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_npz(path); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_idx(path); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_safetensors(path); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_safetensors_metadata(path); }), refused);
  EXPECT_THAT(io_error([&] { (void)load_tree(path, array(2)); }), refused);
  EXPECT_EQ(load_npy(s.path("x")).item<int>(), 1);
  EXPECT_THAT(s.names(), ElementsAre("x"));
}

TEST(AtomicSave, KeepsTheModeAndFollowsLinks) {
  const Scratch s;
  save_npy(s.path("x.npy"), array(1));
  chmod(s.path("x.npy").c_str(), 0600);
  ASSERT_EQ(symlink("x.npy", s.path("link.npy").c_str()), 0);
  save_npy(s.path("link.npy"), array(2));
  struct stat status;
  ASSERT_EQ(lstat(s.path("link.npy").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(s.path("x.npy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(load_npy(s.path("x.npy")).item<int>(), 2);
}

TEST(AtomicSave, ThreadsThatSaveToOnePlaceLeaveOneOfTheFiles) {
  const Scratch s;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&s, t] {
      for (int i = 0; i < 10; ++i) save_safetensors(s.path("x"), {{"w", full({5000}, Array(t))}});
    });
  }
  for (std::thread& t : threads) t.join();
  const Array w = load_safetensors(s.path("x")).at("w");
  EXPECT_TRUE(all(w == w[0]).item<bool>());
  EXPECT_THAT(s.names(), ElementsAre("x"));
}

TEST(AtomicSave, ErrorsNameTheUsersLine) {
  const std::string error = io_error([] { (void)load_npy("/no/such/file.npy"); });
  EXPECT_THAT(error, StartsWith("load_npy: /no/such/file.npy: cannot be opened"));
  EXPECT_THAT(error, HasSubstr("atomic_test.cc:" + std::to_string(__LINE__ - 2)));
}

}  // namespace atomic_test
}  // namespace spruce::io
