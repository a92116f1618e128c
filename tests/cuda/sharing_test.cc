// SPDX-License-Identifier: Apache-2.0
// Streams and memory of the program, and DLPack on the device, on the emulator with streams that
// run as late as they may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "spruce/cuda.h"
#include "spruce/cuda/driver/tables.h"
#include "spruce/spruce.h"
#include "tests/core/foreign_tensor.h"
#include "tests/core/message.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_sharing_test {

using test_device::emulated_device;
using testing::HasSubstr;

// The program: it calls the driver itself, on a stream of its own.
class CudaSharing : public testing::Test {
 protected:
  void SetUp() override {
    lazy_before_ = cuda_emulator::set_lazy_streams(true);
    ASSERT_EQ(cuda::driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuda::synchronize(gpu_);
    for (const CUdeviceptr p : blocks_) cuda::driver().cuMemFree(p);
    cuda_emulator::set_lazy_streams(lazy_before_);
  }

  // Memory of n floats, in which NaN stands.
  float* memory(size_t n) {
    CUdeviceptr p = 0;
    EXPECT_EQ(cuda::driver().cuMemAlloc(&p, n * sizeof(float)), CUDA_SUCCESS);
    blocks_.push_back(p);
    return reinterpret_cast<float*>(p);
  }
  // Enqueued on the stream: p[i] = value.
  void set(float* p, size_t n, float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    EXPECT_EQ(cuda::driver().cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(p), bits, n, stream_),
              CUDA_SUCCESS);
  }
  // What the stream reads there, after what was enqueued on it and nothing else.
  std::vector<float> read(const void* p, size_t n) {
    std::vector<float> host(n);
    EXPECT_EQ(cuda::driver().cuMemcpyDtoHAsync(host.data(), reinterpret_cast<CUdeviceptr>(p),
                                               n * sizeof(float), stream_),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda::driver().cuStreamSynchronize(stream_), CUDA_SUCCESS);
    return host;
  }

  Device& gpu_ = emulated_device();
  bool lazy_before_ = false;
  CUstream stream_ = nullptr;
  std::vector<CUdeviceptr> blocks_;
};

TEST_F(CudaSharing, AStreamThatIsLentComesBeforeAndAfter) {
  float* p = memory(4);
  set(p, 4, 5.0f);
  Array y;
  {
    const cuda::UseStream scope(stream_, gpu_);
    y = 2.0f * cuda::array_view(p, {4}, float32, nullptr, gpu_);
  }
  EXPECT_EQ(read(cuda::device_pointer(y), 4), (std::vector<float>(4, 10.0f)));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>(4, 10.0f)));
}

// That the test above could fail: without the scope nobody waits for the stream.
TEST_F(CudaSharing, WithoutTheScopeTheDeviceDoesNotWait) {
  float* p = memory(4);
  set(p, 4, 5.0f);
  const Array y = 2.0f * cuda::array_view(p, {4}, float32, nullptr, gpu_);
  EXPECT_TRUE(all(isnan(y)).item<bool>());
}

