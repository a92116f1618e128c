// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/inflate.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>

namespace spruce::io::internal {
namespace {

constexpr uint64_t kChunk = 1 << 18;

class Inflater {
 public:
  Inflater(const Source& source, uint64_t offset, uint64_t length, Wrapping wrapping)
      : source_(source), at_(offset), end_(offset + length), gzip_(wrapping == Wrapping::kGzip) {
    source.require(offset, length, "compressed data");
    if (::inflateInit2(&stream_, gzip_ ? 16 + MAX_WBITS : -MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `out` as far as the data goes; how many bytes that was.
  uint64_t fill(uint8_t* out, uint64_t n) {
    uint64_t done = 0;
    while (done < n && !ended_) {
      stream_.next_out = out + done;
      stream_.avail_out = static_cast<uInt>(std::min(n - done, kChunk));
      const uInt before = stream_.avail_out;
      step();
      done += before - stream_.avail_out;
    }
    return done;
  }

  // Throws unless all has been read and is sound.
  void finish(uint64_t size) {
    uint8_t extra;
    while (!ended_) {
      stream_.next_out = &extra;
      stream_.avail_out = 1;
      step();
      if (stream_.avail_out == 0)
        source_.fail(here(), "the compressed data stands for more than the " +
                                 std::to_string(size) + " bytes due");
    }
    if (here() != end_)
      source_.fail(here(), "the compressed data ends here, before its place does");
  }

  uint64_t here() const { return at_ - stream_.avail_in; }

 private:
  void step() {
    if (stream_.avail_in == 0) refill();
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_STREAM_END) {
      ended_ = !gzip_ || here() == end_;
      if (!ended_) ::inflateReset(&stream_);
    } else if (result == Z_BUF_ERROR && stream_.avail_in == 0 && at_ == end_) {
      source_.fail(end_, "the compressed data is cut short");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      source_.fail(here(), std::string("the compressed data is damaged") +
                               (stream_.msg != nullptr ? std::string(": ") + stream_.msg : ""));
    }
  }

  void refill() {
    const uint64_t n = std::min(end_ - at_, kChunk);
    buffer_ = source_.bytes(at_, n, "compressed data");
    at_ += n;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(n);
  }

  const Source& source_;
  uint64_t at_;
  const uint64_t end_;
  const bool gzip_;
  bool ended_ = false;
  std::vector<uint8_t> buffer_;
  z_stream stream_{};
};

}  // namespace

std::vector<uint8_t> inflate(const Source& source, uint64_t offset, uint64_t length, uint64_t size,
                             Wrapping wrapping) {
  if (size > most_inflated(length)) {
    source.fail(offset, std::to_string(length) + " compressed bytes cannot stand for " +
                            std::to_string(size));
  }
  Inflater inflater(source, offset, length, wrapping);
  std::vector<uint8_t> out(size);
  const uint64_t n = inflater.fill(out.data(), size);
  if (n < size) {
    source.fail(inflater.here(), "the compressed data stands for " + std::to_string(n) +
                                     " bytes, not for the " + std::to_string(size) + " due");
  }
  inflater.finish(size);
  return out;
}

std::vector<uint8_t> inflate_first(const Source& source, uint64_t size) {
  Inflater inflater(source, 0, source.size(), Wrapping::kGzip);
  std::vector<uint8_t> out(size);
  const uint64_t n = inflater.fill(out.data(), size);
  if (n < size)
    source.fail(inflater.here(), "the compressed data stands for " + std::to_string(n) +
                                     " bytes, fewer than the " + std::to_string(size) + " due");
  return out;
}

uint32_t crc32(uint32_t before, const void* data, uint64_t n) {
  return static_cast<uint32_t>(::crc32_z(before, static_cast<const Bytef*>(data), n));
}

}  // namespace spruce::io::internal
