// SPDX-License-Identifier: Apache-2.0
// Files that were damaged at random: each is read, or is an error of a type that says which file
// and where.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "spruce/core/io/idx.h"
#include "spruce/core/io/npy.h"
#include "spruce/core/ops/ops.h"
#include "spruce/data/checkpoints.h"
#include "spruce/data/files/csv.h"
#include "spruce/data/files/image_folder.h"
#include "spruce/data/files/mapped.h"
#include "spruce/data/text/bpe.h"
#include "tests/core/io/gzip.h"
#include "tests/core/io/scratch.h"

namespace spruce::data {
namespace damage_test {

using io::MemoryFile;
using io::Scratch;
using testing::AnyOf;
using testing::HasSubstr;

// One of: bytes changed, taken out, put in (some that mean something in texts), written twice,
// moved to another place, the end cut off, or a number of four bytes made large.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t changes = 1 + below(3); changes > 0; --changes) {
    const size_t at = below(bytes.size()), count = 1 + below(std::min<size_t>(bytes.size(), 12));
    switch (below(7)) {
      case 0:
        for (size_t i = at; i < std::min(bytes.size(), at + count); ++i)
          bytes[i] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, count);
        break;
      case 2:
        bytes.insert(at, count, "\",\n\r \0-9e.#\xff"[below(13)]);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, count));
        break;
      case 4: {
        const std::string part = bytes.substr(at, count);
        bytes.erase(at, count).insert(below(bytes.size()), part);
        break;
      }
      case 5:
        bytes.resize(at);
        break;
      default:
        for (size_t i = at; i < std::min(bytes.size(), at + 4); ++i) bytes[i] = '\xff';
    }
  }
  return bytes;
}

// Reads what `count` kinds of damage make of a file. `load` uses all that it has read. Errors have
// the path and one of the words that say where. How many were errors.
int try_damage(const std::string& good, int count, const std::vector<std::string>& places,
               const std::function<void(const std::string&)>& load) {
  const MemoryFile file;
  std::mt19937 random(20261124);
  int errors = 0;
  EXPECT_NO_THROW(load(file.with(good)));
  for (int i = 0; i < count; ++i) {
    const std::string bytes = damaged(good, random);
    const std::string path = file.with(bytes);
    try {
      load(path);
    } catch (const Error& e) {
      ++errors;
      const std::string what = e.what();
      const bool placed = std::any_of(places.begin(), places.end(), [&](const std::string& p) {
        return what.find(p) != what.npos;
      });
      EXPECT_THAT(what, HasSubstr(path)) << "damage " << i;
      EXPECT_TRUE(placed) << "damage " << i << " is not placed: " << what;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "damage " << i << " is no error of Spruce: " << e.what();
    }
    if (testing::Test::HasFailure()) break;
  }
  return errors;
}

