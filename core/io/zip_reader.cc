// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "spruce/core/io/inflate.h"
#include "spruce/core/io/zip.h"

namespace spruce::io::internal {
namespace {

constexpr uint32_t kLocalMark = 0x04034b50, kEntryMark = 0x02014b50, kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
constexpr uint64_t kEndBytes = 22, kLocator64Bytes = 20, kEntryBytes = 46, kLocalBytes = 30;

// The end record stands at the end, before a comment of at most 65535 bytes.
uint64_t find_end(const Source& source) {
  const uint64_t size = source.size();
  if (size < kEndBytes)
    source.fail(0, "this is no zip archive: it has " + std::to_string(size) +
                       " bytes and needs at least 22");
  const uint64_t from = size - std::min<uint64_t>(size, kEndBytes + 65535);
  const std::vector<uint8_t> tail = source.bytes(from, size - from, "the end of the archive");
  for (uint64_t i = tail.size() - kEndBytes + 1; i-- > 0;) {
    uint32_t mark;
    uint16_t comment;
    std::memcpy(&mark, &tail[i], sizeof mark);
    std::memcpy(&comment, &tail[i + 20], sizeof comment);
    if (mark == kEndMark && i + kEndBytes + comment == tail.size()) return from + i;
  }
  source.fail(size, "this is no zip archive, or its end is missing");
}

struct Directory {
  uint64_t offset, size, count;
};

Directory find_directory(const Source& source, uint64_t end) {
  const char* what = "the end record of the archive";
  const auto disk = source.number<uint16_t>(end + 4, what),
             directory_disk = source.number<uint16_t>(end + 6, what);
  Directory d{source.number<uint32_t>(end + 16, what), source.number<uint32_t>(end + 12, what),
              source.number<uint16_t>(end + 10, what)};
  uint64_t limit = end;
  const bool wide = end >= kLocator64Bytes &&
                    source.number<uint32_t>(end - kLocator64Bytes, what) == kLocator64Mark;
  if (wide) {
    const auto end64 = source.number<uint64_t>(end - kLocator64Bytes + 8, what);
    what = "the 64-bit end record of the archive";
    source.require(end64, 56, what);
    if (source.number<uint32_t>(end64, what) != kEnd64Mark)
      source.fail(end64, "no 64-bit end record of the archive stands here");
    d = {source.number<uint64_t>(end64 + 48, what), source.number<uint64_t>(end64 + 40, what),
         source.number<uint64_t>(end64 + 32, what)};
    limit = end64;
  } else if (disk != 0 || directory_disk != 0) {
    source.fail(end + 4, "the archive is one part of several");
  }
  if (d.offset > limit || d.size > limit - d.offset) {
    source.fail(end, "the directory of the archive takes " + std::to_string(d.size) +
                         " bytes from byte " + std::to_string(d.offset) + " on, past its place");
  }
  return d;
}

template <class T>
T number_at(const std::vector<uint8_t>& bytes, uint64_t at) {
  T value;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

// Sizes that do not fit in 32 bits stand in an extra field, in this order, each only where it is
// due.
void read_wide_sizes(const Source& source, uint64_t offset, const std::vector<uint8_t>& extra,
                     ZipEntry& entry) {
  constexpr uint64_t kDue = 0xffffffff;
  if (entry.size != kDue && entry.compressed != kDue && entry.header != kDue) return;
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const auto id = number_at<uint16_t>(extra, at), length = number_at<uint16_t>(extra, at + 2);
    at += 4;
    if (length > extra.size() - at) break;
    if (id == 1) {
      uint64_t left = length, field = at;
      for (uint64_t* value : {&entry.size, &entry.compressed, &entry.header}) {
        if (*value != kDue) continue;
        if (left < 8) source.fail(offset, "the 64-bit sizes of '" + entry.name + "' are cut short");
        *value = number_at<uint64_t>(extra, field);
        field += 8;
        left -= 8;
      }
      return;
    }
    at += length;
  }
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const Source& source) {
  const Directory directory = find_directory(source, find_end(source));
  std::vector<ZipEntry> entries;
  const uint64_t end = directory.offset + directory.size;
  uint64_t at = directory.offset;
  const char* what = "an entry of the directory";
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (end - at < kEntryBytes)
      source.fail(at, "the directory ends before entry " + std::to_string(i) + " of " +
                          std::to_string(directory.count));
    if (source.number<uint32_t>(at, what) != kEntryMark)
      source.fail(at, "no entry of the directory stands here");
    const auto name = source.number<uint16_t>(at + 28, what),
               extra = source.number<uint16_t>(at + 30, what);
    const auto comment = source.number<uint16_t>(at + 32, what);
    const uint64_t length = kEntryBytes + name + extra + comment;
    if (length > end - at)
      source.fail(at, "the entry takes " + std::to_string(length) +
                          " bytes, past the end of the directory");
    const std::vector<uint8_t> letters = source.bytes(at + kEntryBytes, name, what);
    ZipEntry entry{.name = std::string(letters.begin(), letters.end()),
                   .method = source.number<uint16_t>(at + 10, what),
                   .crc = source.number<uint32_t>(at + 16, what),
                   .compressed = source.number<uint32_t>(at + 20, what),
                   .size = source.number<uint32_t>(at + 24, what),
                   .header = source.number<uint32_t>(at + 42, what)};
    if ((source.number<uint16_t>(at + 8, what) & 1) != 0)
      source.fail(at, "'" + entry.name + "' is encrypted; save it without a password");
    if (entry.method != 0 && entry.method != 8) {
      source.fail(at, "'" + entry.name + "' is compressed by method " +
                          std::to_string(entry.method) + "; stored and deflated files can be read");
    }
    read_wide_sizes(source, at, source.bytes(at + kEntryBytes + name, extra, what), entry);
    entries.push_back(std::move(entry));
    at += length;
  }
  return entries;
}

std::vector<uint8_t> read_zip_entry(const Source& source, const ZipEntry& entry) {
  const std::string head = "the header of '" + entry.name + "'",
                    body = "the data of '" + entry.name + "'";
  source.require(entry.header, kLocalBytes, head.c_str());
  if (source.number<uint32_t>(entry.header, head.c_str()) != kLocalMark)
    source.fail(entry.header, "no file stands here, where '" + entry.name + "' should be");
  const uint64_t name = source.number<uint16_t>(entry.header + 26, head.c_str()),
                 extra = source.number<uint16_t>(entry.header + 28, head.c_str());
  const std::vector<uint8_t> letters = source.bytes(entry.header + kLocalBytes, name, head.c_str());
  if (std::string(letters.begin(), letters.end()) != entry.name) {
    source.fail(entry.header, "the file here has another name than '" + entry.name +
                                  "', which the directory says");
  }
  const uint64_t data = entry.header + kLocalBytes + name + extra;
  if (entry.method == 0 && entry.size != entry.compressed) {
    source.fail(entry.header, "'" + entry.name + "' is stored and its two sizes differ: " +
                                  std::to_string(entry.size) + " and " +
                                  std::to_string(entry.compressed));
  }
  source.require(data, entry.compressed, body.c_str());
  std::vector<uint8_t> bytes =
      entry.method == 0 ? source.bytes(data, entry.size, body.c_str())
                        : inflate(source, data, entry.compressed, entry.size, Wrapping::kRaw);
  if (crc32(0, bytes.data(), bytes.size()) != entry.crc)
    source.fail(data, "the data of '" + entry.name + "' is damaged: its checksum differs");
  return bytes;
}

}  // namespace spruce::io::internal
