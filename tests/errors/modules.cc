// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <string>

#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

namespace {

// A module with out.weight f32[2,4] and out.bias f32[2].
class Net : public nn::Module {
 public:
  Net() { out = register_module("out", nn::Linear::init(sp::Key(0), 4, 2)); }
  Array forward(const Array& x) override { return out(x); }
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
  nn::Stateful<nn::Linear> out;
};

// A module whose layer is made and never registered.
class Forgetful : public nn::Module {
 public:
  Array forward(const Array& x) override { return out(x); }
  nn::Stateful<nn::Linear> out{nn::Linear::init(sp::Key(0), 4, 2)};
};

// A module with a buffer `seen` f32[4], which becomes what the function of its input is.
class Statistics : public nn::Module {
 public:
  explicit Statistics(Array (*f)(const Array&)) : f(f) { register_buffer("seen", sp::zeros({4})); }
  Array forward(const Array& x) override {
    update_buffer("seen", f(x));
    return x;
  }
  Array (*f)(const Array&);
};

// A module that counts its calls in a field.
class Counter : public nn::Module {
 public:
  Array forward(const Array& x) override {
    ++count;
    return x;
  }
  int count = 0;
};

void write_file(const char* path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The bytes of a file that holds w: f32[2,3], without the last `missing` ones.
void write_safetensors(const char* path, size_t missing) {
  sp::io::save_safetensors(path, {{"w", sp::ones({2, 3})}});
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  file.close();
  bytes.resize(bytes.size() - missing);
  write_file(path, bytes);
}

}  // namespace

Section module_mistakes() {
  return {
      "Modules",
      __FILE__,
      {
          {"A state with other names",
           CODE(Net net;
                net.load_state_dict({{"out.weight", sp::ones({2, 4})}, {"out.b", sp::ones({2})}})),
           CODE(Net net; net.load_state_dict(
               {{"out.weight", sp::ones({2, 4})}, {"out.b", sp::ones({2})}}, {.strict = false})),
           "TreeError",
           "load_state_dict: the names differ\n  missing: out.bias\n  unexpected: out.b\n  load "
           "with {.strict = false} to take over what fits" HERE},
          {"A state with other shapes",
           CODE(Net net; net.load_state_dict(
               {{"out.weight", sp::ones({4, 2})}, {"out.bias", sp::ones({4})}})),
           CODE(Net net; net.load_state_dict(
               {{"out.weight", sp::ones({2, 4})}, {"out.bias", sp::ones({2})}})),
           "ShapeError",
           "load_state_dict: shapes differ:\n  out.weight: the module has f32[2,4], the state has "
           "f32[4,2]\n  out.bias: the module has f32[2], the state has f32[4]" HERE},
          {"A state of a module in another one",
           CODE(Net net; net.load_state_dict(
               {{"net.out.weight", sp::ones({2, 4})}, {"net.out.bias", sp::ones({2})}})),
           CODE(Net net; net.load_state_dict(
               {{"net.out.weight", sp::ones({2, 4})}, {"net.out.bias", sp::ones({2})}},
               {.prefix = "net."})),
           "TreeError",
           "load_state_dict: the names differ\n  missing: out.weight\n  missing: out.bias\n  "
           "unexpected: net.out.weight\n  unexpected: net.out.bias\n  load with {.prefix = "
           "\"net.\"}: all names begin so\n  load with {.strict = false} to take over what "
           "fits" HERE},
          {"A part that was never registered",
           CODE(nn::Stateful<nn::Linear> part; part.state_dict()),
           CODE(nn::Stateful<nn::Linear> part(nn::Linear::init(sp::Key(0), 4, 2));
                part.state_dict()),
           "ValueError",
           "Module: this refers to no module: a part that was not registered, as in out_ = "
           "register_module(\"out\", layer), or a module whose value was moved elsewhere; use that "
           "one" HERE},
          {"A name with a dot",
           CODE(Net net; net.register_module("in.front", nn::Linear::init(sp::Key(0), 4, 4))),
           CODE(Net net; net.register_module("front", nn::Linear::init(sp::Key(0), 4, 4))),
           "ValueError",
           "register_module: 'in.front' is no name; it must not be empty and hold no dot" HERE},
          {"A name that is taken",
           CODE(Net net; net.register_module("out", nn::Linear::init(sp::Key(0), 4, 4))),
           CODE(Net net; net.register_module("out2", nn::Linear::init(sp::Key(0), 4, 4))),
           "ValueError", "register_module: the module already has a child 'out'" HERE},
          {"A stateful layer that holds none",
           CODE(nn::Stateful<nn::Linear> layer; layer(sp::ones({3, 4}))),
           CODE(nn::Stateful<nn::Linear> layer(nn::Linear::init(sp::Key(0), 4, 2));
                layer(sp::ones({3, 4}))),
           "ValueError",
           "Stateful: it holds no layer yet; give it one, as in out_ = register_module(\"out\", "
           "nn::Linear::init(key, 4, 2))" HERE},
          {"A path of no part", CODE(Net net; net.get_submodule("head")),
           CODE(Net net; net.get_submodule("out")), "TreeError",
           "get_submodule: the module has no part 'head'; it has 'out'" HERE},
          {"A path of no parameter", CODE(Net net; net.get_parameter("out.wieght")),
           CODE(Net net; net.get_parameter("out.weight")), "TreeError",
           "get_parameter: there is no array 'out.wieght'; did you mean 'out.weight'" HERE},
          {"A part that is another layer", CODE(Net net; net.get_layer<nn::Conv2d>("out")),
           CODE(Net net; net.get_layer<nn::Linear>("out")), "TreeError",
           "get_layer: 'out' is a layer of type Linear, not Conv2d" HERE},
          {"A layer that no module has registered", CODE(Forgetful net; net(sp::ones({3, 4}))),
           CODE(Net net; net(sp::ones({3, 4}))), "ValueError",
           "Module: a part that is not registered is called, so that its arrays are in no list; "
           "set it in the constructor, as in out_ = register_module(\"out\", layer)" HERE},
          {"An input that does not fit a layer in a module", CODE(Net net; net(sp::ones({3, 5}))),
           CODE(Net net; net(sp::ones({3, 4}))), "ShapeError",
           "Net: layer out (Linear): linear: x f32[3,5] and weight f32[2,4] do not fit: x must be "
           "f[..., in] and weight f[out, in]" HERE},
          {"A parameter that is in no list of parameters",
           CODE(nn::ParameterList list{sp::ones({2})}; list[1]),
           CODE(nn::ParameterList list{sp::ones({2})}; list[0]), "TreeError",
           "ParameterList: there is no parameter '1'; it has '0'"},
          {"A pattern that matches nothing", CODE(Net net; net.requires_grad("*.norm", false)),
           CODE(Net net; net.requires_grad("*.bias", false)), "TreeError",
           "requires_grad: there is no array '*.norm'; look at named_parameters() and "
           "named_buffers()" HERE},
          {"A buffer of another shape",
           CODE(Statistics net(+[](const Array& x) { return sp::mean(x); }); net(sp::ones({3, 4}))),
           CODE(Statistics net(+[](const Array& x) { return sp::mean(x, 0); });
                net(sp::ones({3, 4}))),
           "ShapeError", "update_buffer: 'seen' is f32[4], the new value is f32[]" HERE},
          {"A buffer of another dtype",
           CODE(Statistics net(+[](const Array& x) { return sp::argmax(x, 0); });
                net(sp::ones({3, 4}))),
           CODE(Statistics net(+[](const Array& x) { return sp::mean(x, 0); });
                net(sp::ones({3, 4}))),
           "DtypeError",
           "update_buffer: 'seen' is f32[4], the new value is i32[4]; convert it with "
           "astype" HERE},
          {"New statistics in a loop of a loss",
           CODE(nn::Stateful<nn::BatchNorm> net(nn::BatchNorm::init(2));
                nn::value_and_grad(net,
                                   [&] {
                                     return sp::sum(sp::map([&](const Array& x) { return net(x); },
                                                            sp::ones({3, 4, 2})));
                                   })),
           CODE(nn::Stateful<nn::BatchNorm> net(nn::BatchNorm::init(2));
                nn::value_and_grad(net,
                                   [&] {
                                     return sp::sum(net(sp::ones({12, 2})));
                                   })),
           "TracerError",
           "Module: 'running_mean' of BatchNorm would become a traced value of map, "
           "which ends before the call does; let it carry or return the new value: of a layer from "
           "layer(), by a Context made inside, to update_buffers(), of an own buffer to "
           "update_buffer(); or put the module into evaluation mode" HERE},
          {"A module that is a null pointer",
           CODE(nn::functionalize(std::shared_ptr<nn::Module>())),
           CODE(nn::functionalize(std::make_shared<Net>())), "ValueError",
           "functionalize: the module is a null pointer; make the module first" HERE},
          {"A function of a module that has ended",
           CODE(auto net = std::make_unique<Net>(); const auto f = nn::functionalize(*net);
                net.reset(); f.apply(f.params, f.buffers, {}, sp::ones({3, 4}))),
           CODE(const auto f = nn::functionalize(std::make_shared<Net>());
                f.apply(f.params, f.buffers, {}, sp::ones({3, 4}))),
           "ValueError",
           "functionalize: the module has ended, and with it the code of its forward; let it live "
           "as long, or hand over a std::shared_ptr to it" HERE},
          {"An ensemble of different modes",
           CODE(Net a; Net b; b.eval();
                nn::stack_modules({nn::functionalize(a), nn::functionalize(b)})),
           CODE(Net a; Net b; nn::stack_modules({nn::functionalize(a), nn::functionalize(b)})),
           "ValueError",
           "stack_modules: module 1 differs from module 0 in its mode; call train() or eval() on "
           "both" HERE},
          {"A forward that keeps what is not registered",
           CODE(Counter net; nn::check_pure(net, sp::ones({3, 4}))),
           CODE(Net net; nn::check_pure(net, sp::ones({3, 4}))), "ValueError",
           "check_pure: the forward of Counter changes fields of the object that are not "
           "registered; make them buffers by register_buffer and update_buffer, or return them"},
          {"A step of an optimizer without gradients",
           CODE(Net net; sp::optim::Stateful optimizer(net, sp::optim::adam()); optimizer.step()),
           CODE(Net net; sp::optim::Stateful optimizer(net, sp::optim::adam()); optimizer.step([&] {
             return sp::sum(net(sp::ones({3, 4})));
           })),
           "ValueError",
           "step: there are no gradients; call backward(loss) first, or step(loss), which does "
           "both" HERE},
          {"A step of an optimizer that was made for other parameters",
           CODE(Net net; net.requires_grad("out.bias", false);
                sp::optim::Stateful optimizer(net, sp::optim::adam()); net.requires_grad(true);
                optimizer.step([&] {
                  return sp::sum(net(sp::ones({3, 4})));
                })),
           CODE(Net net; net.requires_grad("out.bias", false); net.requires_grad(true);
                sp::optim::Stateful optimizer(net, sp::optim::adam()); optimizer.step([&] {
                  return sp::sum(net(sp::ones({3, 4})));
                })),
           "TreeError",
           "step: the trainable parameters are other ones than when the optimizer was made; make a "
           "new one after requires_grad(), set_layer() or append():\n  out.bias is new" HERE},
          {"A gradient of a module that is frozen",
           CODE(Net net; net.requires_grad(false);
                nn::value_and_grad(net,
                                   [&] {
                                     return sp::sum(net(sp::ones({3, 4})));
                                   })),
           CODE(Net net; net.requires_grad("out.weight", false);
                nn::value_and_grad(net,
                                   [&] {
                                     return sp::sum(net(sp::ones({3, 4})));
                                   })),
           "DerivativeError",
           "value_and_grad: Net has no parameters that are trained, all are frozen; let some be "
           "trained by requires_grad(true) or requires_grad(path)" HERE},
          {"A lazy layer that has not been called yet",
           CODE(nn::LazyLinear layer(sp::Key(0), 2); nn::functionalize(layer)),
           CODE(nn::LazyLinear layer(sp::Key(0), 2); layer(sp::ones({3, 4}));
                nn::functionalize(layer)),
           "ValueError",
           "functionalize: lazy layers have no arrays until they are called: LazyLinear; call the "
           "module once before, at an example" HERE},
          {"Parameters without a name that the module has",
           CODE(Net net; nn::functionalize(net).apply({{"out.weight", sp::ones({2, 4})}}, {}, {},
                                                      sp::ones({3, 4}))),
           CODE(Net net; const auto f = nn::functionalize(net);
                f.apply(f.params, f.buffers, {}, sp::ones({3, 4}))),
           "TreeError",
           "NamedArrays: no array is named 'out.bias'; the names are 'out.weight'" HERE},
          {"A parameter of another shape",
           CODE(Net net; const auto f = nn::functionalize(net); sp::NamedArrays params = f.params;
                params.at("out.bias") = sp::ones({3});
                f.apply(params, f.buffers, {}, sp::ones({3, 4}))),
           CODE(Net net; const auto f = nn::functionalize(net); sp::NamedArrays params = f.params;
                params.at("out.bias") = sp::ones({2});
                f.apply(params, f.buffers, {}, sp::ones({3, 4}))),
           "ShapeError", "apply: out.bias is f32[3], the module has f32[2]" HERE},
      }};
}

Section file_mistakes() {
  return {
      "Files",
      __FILE__,
      {
          {"A checkpoint that is no file of PyTorch",
           CODE(write_file("mistake.pt", "weights"); nn::load_torch("mistake.pt")),
           CODE(nn::save_torch("mistake.pt", {{"w", sp::ones({2})}}); nn::load_torch("mistake.pt");
                std::remove("mistake.pt")),
           "IoError",
           "load_torch: mistake.pt: at byte 0: this is no zip archive, as torch.save writes since "
           "PyTorch 1.6; load an older file in PyTorch and save it again" HERE},
          {"A file that is not there", CODE(sp::io::load_npy("no_such_file.npy")),
           CODE(sp::io::save_npy("mistake.npy", sp::ones({2})); sp::io::load_npy("mistake.npy");
                std::remove("mistake.npy")),
           "IoError",
           "load_npy: no_such_file.npy: cannot be opened: No such file or directory" HERE},
          {"A folder that is not there",
           CODE(sp::io::save_npy("no_such_folder/a.npy", sp::ones({2}))),
           CODE(sp::io::save_npy("mistake.npy", sp::ones({2})); std::remove("mistake.npy")),
           "IoError",
           "save_npy: no_such_folder/a.npy: no file can be made in its folder: No such file or "
           "directory" HERE},
          {"A file that is cut off",
           CODE(write_safetensors("mistake.safetensors", 4);
                sp::io::load_safetensors("mistake.safetensors")),
           CODE(write_safetensors("mistake.safetensors", 0);
                sp::io::load_safetensors("mistake.safetensors");
                std::remove("mistake.safetensors")),
           "IoError",
           "load_safetensors: mistake.safetensors: at byte 8: the array 'w' has data_offsets that "
           "are not two, in rising order and within the 20 bytes of data" HERE},
          {"A file of another format",
           CODE(write_file("mistake.npy", "PK\3\4 a zip file"); sp::io::load_npy("mistake.npy")),
           CODE(sp::io::save_npy("mistake.npy", sp::ones({2})); sp::io::load_npy("mistake.npy");
                std::remove("mistake.npy")),
           "IoError",
           "load_npy: mistake.npy: at byte 0: this is no .npy file: it does not begin with "
           "\\x93NUMPY" HERE},
          {"A header that promises more than there is",
           CODE(write_file("mistake.safetensors",
                           std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
                sp::io::load_safetensors("mistake.safetensors")),
           CODE(write_safetensors("mistake.safetensors", 0);
                sp::io::load_safetensors("mistake.safetensors");
                std::remove("mistake.safetensors")),
           "IoError",
           "load_safetensors: mistake.safetensors: at byte 0: the header would have "
           "9223372036854775807 bytes; this is no .safetensors file, or a damaged one" HERE},
          {"An IDX file that is none",
           CODE(write_file("mistake.idx", "text"); sp::io::load_idx("mistake.idx")),
           CODE(std::remove("mistake.idx")), "IoError",
           "load_idx: mistake.idx: at byte 0: this is no IDX file: it does not begin with two zero "
           "bytes" HERE},
          {"Saving an array that nobody has set",
           CODE(sp::io::save_safetensors("mistake.safetensors", {{"w", Array()}})),
           CODE(sp::io::save_safetensors("mistake.safetensors", {{"w", sp::ones({2})}});
                std::remove("mistake.safetensors")),
           "ValueError",
           "save_safetensors: the array 'w' is empty (default-constructed); give it a value before "
           "it is saved" HERE},
      }};
}
