// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/zip.h"

namespace spruce::io::internal {
namespace {

// Appends numbers to a record, the lowest byte first.
class Record {
 public:
  Record& u16(uint64_t x) { return add(x, 2); }
  Record& u32(uint64_t x) { return add(x, 4); }
  Record& u64(uint64_t x) { return add(x, 8); }
  Record& text(const std::string& s) {
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& add(uint64_t x, int n) {
    for (int i = 0; i < n; ++i) bytes_ += static_cast<char>(x >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

constexpr uint64_t kVersion = 45;              // 64-bit sizes
constexpr uint64_t kDate = 33;                 // 1980-01-01
constexpr uint64_t kIn64 = 0xffffffff;         // the number stands in the extra field
constexpr uint64_t kUtf8 = 1 << 11;            // how names are written
constexpr uint64_t kRegular = 0100644u << 16;  // the mode of a file on Unix
constexpr uint64_t kMadeByUnix = 3 << 8;

}  // namespace

void ZipWriter::begin(const std::string& name, uint64_t size, uint32_t crc) {
  entries_.push_back({.name = name,
                      .method = 0,
                      .crc = crc,
                      .compressed = size,
                      .size = size,
                      .header = file_.position()});
  Record r;
  r.u32(0x04034b50)
      .u16(kVersion)
      .u16(kUtf8)
      .u16(0)
      .u16(0)
      .u16(kDate)
      .u32(crc)
      .u32(kIn64)
      .u32(kIn64);
  r.u16(name.size()).u16(20).text(name);
  r.u16(1).u16(16).u64(size).u64(size);
  file_.write(r.bytes());
}

void ZipWriter::finish() {
  const uint64_t start = file_.position();
  for (const ZipEntry& e : entries_) {
    Record r;
    r.u32(0x02014b50)
        .u16(kMadeByUnix | kVersion)
        .u16(kVersion)
        .u16(kUtf8)
        .u16(0)
        .u16(0)
        .u16(kDate)
        .u32(e.crc);
    r.u32(kIn64)
        .u32(kIn64)
        .u16(e.name.size())
        .u16(28)
        .u16(0)
        .u16(0)
        .u16(0)
        .u32(kRegular)
        .u32(kIn64)
        .text(e.name);
    r.u16(1).u16(24).u64(e.size).u64(e.size).u64(e.header);
    file_.write(r.bytes());
  }
  const uint64_t end = file_.position(), n = entries_.size();
  Record r;
  r.u32(0x06064b50)
      .u64(44)
      .u16(kMadeByUnix | kVersion)
      .u16(kVersion)
      .u32(0)
      .u32(0)
      .u64(n)
      .u64(n)
      .u64(end - start)
      .u64(start);
  r.u32(0x07064b50).u32(0).u64(end).u32(1);
  r.u32(0x06054b50).u16(0).u16(0).u16(0xffff).u16(0xffff).u32(kIn64).u32(kIn64).u16(0);
  file_.write(r.bytes());
}

}  // namespace spruce::io::internal