TEST_F(CudaSharing, ScopesNestAndNobodyWaitsOnTheHost) {
  float* p = memory(2);
  set(p, 2, 1.0f);
  const auto step = jit([](const Array& x) { return x + 1.0f; });
  CUstream other = nullptr;
  ASSERT_EQ(cuda::driver().cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const Array x = cuda::array_view(p, {2}, float32, nullptr, gpu_, {.stream = stream_});
  const int64_t before = cuda_emulator::counts().waits;
  Array y = x;
  {
    const cuda::UseStream outer(other, gpu_);
    const cuda::UseStream inner(stream_, gpu_);
    for (int i = 0; i < 5; ++i) y = step(y);
  }
  if (std::getenv("SPRUCE_CUDA_SYNC") == nullptr) {
    EXPECT_EQ(cuda_emulator::counts().waits, before);
  }
  EXPECT_EQ(read(cuda::device_pointer(y), 2), (std::vector<float>{6, 6}));
}

TEST_F(CudaSharing, AStreamThatIsCapturedIsRefused) {
  ASSERT_EQ(cuda::driver().cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_THAT(message<DeviceError>([&] { const cuda::UseStream scope(stream_, gpu_); }, nullptr),
              testing::AllOf(HasSubstr("UseStream: the stream is being captured"),
                             HasSubstr("sharing_test.cc")));
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda::driver().cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  cuda::driver().cuGraphDestroy(graph);
  EXPECT_THAT(message<DeviceError>([&] { const cuda::UseStream scope(stream_, cpu_device()); }),
              HasSubstr("UseStream: cpu is no CUDA device"));
}

TEST_F(CudaSharing, AViewSharesTheMemoryAndTheOwner) {
  float* p = memory(6);
  set(p, 6, 3.0f);
  const auto owner = std::make_shared<int>(0);
  {
    const Array x = cuda::array_view(p, {2, 3}, float32, owner, gpu_, {.stream = stream_});
    EXPECT_EQ(x.aval(), (Aval{float32, false, {2, 3}, gpu_.index()}));
    EXPECT_EQ(cuda::device_pointer(x), p);
    EXPECT_EQ(owner.use_count(), 2);
    const Array row = x.reshape({3, 2});
    EXPECT_EQ(cuda::device_pointer(row), p);
    EXPECT_EQ(sum(x).item<float>(), 18);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(read(p, 6), (std::vector<float>(6, 3.0f)));
}

// An argument that is moved in gives no memory away that is not Spruce's.
TEST_F(CudaSharing, AViewIsNeverWrittenTo) {
  float* p = memory(4);
  set(p, 4, 1.0f);
  const auto step = jit([](const Array& x) { return x * 2.0f + 1.0f; });
  Array x = cuda::array_view(p, {4}, float32, nullptr, gpu_, {.stream = stream_});
  for (int i = 0; i < 3; ++i) x = step(std::move(x));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>(4, 15.0f)));
  Array y = cuda::array_view(p, {4}, float32, nullptr, gpu_, {.stream = stream_});
  y = std::move(y).at(0).set(7.0f);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{7, 1, 1, 1}));
  EXPECT_EQ(read(p, 4), (std::vector<float>(4, 1.0f)));
}

// What the owner does next comes after the work that reads the memory, which has not run yet.
TEST_F(CudaSharing, TheMemoryGoesBackBehindTheWorkThatReadsIt) {
  float* p = memory(4);
  set(p, 4, 1.0f);
  Array y;
  {
    const Array x = cuda::array_view(p, {4}, float32, nullptr, gpu_, {.stream = stream_});
    y = x + 1.0f;
  }
  set(p, 4, 100.0f);
  EXPECT_EQ(read(p, 4), (std::vector<float>(4, 100.0f)));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>(4, 2.0f)));

  const int64_t before = cuda_emulator::counts().waits;
  { y = cuda::array_view(p, {4}, float32, nullptr, gpu_) + 1.0f; }
  EXPECT_GT(cuda_emulator::counts().waits, before) << "without a stream the host waits";
  set(p, 4, 7.0f);
  EXPECT_EQ(read(p, 4), (std::vector<float>(4, 7.0f)));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>(4, 101.0f)));
}

TEST_F(CudaSharing, MemoryThatStandsAtNoMultipleOf256IsCopied) {
  float* p = memory(100);
  set(p, 100, 2.0f);
  const auto owner = std::make_shared<int>(0);
  const Array x = cuda::array_view(p + 1, {3}, float32, owner, gpu_, {.stream = stream_});
  EXPECT_NE(cuda::device_pointer(x), p + 1);
  EXPECT_EQ(owner.use_count(), 1) << "the copy needs no owner";
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>(3, 2.0f)));
}

TEST_F(CudaSharing, WhatIsNoMemoryOfTheDeviceIsRefused) {
  float* p = memory(8);
  const std::vector<float> host(4);
  const auto view = [&](const void* q, const Shape& shape) {
    return message<Error>([&] { cuda::array_view(q, shape, float32, nullptr, gpu_); }, nullptr);
  };
  EXPECT_THAT(view(host.data(), {4}),
              testing::AllOf(HasSubstr("array_view: the memory of f32[4]@cuda:0 is not on a GPU"),
                             HasSubstr("sharing_test.cc")));
  EXPECT_THAT(view(nullptr, {4}), HasSubstr("array_view: the pointer is null"));
  EXPECT_THAT(view(reinterpret_cast<const char*>(p) + 2, {1}), HasSubstr("is not aligned"));
  EXPECT_THAT(view(p, {-1}), HasSubstr("array_view"));
  EXPECT_EQ(cuda::array_view(nullptr, {0, 3}, float32, nullptr, gpu_).shape(), (Shape{0, 3}));
  EXPECT_THAT(
      message<DeviceError>([&] { cuda::array_view(p, {4}, float32, nullptr, cpu_device()); }),
      HasSubstr("array_view: cpu is no CUDA device"));
  const DefaultDevice here(cpu_device());
  EXPECT_THAT(message<DeviceError>([] { cuda::device_pointer(ones({2})); }),
              HasSubstr("device_pointer: cpu is no CUDA device"));
}

