// SPDX-License-Identifier: Apache-2.0
// RIFF: "RIFF", a size, "WAVE", then chunks: a name of four letters, a size, as many bytes, and one
// more where the size is odd. All numbers are little-endian.
#include "spruce/data/files/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

using io::internal::Source;

enum Coding : uint16_t { kWhole = 1, kFloating = 3, kExtensible = 0xfffe };

struct Format {
  uint16_t coding = 0, channels = 0, bits = 0;
  uint32_t rate = 0;
};

struct Chunk {
  uint64_t at, size;
};

Format read_format(const Source& source, const Chunk& chunk) {
  if (chunk.size < 16) source.fail(chunk.at, "the chunk 'fmt ' is shorter than 16 bytes");
  Format f;
  f.coding = source.number<uint16_t>(chunk.at, "the coding");
  f.channels = source.number<uint16_t>(chunk.at + 2, "the number of channels");
  f.rate = source.number<uint32_t>(chunk.at + 4, "the rate");
  f.bits = source.number<uint16_t>(chunk.at + 14, "the bits of a sample");
  if (f.coding == kExtensible && chunk.size >= 26)
    f.coding = source.number<uint16_t>(chunk.at + 24, "the coding");
  const bool known = f.coding == kWhole
                         ? f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32
                         : f.coding == kFloating && (f.bits == 32 || f.bits == 64);
  if (!known) {
    source.fail(chunk.at, "samples have the coding " + std::to_string(f.coding) + " and " +
                              std::to_string(f.bits) +
                              " bits; whole numbers of 8, 16, 24, 32 bits and floating ones of "
                              "32, 64 are read");
  }
  if (f.channels == 0) source.fail(chunk.at + 2, "there are 0 channels");
  if (f.rate == 0) source.fail(chunk.at + 4, "the rate is 0");
  const auto frame = source.number<uint16_t>(chunk.at + 12, "the bytes of a frame");
  if (frame != f.bits / 8 * f.channels) {
    source.fail(chunk.at + 12, "a frame has " + std::to_string(frame) + " bytes and " +
                                   std::to_string(f.channels) + " channels of " +
                                   std::to_string(f.bits) + " bits take " +
                                   std::to_string(f.bits / 8 * f.channels) +
                                   "; samples that are filled up are not read");
  }
  return f;
}

// What was written to a pipe could not know its sizes: the samples go on to the end of the file.
bool size_unknown(const Source& source, const Chunk& data) {
  if (data.size == UINT32_MAX) return true;
  constexpr uint32_t kOfSox = 0x7ffff000;  // and of eSpeak
  if (data.size == kOfSox && data.at + data.size > source.size()) return true;
  const auto whole = source.number<uint32_t>(4, "the size of the file");
  return data.size == 0 && (whole == UINT32_MAX || uint64_t{whole} + 8 <= data.at);
}

float sample(const uint8_t* at, const Format& f) {
  if (f.coding == kFloating) {
    if (f.bits == 32) {
      float x;
      std::memcpy(&x, at, sizeof x);
      return x;
    }
    double x;
    std::memcpy(&x, at, sizeof x);
    return static_cast<float>(x);
  }
  if (f.bits == 8) return static_cast<float>(at[0] - 128) / 128;
  uint32_t word = 0;  // the bits stand at its upper end
  const int bytes = f.bits / 8;
  for (int k = 0; k < bytes; ++k) word |= uint32_t{at[k]} << (8 * (4 - bytes + k));
  return static_cast<float>(std::ldexp(static_cast<double>(static_cast<int32_t>(word)), -31));
}

}  // namespace

Sound load_wav(const std::string& path, Loc loc) {
  const OpScope at("load_wav", loc);
  const io::internal::FileSource source("load_wav", path);
  const auto name_at = [&](uint64_t offset) {
    char name[4];
    source.read(offset, name, 4, "the name of a chunk");
    return std::string(name, 4);
  };
  if (name_at(0) != "RIFF" || name_at(8) != "WAVE")
    source.fail(0, "this is no WAV file: it does not begin with RIFF and WAVE");
  std::optional<Format> format;
  for (uint64_t offset = 12;;) {
    if (offset >= source.size()) source.fail(source.size(), "there is no chunk 'data'");
    const std::string name = name_at(offset);
    Chunk chunk{offset + 8, source.number<uint32_t>(offset + 4, "the size of a chunk")};
    if (name == "data" && size_unknown(source, chunk)) chunk.size = source.size() - chunk.at;
    source.require(chunk.at, chunk.size, "a chunk");
    if (name == "fmt ") format = read_format(source, chunk);
    if (name == "data") {
      if (!format) source.fail(offset, "the chunk 'data' stands in front of 'fmt '");
      const uint64_t width = format->bits / 8u, frame = width * format->channels;
      if (chunk.size % frame != 0)
        source.fail(chunk.at + chunk.size, "the last sample is cut short");
      const std::vector<uint8_t> bytes = source.bytes(chunk.at, chunk.size, "the samples");
      const Array out = spruce::internal::make_array(
          {Dtype::kFloat32, false, {static_cast<int64_t>(chunk.size / frame), format->channels}});
      auto* to = static_cast<float*>(spruce::internal::mutable_data(out));
      for (uint64_t i = 0; i < chunk.size; i += width) *to++ = sample(bytes.data() + i, *format);
      return {out, format->rate};
    }
    offset = chunk.at + chunk.size + chunk.size % 2;
  }
}

void save_wav(const std::string& path, const Sound& sound, Loc loc) {
  const OpScope at("save_wav", loc);
  const Aval& aval = sound.samples.aval();
  if (aval.dtype != Dtype::kFloat32)
    throw DtypeError("save_wav: the samples are " + to_string(aval) + "; give f32");
  if (aval.shape.rank() != 2 || aval.shape[1] < 1 || aval.shape[1] > 65535) {
    throw ShapeError("save_wav: the samples are " + to_string(aval) +
                     "; give f32[samples, channels]");
  }
  if (sound.rate < 1 || sound.rate > INT32_MAX) {
    throw ValueError("save_wav: the rate is " + std::to_string(sound.rate) +
                     " samples in a second");
  }
  const HostSpan<float> samples = sound.samples.data<float>();
  const uint64_t bytes = 2 * uint64_t{samples.size()};
  if (bytes > UINT32_MAX - 36) {
    throw ValueError("save_wav: " + std::to_string(bytes) +
                     " bytes of samples are more than the format holds (4 GiB)");
  }
  const auto channels = static_cast<uint16_t>(aval.shape[1]);
  std::string head;
  const auto put = [&](auto number) {
    head.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  head += "RIFF";
  put(static_cast<uint32_t>(36 + bytes));
  head += "WAVEfmt ";
  put(uint32_t{16});
  put(uint16_t{kWhole});
  put(channels);
  put(static_cast<uint32_t>(sound.rate));
  put(static_cast<uint32_t>(static_cast<uint64_t>(sound.rate) * channels * 2));
  put(static_cast<uint16_t>(channels * 2));
  put(uint16_t{16});
  head += "data";
  put(static_cast<uint32_t>(bytes));
  std::vector<int16_t> whole;
  whole.reserve(samples.size());
  for (const float x : samples) {
    const float scaled = std::isnan(x) ? 0 : std::round(x * 32768);
    whole.push_back(static_cast<int16_t>(std::clamp(scaled, -32768.0f, 32767.0f)));
  }
  io::internal::AtomicFile file("save_wav", path);
  file.write(head);
  file.write(whole.data(), bytes);
  file.commit();
}

}  // namespace spruce::data