TEST(Damage, Csv) {
  const std::string good =
      "\xef\xbb\xbfsepal,petal,\"kind, of\"\r\n5.1,1.4,setosa\r\n4.9,-2e3,\"two\nlines\"\r\n"
      "\r\n6.0,,\"a \"\"mark\"\"\"\r\n7,8,9\r\n";
  const auto load = [](const std::string& path) {
    const CsvTable t = load_csv(path);
    for (const std::string& name : t.names()) {
      EXPECT_EQ(t.text(name).size(), static_cast<size_t>(t.rows()));
      EXPECT_EQ(t.categories(name).ids.size(), t.rows());
    }
    if (!t.names().empty()) t.matrix({t.names()[0]}, float64);
  };
  const int errors = try_damage(good, 5'000, {": line ", " several columns "}, load);
  EXPECT_GT(errors, 2'500);
  EXPECT_LT(errors, 5'000);
}

TEST(Damage, Cifar) {
  std::string good;
  for (int i = 0; i < 2; ++i) {
    good += static_cast<char>(7 + i);
    for (int p = 0; p < 3072; ++p) good += static_cast<char>(p * (i + 1));
  }
  const auto load = [](const std::string& path) {
    const LabelledImages set = load_cifar10({path});
    EXPECT_EQ(set.images.shape(), (Shape{set.labels.shape(0), 32, 32, 3}));
    EXPECT_LT(max(set.labels).item<int32_t>(), 10);
  };
  const int errors = try_damage(good, 4'000, {": at byte "}, load);
  EXPECT_GT(errors, 2'000);
  EXPECT_LT(errors, 4'000);
}

TEST(Damage, Cifar100) {
  std::string good("\x13\x63", 2);
  good += std::string(3072, 'x');
  const auto load = [](const std::string& path) {
    const Cifar100 set = load_cifar100(path);
    EXPECT_LT(max(set.labels).item<int32_t>(), 100);
    EXPECT_LT(max(set.coarse).item<int32_t>(), 20);
  };
  EXPECT_GT(try_damage(good, 2'000, {": at byte "}, load), 1'000);
}

TEST(Damage, BytePairs) {
  const std::string good = "#version: 0.2\nĠ t\nĠ a\nh e\ni n\nr e\no n\nĠt he\ne r\nĠ s\na t\n";
  const std::string text = "then in the hatter's on a rain\n\xff";
  const auto load = [&](const std::string& path) {
    const BytePairs bpe = BytePairs::load(path);
    EXPECT_EQ(bpe.decode(bpe.encode(text)), text);
  };
  const int errors = try_damage(good, 5'000, {": line ", " several columns "}, load);
  EXPECT_GT(errors, 2'000);
  EXPECT_LT(errors, 5'000);
}

TEST(Damage, Idx) {
  const std::string good("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\1\2\3\4\5\6", 18);
  const auto load = [](const std::string& path) { (void)sum(io::load_idx(path)); };
  EXPECT_GT(try_damage(good, 5'000, {": at byte "}, load), 2'500);
  EXPECT_GT(try_damage(io::gzip(good), 5'000, {"at byte ", "(uncompressed)"}, load), 3'500);
}

TEST(Damage, MappedArray) {
  const Scratch s;
  io::save_npy(s.path("x.npy"), arange(24, int32).reshape({6, 4}));
  io::save_npy(s.path("b.npy"), arange(24, int32).reshape({6, 4}) % 2 == 1);
  const auto load = [](const std::string& path) {
    const MappedArray m = MappedArray::npy(path);
    m.slice(0, m.size());
    if (m.size() > 0) m.take({m.size() - 1, 0});
  };
  for (const char* name : {"x.npy", "b.npy"}) {
    const std::string good = s.read(name);
    const int errors = try_damage(good, 5'000, {": at byte ", "one number", "a bool is"}, load);
    EXPECT_GT(errors, 2'500);
  }
  const auto load_raw = [](const std::string& path) {
    const MappedArray m = MappedArray::raw(path, int32, {4, 2}, 4);
    m.slice(0, 4);
  };
  EXPECT_GT(try_damage(std::string(36, 'x'), 2'000, {": at byte "}, load_raw), 500);
}

TEST(Damage, Checkpoints) {
  struct Run {
    Array weight, bias;
    Key key;
    double rate;
  };
  const Run run{arange(6.0f).reshape({2, 3}), ones({2}), Key(3), 0.5};
  const Scratch s;
  io::Checkpoints checkpoints(s.path("x"), 0);
  checkpoints.save(1, run);
  checkpoints.save(2, run);
  checkpoints.wait();
  const std::string newest = checkpoints.path_of(2);
  const std::string good = s.read("x/step_000000000002.safetensors");
  std::mt19937 random(20261124);
  int passed_over = 0;
  for (int i = 0; i < 800; ++i) {
    const std::string bytes = damaged(good, random);
    s.file("x/step_000000000002.safetensors", bytes);
    try {
      // Blanks of the header may have changed, and nothing else.
      const Run read = checkpoints.restore_step(2, run);
      EXPECT_TRUE(tree::equal(read, run) && read.rate == run.rate) << "damage " << i;
    } catch (const IoError& e) {
      EXPECT_THAT(e.what(), HasSubstr(newest));
      EXPECT_THAT(e.what(), AnyOf(HasSubstr("byte"), HasSubstr("'")));
      // The run goes on from the one before.
      const auto last = checkpoints.restore(run);
      ASSERT_TRUE(last.has_value());
      EXPECT_EQ(last->step, 1);
      EXPECT_TRUE(tree::equal(last->tree, run));
      ++passed_over;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(passed_over, 600);
}

}  // namespace damage_test
}  // namespace spruce::data