// --- DLPack ------------------------------------------------------------------------------------

// A struct of another library over its memory on the device.
template <class Managed>
struct Foreign : ForeignTensor<Managed> {
  Foreign(void* data, std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : ForeignTensor<Managed>(data, std::move(sizes), std::move(steps)) {
    this->managed.dl_tensor.device = {2, 0};
  }
};
using Versioned = Foreign<dlpack::ManagedTensorVersioned>;

TEST_F(CudaSharing, DlpackGoesOutWithoutACopyInTheOrderOfTheStream) {
  const Array x = to_device(array({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}), gpu_) * 2.0f;
  const int64_t before = cuda_emulator::counts().waits;
  auto out = cuda::to_dlpack(x, {.stream = stream_});
  EXPECT_EQ(cuda_emulator::counts().waits, before);
  const dlpack::Tensor& t = out->dl_tensor;
  EXPECT_EQ(out->flags, dlpack::kReadOnly);
  EXPECT_EQ(t.data, cuda::device_pointer(x));
  EXPECT_EQ(t.device.type, 2);
  EXPECT_EQ(t.device.id, 0);
  EXPECT_EQ(std::vector<int64_t>(t.shape, t.shape + t.ndim), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector<int64_t>(t.strides, t.strides + t.ndim), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(read(t.data, 6), (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST_F(CudaSharing, DlpackWithoutAStreamWaits) {
  const Array x = to_device(array({1.0f, 2.0f}), gpu_) * 2.0f;
  const int64_t before = cuda_emulator::counts().waits;
  auto out = cuda::to_dlpack_unversioned(x);
  EXPECT_GT(cuda_emulator::counts().waits, before);
  EXPECT_EQ(read(out->dl_tensor.data, 2), (std::vector<float>{2, 4}));
}

// The consumer still reads the memory on its stream when it calls the deleter.
TEST_F(CudaSharing, TheDeleterGivesTheMemoryBackBehindTheConsumersWork) {
  for (const bool with_stream : {true, false}) {
    Array x = to_device(full({64}, 3.0f), gpu_) * 1.0f;
    auto out = with_stream ? cuda::to_dlpack(x, {.stream = stream_}) : cuda::to_dlpack(x);
    x = Array();
    std::vector<float> host(64);
    cuda::driver().cuMemcpyDtoHAsync(
        host.data(), reinterpret_cast<CUdeviceptr>(out->dl_tensor.data), 256, stream_);
    out.reset();
    cuda::clear_cache(gpu_);
    for (int i = 0; i < 4; ++i) (void)(to_device(full({64}, 9.0f), gpu_) * 1.0f);
    cuda::synchronize(gpu_);
    cuda::driver().cuStreamSynchronize(stream_);
    EXPECT_EQ(host, std::vector<float>(64, 3.0f));
  }
}

template <class Managed>
void comes_in_without_a_copy(float* p, CUstream stream) {
  Foreign<Managed> foreign(p, {2, 3}, {3, 1});
  {
    const Array x = cuda::from_dlpack(&foreign.managed, {.stream = stream});
    EXPECT_EQ(cuda::device_pointer(x), p);
    EXPECT_EQ(sum(x).template item<float>(), 24);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(CudaSharing, DlpackComesInWithoutACopyInTheOrderOfTheStream) {
  float* p = memory(6);
  set(p, 6, 4.0f);
  comes_in_without_a_copy<dlpack::ManagedTensorVersioned>(p, stream_);
  comes_in_without_a_copy<dlpack::ManagedTensor>(p, stream_);
}

TEST_F(CudaSharing, OtherOrdersAreCopiedOnTheDevice) {
  const Array numbers = to_device(array({0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f}), gpu_);
  auto* p = const_cast<void*>(cuda::device_pointer(numbers));
  const auto taken = [&](std::vector<int64_t> shape, std::vector<int64_t> strides,
                         uint64_t offset = 0) {
    Versioned foreign(p, std::move(shape), std::move(strides));
    foreign.managed.dl_tensor.byte_offset = offset;
    const Array x = cuda::from_dlpack(&foreign.managed);
    EXPECT_EQ(foreign.deleted, 1);
    return x.to_vector<float>();
  };
  EXPECT_EQ(taken({3, 2}, {1, 3}), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(taken({2, 2}, {0, 1}), (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(taken({3}, {-2}, 4 * sizeof(float)), (std::vector<float>{4, 2, 0}));
  EXPECT_EQ(taken({1, 3}, {77, 1}, sizeof(float)), (std::vector<float>{1, 2, 3}));
}

TEST_F(CudaSharing, EveryDtypeGoesOutAndComesBack) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const Array x = to_device(ones({2, 2}, static_cast<Dtype>(d)), gpu_);
    const Array back =
        cuda::from_dlpack(cuda::to_dlpack(x, {.stream = stream_}).release(), {.stream = stream_});
    EXPECT_EQ(back.aval(), x.aval());
    EXPECT_EQ(cuda::device_pointer(back), cuda::device_pointer(x));
    EXPECT_TRUE(array_equal(to_device(back, cpu_device()), to_device(x, cpu_device())));
  }
  const Array number = to_device(array(2.5), gpu_);
  EXPECT_EQ(cuda::from_dlpack(cuda::to_dlpack(number).release()).item<float>(), 2.5f);
  const Array none = to_device(zeros({0, 3}), gpu_);
  EXPECT_EQ(cuda::from_dlpack(cuda::to_dlpack(none).release()).shape(), (Shape{0, 3}));
}

TEST_F(CudaSharing, ArraysOfTheHostGoAsThoseOfTheCore) {
  const DefaultDevice here(cpu_device());
  const Array x = array({1.0f, 2.0f});
  auto out = cuda::to_dlpack(x);
  EXPECT_EQ(out->dl_tensor.device.type, 1);
  EXPECT_EQ(cuda::from_dlpack(out.release()).device().name(), "cpu");
  EXPECT_EQ(cuda::to_dlpack_unversioned(x)->dl_tensor.device.type, 1);
}

TEST_F(CudaSharing, WhatCannotBeTakenIsNamedAndLetGo) {
  float* p = memory(6);
  const auto refused = [&](const auto& change) {
    Versioned foreign(p, {2, 3});
    change(foreign.managed);
    const std::string said = message<Error>([&] { cuda::from_dlpack(&foreign.managed); });
    EXPECT_EQ(foreign.deleted, 1);
    return said;
  };
  EXPECT_THAT(refused([](auto& s) { s.dl_tensor.device.id = 3; }),
              HasSubstr("there is no device 3"));
  EXPECT_THAT(refused([](auto& s) { s.dl_tensor.device.type = 10; }),
              HasSubstr("on a device of type 10"));
  EXPECT_THAT(refused([](auto& s) {
                s.dl_tensor.dtype = {5, 64, 1};
              }),
              HasSubstr("Spruce has no dtype for elements of code 5"));
  EXPECT_THAT(refused([](auto& s) { s.dl_tensor.ndim = -1; }), HasSubstr("there are -1 axes"));
  EXPECT_THAT(refused([](auto& s) { s.version = {2, 0}; }), HasSubstr("DLPack 2.0"));
  const std::vector<float> host(6);
  EXPECT_THAT(refused([&](auto& s) { s.dl_tensor.data = const_cast<float*>(host.data()); }),
              HasSubstr("from_dlpack: the memory of f32[2,3]@cuda:0 is not on a GPU"));
  EXPECT_THAT(message<ValueError>(
                  [] { cuda::from_dlpack(static_cast<dlpack::ManagedTensorVersioned*>(nullptr)); }),
              HasSubstr("from_dlpack: the pointer is null"));
  EXPECT_THROW(cuda::to_dlpack(Array()), ValueError);
  const Array x = to_device(array({1.0f, 2.0f}), gpu_);
  EXPECT_THAT(message<TracerError>([&] {
                (void)jit([](const Array& v) {
                  cuda::to_dlpack(v);
                  return v;
                })(x);
              }),
              HasSubstr("to_dlpack"));
  EXPECT_THAT(message<TracerError>([&] {
                (void)jit([](const Array& v) {
                  cuda::device_pointer(v);
                  return v;
                })(x);
              }),
              HasSubstr("device_pointer"));
}

}  // namespace cuda_sharing_test
}  // namespace spruce
