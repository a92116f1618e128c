// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/buffer.h"

#include <new>

#include "spruce/core/memory.h"

namespace spruce::internal {

Ref<Buffer> Buffer::allocate(size_t bytes, Device& device) {
  const bool cpu = device.index() == 0;
  void* block = pool_allocate(sizeof(Buffer) + (cpu ? bytes : 0));
  auto* buffer = new (block) Buffer;
  Ref<Buffer> ref(buffer);
  buffer->device_ = &device;
  if (cpu) {
    buffer->data_ = static_cast<char*>(block) + sizeof(Buffer);
  } else {
    buffer->data_ = device.allocate(bytes);
  }
  buffer->bytes_ = bytes;
  count_live(static_cast<int64_t>(bytes));
  return ref;
}

Ref<Buffer> Buffer::adopt(const void* data, size_t bytes, std::shared_ptr<const void> owner) {
  auto* buffer = new (pool_allocate(sizeof(Buffer))) Buffer;
  buffer->device_ = &cpu_device();
  buffer->data_ = const_cast<void*>(data);
  buffer->bytes_ = bytes;
  buffer->adopted_ = true;
  buffer->owner_ = std::move(owner);
  return Ref<Buffer>(buffer);
}

void Buffer::destroy(const Buffer* buffer) {
  if (buffer->adopted_) {
    buffer->~Buffer();
    return pool_release(const_cast<Buffer*>(buffer), sizeof(Buffer));
  }
  count_live(-static_cast<int64_t>(buffer->bytes_));
  const bool cpu = buffer->device_->index() == 0;
  if (!cpu && buffer->data_ != nullptr) buffer->device_->deallocate(buffer->data_, buffer->bytes_);
  const size_t block = sizeof(Buffer) + (cpu ? buffer->bytes_ : 0);
  buffer->~Buffer();
  pool_release(const_cast<Buffer*>(buffer), block);
}

}  // namespace spruce::internal
