// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/log/log.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/data/files/csv.h"
#include "spruce/data/files/image.h"
#include "spruce/data/log/tensorboard.h"
#include "tests/core/io/file_limit.h"
#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace log_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- progress ----------------------------------------------------------------------------------

struct Shown {
  double now = 100;
  std::vector<std::string> lines;
  int last = 0;
  ProgressOptions options(ProgressOptions o) {
    o.clock = [this] { return now; };
    o.write = [this](const std::string& line, bool end) {
      lines.push_back(line);
      last += end;
    };
    return o;
  }
};

TEST(Progress, RateAndEstimate) {
  Shown s;
  Progress p(s.options({.steps = 40, .per_epoch = 10}));
  EXPECT_EQ(p.rate(), 0);
  EXPECT_FALSE(p.left().has_value());
  for (int i = 0; i < 14; ++i) {
    s.now += 0.5;
    p.step({{"loss", 1.0 / (i + 1)}, {"accuracy", 0.5}});
  }
  EXPECT_DOUBLE_EQ(p.rate(), 2);
  EXPECT_DOUBLE_EQ(p.left().value(), 13);
  EXPECT_EQ(s.lines.size(), 14u);
  EXPECT_EQ(s.lines.back(),
            "epoch 2/4 [=========>..................] 14/40  2.0 steps/s  0:13 left  loss 0.07143  "
            "accuracy 0.5");
  p.finish();
  p.finish();
  EXPECT_EQ(s.last, 1);
}

TEST(Progress, WritesNoMoreOftenThanTheInterval) {
  Shown s;
  Progress p(s.options({.steps = 1000, .interval = 1}));
  for (int i = 0; i < 1000; ++i) {
    s.now += 0.01;
    p.step();
  }
  EXPECT_GE(s.lines.size(), 10u);
  EXPECT_LE(s.lines.size(), 11u);
}

TEST(Progress, GoesOnWithARunThatWasStopped) {
  Shown s;
  Progress p(s.options({.steps = 20, .per_epoch = 10, .first_step = 10}));
  s.now += 10;
  p.step();
  EXPECT_DOUBLE_EQ(p.rate(), 0.1);  // of this run
  EXPECT_EQ(s.lines.back(),
            "epoch 2/2 [===============>............] 11/20  10.0 s/step  1:30 left");
}

TEST(Progress, WithoutEndAndQuiet) {
  Shown s;
  {
    Progress p(s.options({}));
    s.now += 1;
    p.step();
  }
  EXPECT_THAT(s.lines, ElementsAre("step 1  1.0 steps/s", "step 1  1.0 steps/s"));
  Shown silent;
  {
    Progress p(silent.options({.steps = 3, .quiet = true}));
    EXPECT_FALSE(p.show());
    p.step({{"loss", 1}});
    EXPECT_EQ(p.steps(), 1);
  }
  EXPECT_THAT(silent.lines, IsEmpty());
}

TEST(Progress, QuietWhereThereIsNoTerminal) {
  // ctest gives no terminal; where a person runs it by hand there may be one.
  testing::internal::CaptureStderr();
  {
    Progress p({.steps = 3});
    p.step();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, BadOptions) {
  EXPECT_THROW(Progress({.steps = -1}), ValueError);
  EXPECT_THROW(Progress({.interval = NAN}), ValueError);
  EXPECT_THROW(Progress({.steps = 3, .first_step = 4}), ValueError);
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(7.9), "0:07");
  EXPECT_EQ(duration_text(760), "12:40");
  EXPECT_EQ(duration_text(11100), "3:05:00");
  EXPECT_EQ(duration_text(1e300), "99:59:59");
  EXPECT_EQ(duration_text(NAN), "0:00");
}

// --- tables and JSON ---------------------------------------------------------------------------

