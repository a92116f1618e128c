// SPDX-License-Identifier: Apache-2.0
#include <spruce/data.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "mistakes.h"

namespace sp = spruce;
namespace data = spruce::data;
using sp::Array;

namespace {

// A table with one column, x.
data::CsvTable table(const char* rows) {
  std::ofstream("mistake.csv") << "x\n" << rows;
  data::CsvTable out = data::load_csv("mistake.csv");
  std::remove("mistake.csv");
  return out;
}

}  // namespace

Section data_mistakes() {
  return {
      "Data",
      __FILE__,
      {
          {"Batches of leaves with different numbers of examples",
           CODE(data::batches(std::pair{sp::ones({8, 2}), sp::ones({7})}, {})),
           CODE(data::batches(std::pair{sp::ones({8, 2}), sp::ones({8})}, {})), "ShapeError",
           "batches: 0 is f32[8,2] and 1 is f32[7]; their first axes, of examples, differ" HERE},
          {"Fewer examples than a batch has, and the rest dropped",
           CODE(data::batches(sp::ones({8}), {.batch_size = 16, .rest = data::Rest::kDrop})),
           CODE(data::batches(sp::ones({8}), {.batch_size = 4, .rest = data::Rest::kDrop})),
           "ValueError",
           "batches: 8 examples give no batch of 16; take a smaller batch_size, or keep the "
           "rest" HERE},
          {"A key beside a sampler",
           CODE(data::batches(sp::ones({8}), data::in_order(8), {.key = sp::Key(0)})),
           CODE(data::batches(sp::ones({8}), data::shuffled(8, sp::Key(0)), {})), "ValueError",
           "batches: the order is that of the sampler, so .key would do nothing; give it to "
           "shuffled()" HERE},
          {"An example that is not there", CODE(data::take_examples(sp::ones({8}), {8})),
           CODE(data::take_examples(sp::ones({8}), {7})), "IndexError",
           "take_examples: there is no example 8 in the array, which is f32[8]" HERE},
          {"Fractions that are more than the whole",
           CODE(data::split(sp::ones({8}), {0.8, 0.3}, sp::Key(0))),
           CODE(data::split(sp::ones({8}), {0.8, 0.2}, sp::Key(0))), "ValueError",
           "split: the fractions add up to 1.100000, which is more than 1" HERE},
          {"Sequences of different widths",
           CODE(data::collate({sp::ones({3, 2}), sp::ones({4, 3})})),
           CODE(data::collate({sp::ones({3, 2}), sp::ones({4, 2})})), "ShapeError",
           "collate: sequence 0 is f32[3,2] and sequence 1 is f32[4,3]; they may differ in their "
           "first axis alone" HERE},
          {"A column that is not there", CODE(table("1\n2\n").numbers("y")),
           CODE(table("1\n2\n").numbers("x")), "ValueError",
           "CsvTable::numbers: mistake.csv has no column 'y'; it has 'x'" HERE},
          {"Text where numbers are due", CODE(table("1\ntwo\n").numbers("x")),
           CODE(table("1\ntwo\n").categories("x")), "ValueError",
           "CsvTable::numbers: mistake.csv: line 3: column 'x' is 'two', which is no f32" HERE},
          {"A table that is not there", CODE(data::load_csv("no_such_file.csv")),
           CODE(table("1\n2\n")), "IoError",
           "load_csv: no_such_file.csv: cannot be opened: No such file or directory" HERE},
          {"A picture that is cut off",
           CODE(data::save_png("mistake.png", sp::ones({2, 2}, sp::uint8));
                std::filesystem::resize_file("mistake.png", 40); data::load_image("mistake.png")),
           CODE(data::save_png("mistake.png", sp::ones({2, 2}, sp::uint8));
                data::load_image("mistake.png"); std::remove("mistake.png")),
           "IoError",
           "load_image: mistake.png: at byte 33: the file is cut short; the file is damaged" HERE},
          {"A picture with more pixels than are read",
           CODE(data::save_png("mistake.png", sp::ones({2, 2}, sp::uint8));
                data::load_image("mistake.png", {.max_pixels = 3})),
           CODE(data::save_png("mistake.png", sp::ones({2, 2}, sp::uint8));
                data::load_image("mistake.png", {.max_pixels = 4}); std::remove("mistake.png")),
           "IoError",
           "load_image: mistake.png: the picture has 2 x 2 pixels, and at most 3 are read; raise "
           ".max_pixels if it is meant" HERE},
          {"Labels that CIFAR does not have",
           CODE(std::ofstream("mistake.bin") << '\x0a' << std::string(3072, 'x');
                data::load_cifar10({"mistake.bin"})),
           CODE(std::ofstream("mistake.bin") << '\x09' << std::string(3072, 'x');
                data::load_cifar10({"mistake.bin"}); std::remove("mistake.bin")),
           "IoError",
           "load_cifar10: mistake.bin: at byte 0: the label is 10 and there are 10 classes" HERE},
          {"A sound of another kind",
           CODE(std::ofstream("mistake.wav") << "OggS and more"; data::load_wav("mistake.wav")),
           CODE(data::save_wav("mistake.wav", {sp::zeros({4, 1}), 8000});
                data::load_wav("mistake.wav"); std::remove("mistake.wav")),
           "IoError",
           "load_wav: mistake.wav: at byte 0: this is no WAV file: it does not begin with RIFF and "
           "WAVE" HERE},
          {"A picture of another kind",
           CODE(std::ofstream("mistake.gif") << "GIF89a"; data::load_image("mistake.gif")),
           CODE(data::save_png("mistake.png", sp::ones({2, 2}, sp::uint8));
                data::load_image("mistake.png"); std::remove("mistake.png");
                std::remove("mistake.gif")),
           "IoError",
           "load_image: mistake.gif: at byte 0: this is neither PNG nor JPEG: it does not begin as "
           "they do" HERE},
          {"A batch of pictures where one is due",
           CODE(data::random_flip(sp::Key(0), sp::ones({8, 4, 4, 3}))),
           CODE(sp::vmap([](const sp::Key& k, const Array& x) { return data::random_flip(k, x); })(
               sp::random::split(sp::Key(0), 8), sp::ones({8, 4, 4, 3}))),
           "ShapeError",
           "random_flip: the picture is f32[8,4,4,3]; it takes one picture, [height, width, "
           "channels], and vmap maps it over batches" HERE},
          {"A character that the vocabulary lacks", CODE(data::Characters("abc").encode("abd")),
           CODE(data::Characters("abcd").encode("abd")), "ValueError",
           "Characters::encode: the character 'd' at byte 2 is none of the 3 that are known" HERE},
          {"A checkpoint of another model",
           CODE(sp::io::Checkpoints run("mistakes"); run.save(1, sp::ones({2}));
                run.restore(sp::ones({3}))),
           CODE(sp::io::Checkpoints run("mistakes"); run.save(1, sp::ones({2}));
                run.restore(sp::ones({2})); std::filesystem::remove_all("mistakes")),
           "ShapeError",
           "Checkpoints::restore: value is f32[2] in 'mistakes/step_000000000001.safetensors' and "
           "f32[3] in the tree" HERE},
          {"A metric that comes later than the table",
           CODE(sp::io::CsvLog log("mistake.csv"); log.write(1, {{"loss", 0.5}});
                log.write(2, {{"loss", 0.5}, {"rate", 0.1}})),
           CODE(sp::io::JsonLog log("mistake.csv"); log.write(1, {{"loss", 0.5}});
                log.write(2, {{"loss", 0.5}, {"rate", 0.1}}); std::remove("mistake.csv")),
           "ValueError",
           "CsvLog::write: the metrics of step 2 are 'step,loss,rate' and the first line of "
           "mistake.csv is 'step,loss'; give the same names in the same order, or use "
           "JsonLog" HERE},
      }};
}
