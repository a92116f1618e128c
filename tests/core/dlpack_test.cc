// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/foreign_tensor.h"
#include "tests/core/message.h"

namespace spruce {
namespace dlpack_test {

static_assert(sizeof(dlpack::Tensor) == 48 && sizeof(dlpack::ManagedTensor) == 64 &&
              sizeof(dlpack::ManagedTensorVersioned) == 80);

// Six floats of another library.
template <class Managed>
struct Foreign : ForeignTensor<Managed> {
  Foreign(std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : ForeignTensor<Managed>(values, std::move(sizes), std::move(steps)) {}
  float values[6] = {0, 1, 2, 3, 4, 5};
};
using Versioned = Foreign<dlpack::ManagedTensorVersioned>;

template <class Managed>
void takes_a_struct_without_a_copy() {
  Foreign<Managed> foreign({2, 3}, {3, 1});
  {
    Array x = from_dlpack(&foreign.managed);
    EXPECT_EQ(x.data<float>().data(), foreign.values);
    x += 1.0f;
    EXPECT_EQ(foreign.values[0], 0.0f);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(foreign.deleted, 1) << "x has memory of its own by now";
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(Dlpack, TakesBothStructsWithoutACopy) {
  takes_a_struct_without_a_copy<dlpack::ManagedTensorVersioned>();
  takes_a_struct_without_a_copy<dlpack::ManagedTensor>();
}

TEST(Dlpack, OtherOrdersAreCopied) {
  Versioned transposed({3, 2}, {1, 3});
  const Array x = from_dlpack(&transposed.managed);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transposed.deleted, 1);

  Versioned repeated({2, 2}, {0, 1});
  EXPECT_EQ(from_dlpack(&repeated.managed).to_vector<float>(), (std::vector<float>{0, 1, 0, 1}));

  Versioned backward({3}, {-2});
  backward.managed.dl_tensor.byte_offset = 4 * sizeof(float);
  EXPECT_EQ(from_dlpack(&backward.managed).to_vector<float>(), (std::vector<float>{4, 2, 0}));

  Versioned one_row({1, 3}, {77, 1});  // the step along an axis of size 1 means nothing
  EXPECT_EQ(from_dlpack(&one_row.managed).data<float>().data(), one_row.values);
}

TEST(Dlpack, WhatIsHandedOutSharesTheMemory) {
  Array x = array({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  auto out = to_dlpack(x);
  const dlpack::Tensor& t = out->dl_tensor;
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, dlpack::kReadOnly);
  EXPECT_EQ(t.data, static_cast<const void*>(x.data<float>().data()));
  EXPECT_EQ(std::vector<int64_t>(t.shape, t.shape + t.ndim), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector<int64_t>(t.strides, t.strides + t.ndim), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(t.device.type, 1);

  x = std::move(x).at(0, 0).set(9.0f);  // copies: the other library sees what it was given
  EXPECT_EQ(static_cast<const float*>(t.data)[0], 1.0f);
  EXPECT_EQ(from_dlpack(out.release()).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Dlpack, EveryDtypeComesBack) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const Array x = ones({2, 2}, static_cast<Dtype>(d));
    EXPECT_EQ(from_dlpack(to_dlpack(x).release()).aval(), x.aval());
    EXPECT_TRUE(array_equal(from_dlpack(to_dlpack_unversioned(x).release()), x));
  }
  EXPECT_EQ(from_dlpack(to_dlpack(array(2.5)).release()).item<float>(), 2.5f);
  EXPECT_EQ(from_dlpack(to_dlpack(zeros({0, 3})).release()).shape(), (Shape{0, 3}));
}

TEST(Dlpack, TheMemoryLivesUntilTheDeleter) {
  const int64_t before = memory::live_bytes();
  auto out = to_dlpack(ones({256}));
  EXPECT_EQ(memory::live_bytes(), before + 1024);
  out.reset();
  EXPECT_EQ(memory::live_bytes(), before);
}

// Says what is refused, and expects that the struct is let go all the same.
template <class Change>
std::string refused(const Change& change) {
  Versioned foreign({2, 3});
  change(foreign.managed);
  const std::string said = message([&] { return from_dlpack(&foreign.managed); });
  EXPECT_EQ(foreign.deleted, 1);
  return said;
}

TEST(Dlpack, WhatCannotBeTakenIsNamedAndLetGo) {
  using Struct = dlpack::ManagedTensorVersioned;
  EXPECT_EQ(refused([](Struct& s) {
              s.version = {2, 1};
            }),
            "from_dlpack: the struct is of DLPack 2.1; 1.x is known");
  EXPECT_EQ(refused([](Struct& s) { s.dl_tensor.device.type = 2; }),
            "from_dlpack: the memory is on a device of type 2, which the host cannot read; copy it "
            "to the host first");
  EXPECT_EQ(refused([](Struct& s) {
              s.dl_tensor.dtype = {5, 64, 1};
            }),
            "from_dlpack: Spruce has no dtype for elements of code 5, 64 bits and 1 lanes; convert "
            "them where they come from");
  EXPECT_EQ(refused([](Struct& s) { s.dl_tensor.ndim = -1; }), "from_dlpack: there are -1 axes");
  EXPECT_THAT(refused([](Struct& s) { s.dl_tensor.shape[1] = -3; }),
              ::testing::HasSubstr("from_dlpack"));
  EXPECT_EQ(refused([](Struct& s) {
              s.dl_tensor.dtype = {6, 8, 1}, s.dl_tensor.byte_offset = 4;
            }),
            "from_dlpack: element 2 of bool[2,3] is 128, not 0 or 1");
  EXPECT_EQ(message([] { return from_dlpack(static_cast<Struct*>(nullptr)); }),
            "from_dlpack: the pointer is null");
  EXPECT_EQ(message([] {
              return jit([](const Array& x) {
                to_dlpack(x);
                return x;
              })(ones({2}));
            }).substr(0, 11),
            "to_dlpack: ");
  EXPECT_THROW(to_dlpack(Array()), ValueError);
}

}  // namespace dlpack_test
}  // namespace spruce