TEST(CsvLog, IsReadAgain) {
  const Scratch s;
  {
    CsvLog log(s.path("log.csv"));
    log.write(1, {{"loss", 0.1}, {"a, b", NAN}});
    log.write(2, {{"loss", 1e-300}, {"a, b", INFINITY}});
  }
  CsvLog(s.path("log.csv"), {.append = true}).write(3, {{"loss", 0.5}, {"a, b", -2}});
  const data::CsvTable t = data::load_csv(s.path("log.csv"));
  EXPECT_THAT(t.names(), ElementsAre("step", "loss", "a, b"));
  EXPECT_THAT(t.numbers("step", int64).to_vector<int64_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(t.numbers("loss", float64).to_vector<double>(), ElementsAre(0.1, 1e-300, 0.5));
  const auto b = t.numbers("a, b", float64).to_vector<double>();
  EXPECT_TRUE(std::isnan(b[0]));
  EXPECT_EQ(b[1], INFINITY);
}

TEST(CsvLog, OtherNamesAreErrors) {
  const Scratch s;
  CsvLog log(s.path("log.csv"));
  log.write(1, {{"loss", 1}});
  EXPECT_THROW(log.write(2, {{"lost", 1}}), ValueError);
  EXPECT_THAT(io_error([&] { CsvLog(s.file("x", "a,b\n1,2\n"), {.append = true}); }),
              HasSubstr("the first line is 'a,b', which is no header of a log"));
  EXPECT_THROW(CsvLog(s.path("no/x")), IoError);
  EXPECT_THROW(CsvLog(s.path("twice")).write(1, {{"x", 1}, {"x", 2}}), ValueError);
  EXPECT_THROW(CsvLog(s.path("twice")).write(1, {{"step", 1}}), ValueError);
  // The line that was cut short keeps to itself.
  CsvLog(s.file("cut", "step,loss\n1,0."), {.append = true}).write(2, {{"loss", 3}});
  EXPECT_EQ(s.read("cut"), "step,loss\n1,0.\n2,3\n");
}

TEST(Logs, APartThatADiskHadRoomForIsCutOff) {
  const Scratch s;
  CsvLog table(s.path("csv"));
  JsonLog lines(s.path("json"));
  TensorBoard events(s.path("events"));
  const auto write = [&](int64_t step) {
    table.write(step, {{"loss", 0.5}});
    lines.write(step, {{"loss", 0.5}});
    events.scalars(step, {{"loss", 0.5}});
  };
  write(1);
  const std::string csv = s.read("csv"), json = s.read("json");
  const auto event_file = std::filesystem::directory_iterator(s.path("events"))->path();
  const auto event_bytes = std::filesystem::file_size(event_file);
  {
    const FileLimit limit(csv.size() + 2);
    EXPECT_THROW(table.write(2, {{"loss", 0.5}}), IoError);
  }
  {
    const FileLimit limit(json.size() + 9);
    EXPECT_THROW(lines.write(2, {{"loss", 0.5}}), IoError);
  }
  {
    const FileLimit limit(event_bytes + 20);
    EXPECT_THROW(events.scalars(2, {{"loss", 0.5}}), IoError);
  }
  EXPECT_EQ(s.read("csv"), csv);
  EXPECT_EQ(s.read("json"), json);
  EXPECT_EQ(std::filesystem::file_size(event_file), event_bytes);
  write(2);
  EXPECT_EQ(s.read("csv"), csv + "2,0.5\n");
  EXPECT_EQ(s.read("json"), json + "{\"step\":2,\"loss\":0.5}\n");
}

TEST(JsonLog, AppendsToWhatIsNoRegularFile) {
  JsonLog log("/dev/null", {.append = true});
  log.write(1, {{"loss", 0.5}});
}

TEST(JsonLog, OneObjectALine) {
  const Scratch s;
  JsonLog log(s.path("log"));
  log.write(1, {{"loss", 0.25}, {"say \"x\"", NAN}});
  log.write(2, {{"other", 3}});
  EXPECT_EQ(s.read("log"),
            "{\"step\":1,\"loss\":0.25,\"say \\\"x\\\"\":null}\n{\"step\":2,\"other\":3.0}\n");
  EXPECT_THROW(log.write(3, {{"x", 1}, {"x", 2}}), ValueError);
  EXPECT_THROW(log.write(3, {{"step", 1}}), ValueError);
  EXPECT_THROW(log.write(3, {{"\xff", 1}}), ValueError);
  // The line that was cut short keeps to itself.
  JsonLog(s.file("cut", "{\"step\":1}\n{\"st"), {.append = true}).write(2, {{"loss", 3}});
  EXPECT_EQ(s.read("cut"), "{\"step\":1}\n{\"st\n{\"step\":2,\"loss\":3.0}\n");
  JsonLog(s.path("new"), {.append = true}).write(2, {});
  EXPECT_EQ(s.read("new"), "{\"step\":2}\n");
}

// --- event files -------------------------------------------------------------------------------

// A field of a message of protocol buffers.
struct Field {
  uint64_t number;
  uint64_t value = 0;  // of whole numbers
  std::string bytes;
  template <class T>
  T as() const {
    T x;
    EXPECT_EQ(bytes.size(), sizeof x);
    std::memcpy(&x, bytes.data(), sizeof x);
    return x;
  }
};

uint64_t read_varint(const std::string& s, size_t& at) {
  uint64_t out = 0;
  for (int shift = 0;; shift += 7) {
    const auto b = static_cast<uint8_t>(s.at(at++));
    out |= uint64_t{b & 127u} << shift;
    if (b < 128) return out;
  }
}

std::vector<Field> parse(const std::string& s) {
  std::vector<Field> out;
  for (size_t at = 0; at < s.size();) {
    const uint64_t head = read_varint(s, at);
    Field f{head >> 3, 0, {}};
    size_t n = 0;
    switch (head & 7) {
      case 0:
        f.value = read_varint(s, at);
        break;
      case 1:
        n = 8;
        break;
      case 2:
        n = read_varint(s, at);
        break;
      case 5:
        n = 4;
        break;
      default:
        ADD_FAILURE() << "kind " << (head & 7);
    }
    f.bytes = s.substr(at, n);
    EXPECT_EQ(f.bytes.size(), n);
    at += n;
    out.push_back(f);
  }
  return out;
}

const Field& only(const std::vector<Field>& fields, uint64_t number) {
  for (const Field& f : fields) {
    if (f.number == number) return f;
  }
  throw std::runtime_error("no field " + std::to_string(number));
}

// CRC-32C bit by bit, and TensorFlow's mask.
uint32_t checksum(const std::string& s) {
  uint32_t crc = ~0u;
  for (const char c : s) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::vector<std::vector<Field>> events(const std::string& file) {
  const auto number = [&]<class T>(size_t at, T x) {
    std::memcpy(&x, file.data() + at, sizeof x);
    return x;
  };
  std::vector<std::vector<Field>> out;
  for (size_t at = 0; at < file.size();) {
    const auto n = number(at, uint64_t{});
    EXPECT_EQ(number(at + 8, uint32_t{}), checksum(file.substr(at, 8)));
    const std::string event = file.substr(at + 12, n);
    EXPECT_EQ(number(at + 12 + n, uint32_t{}), checksum(event));
    out.push_back(parse(event));
    at += 16 + n;
  }
  return out;
}

TEST(TensorBoard, ChecksumOfTheStandard) {
  EXPECT_EQ(internal::crc32c("123456789"), 0xe3069283u);  // RFC 3720, and every table of checksums
  EXPECT_EQ(internal::crc32c(std::string(32, '\0')), 0x8a9136aau);
}

TEST(TensorBoard, EventsAreReadBack) {
  const Scratch s;
  TensorBoard board(s.path("runs/one"));
  board.scalars(0, {{"train/loss", 2.5}, {"rate", 1e-3}});
  board.scalars(300, {{"train/loss", NAN}});
  board.histogram(7, "weights", array({-1.0f, 2.0f, 0.5f, NAN, 0.5f}));
  const Array picture = random::randint(Key(0), {4, 5, 3}, 0, 256, {.dtype = uint8});
  board.image(8, "drawn", picture);

  const std::string name = std::filesystem::path(board.path()).filename();
  EXPECT_THAT(name, testing::StartsWith("events.out.tfevents."));
  const auto all = events(s.read("runs/one/" + name));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(only(all[0], 3).bytes, "brain.Event:2");
  EXPECT_GT(only(all[0], 1).as<double>(), 1.7e9);

  const auto values = parse(only(all[1], 5).bytes);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(only(parse(values[0].bytes), 1).bytes, "train/loss");
  EXPECT_EQ(only(parse(values[0].bytes), 2).as<float>(), 2.5f);
  EXPECT_EQ(only(parse(values[1].bytes), 2).as<float>(), 1e-3f);
  EXPECT_EQ(only(all[1], 2).value, 0u);
  EXPECT_EQ(only(all[2], 2).value, 300u);
  const auto nan = parse(only(parse(only(all[2], 5).bytes), 1).bytes);
  EXPECT_TRUE(std::isnan(only(nan, 2).as<float>()));

  const auto histogram = parse(only(parse(only(parse(only(all[3], 5).bytes), 1).bytes), 5).bytes);
  EXPECT_EQ(only(histogram, 1).as<double>(), -1);
  EXPECT_EQ(only(histogram, 2).as<double>(), 2);
  EXPECT_EQ(only(histogram, 3).as<double>(), 4);
  EXPECT_EQ(only(histogram, 4).as<double>(), 2);
  EXPECT_EQ(only(histogram, 5).as<double>(), 5.5);
  const auto doubles = [](const std::string& b) {
    std::vector<double> x(b.size() / 8);
    std::memcpy(x.data(), b.data(), b.size());
    return x;
  };
  const auto limits = doubles(only(histogram, 6).bytes), counts = doubles(only(histogram, 7).bytes);
  ASSERT_EQ(limits.size(), counts.size());
  // Each element lies in one range: above the limit before, at most at its own.
  for (const double x : {-1.0, 2.0, 0.5}) {
    const auto k = static_cast<size_t>(std::lower_bound(limits.begin(), limits.end(), x + 1e-9) -
                                       limits.begin());
    EXPECT_EQ(counts[std::min(k, counts.size() - 1)], x == 0.5 ? 2 : 1) << x;
  }

  const auto image = parse(only(parse(only(parse(only(all[4], 5).bytes), 1).bytes), 4).bytes);
  EXPECT_EQ(only(image, 1).value, 4u);
  EXPECT_EQ(only(image, 2).value, 5u);
  EXPECT_EQ(only(image, 3).value, 3u);
  EXPECT_TRUE(array_equal(data::load_image(s.file("x.png", only(image, 4).bytes)), picture));
}

TEST(TensorBoard, WhatIsWrongIsNamed) {
  const Scratch s;
  TensorBoard board(s.path("run")), other(s.path("run"));
  EXPECT_NE(board.path(), other.path());
  EXPECT_THROW(board.scalars(0, {{"\xff", 1}}), ValueError);
  EXPECT_THROW(board.histogram(0, "x", array({true})), DtypeError);
  EXPECT_NO_THROW(board.histogram(0, "x", zeros({0})));
  EXPECT_THROW(board.image(0, "x", ones({2, 2})), DtypeError);
  EXPECT_THROW(TensorBoard(s.file("file", "")), IoError);
}

}  // namespace log_test
}  // namespace spruce::io
