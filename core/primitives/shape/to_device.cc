// SPDX-License-Identifier: Apache-2.0
// The same elements on another device.
#include "spruce/core/rules/to_device.h"

#include <cstring>
#include <string>
#include <vector>

#include "spruce/core/rules/cost.h"

namespace spruce {
namespace {

Device& target(const Params& params) {
  const auto& p = params.get<ToDeviceParams>();
  Device* device = find_device(p.device);
  if (device == nullptr)
    throw DeviceError("to_device: there is no device '" + p.device + "' on this machine");
  return *device;
}

Aval to_device_shape(const ShapeArgs& a) {
  Aval out = *a.in[0];
  out.device = target(a.params).index();
  return out;
}

// Between two devices by way of the host.
std::vector<Array> run(std::span<const Array> in, const Params& params) {
  const Array& x = in[0];
  Device& device = target(params);
  if (x.aval().device == device.index()) return {x};
  const auto bytes = static_cast<size_t>(x.nbytes());
  Aval aval = x.aval();
  aval.device = device.index();
  const Array out = internal::make_array(aval);
  if (x.aval().device == 0) {
    device.copy_from_host(internal::mutable_data(out), internal::mutable_data(x), bytes);
  } else if (device.index() == 0) {
    x.device().copy_to_host(internal::mutable_data(out), internal::mutable_data(x), bytes);
  } else {
    std::vector<char> host(bytes);
    x.device().copy_to_host(host.data(), internal::mutable_data(x), bytes);
    device.copy_from_host(internal::mutable_data(out), host.data(), bytes);
  }
  return {out};
}

// In a plan of the CPU, which has all values of its function there.
void to_device_kernel(const KernelArgs& a) {
  const auto bytes = static_cast<size_t>(a.out[0].aval->bytes());
  if (bytes > 0) std::memcpy(a.out[0].data, a.in[0].data, bytes);
}

void to_device_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = bind1(a.p, a.tangents, a.params);
}

void to_device_transpose(const TransposeArgs& a) {
  a.out[0] = rules::to_device(a.cts[0], a.avals[0].device);
}

void to_device_batch(const BatchArgs& a) { a.out[0] = bind1(a.p, a.in, a.params); }

std::vector<Sample> to_device_samples() {
  return {rules::sample_of({{2, 3}}, Params::make(ToDeviceParams{"cpu"}))};
}

}  // namespace

extern constinit const Primitive to_device_p = {
    .name = "to_device",
    .shape = to_device_shape,
    .cpu = to_device_kernel,
    .jvp = to_device_jvp,
    .transpose = to_device_transpose,
    .batch = to_device_batch,
    .samples = to_device_samples,
    .params = kParamsOf<ToDeviceParams>,
    .call = run,
    .flops = rules::no_flops,
};

namespace rules {

Array to_device(const Array& x, uint8_t device) {
  if (x.aval().device == device) return x;
  return bind1(to_device_p, {x},
               Params::make(ToDeviceParams{std::string(device_at(device).name())}));
}

Array beside(const Array& x, const Array& other) {
  return spruce::internal::is_placed(other.aval()) ? to_device(x, other.aval().device) : x;
}

}  // namespace rules
}  // namespace spruce
