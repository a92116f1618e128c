// SPDX-License-Identifier: Apache-2.0
// Prints one line a row: a table on a terminal, else JSON as the peers print it.
//   us          median time of one call after warm-up
//   lower_ms    staging and compiling, before anything runs
//   compile_ms  how much longer the first call takes, that included
//   value       mean of |x| over all results of the first call: the peers print the same
//   peak_bytes  most array memory at once during a call, arguments included
//   rss_bytes   growth of the process over the row; the first row of a process tells most
//   flops       multiplications and additions of products and convolutions
//   bytes       of arguments and results
//   floor_us    the least time for those at the speed of this machine
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "benchmarks/floor.h"
#include "benchmarks/measure.h"

namespace bench {

Array normals(const sp::Shape& shape) { return sp::random::normal(sp::Key(9), shape); }
Array integers(int64_t high, const sp::Shape& shape) {
  return sp::random::randint(sp::Key(9), shape, 0, high);
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (auto make : {network_rows, by_hand_rows, bridge_rows, layer_rows, optimizer_rows,
                    higher_order_rows, function_rows, gather_rows, join_rows, filter_rows}) {
    std::vector<Row> some = make();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

namespace {

constexpr const char* kUsage =
    "usage: spruce_bench [row ...] [--eager] [--threads n] [--seconds s] [--json | --table]\n"
    "                    [--no-floor] [--device cuda:0]\n"
    "       spruce_bench --list | --machine | --check FILE [row ...]\n"
    "       spruce_bench --profile row ...\n"
    "       spruce_bench --by-turns row row ...\n"
    "  --seconds s   how long each row is repeated (1.5)\n"
    "  --device d    where the rows run: cpu, or cuda:0; floors are those of the CPU\n"
    "  --profile     where the time of each row goes, by equation\n"
    "  --by-turns    each two rows call for call, and the median of the ratios of their times\n"
    "  --machine     only what the floors are made of\n"
    "  --check FILE  one call of each row; fails where its value is not that of the file\n";

struct Arguments {
  Settings settings;
  std::vector<std::string> wanted;
  double seconds = 1.5;
  bool table = isatty(STDOUT_FILENO) != 0;
  bool list = false, machine = false, floor = true, profile = false, turns = false, help = false;
  std::string check, device = "cpu";
};

void parse(int argc, char** argv, Arguments& out) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    const auto next = [&]() -> const std::string& {
      if (i + 1 == args.size()) throw std::invalid_argument(arg + " needs a value");
      return args[++i];
    };
    const auto number = [&](auto value) {
      const std::string& text = next();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(arg + " takes a number, not '" + text + "'");
      return value;
    };
    if (arg == "--eager")
      out.settings.eager = true;
    else if (arg == "--threads")
      sp::set_threads(number(0));
    else if (arg == "--seconds")
      out.seconds = number(0.0);
    else if (arg == "--json")
      out.table = false;
    else if (arg == "--table")
      out.table = true;
    else if (arg == "--profile")
      out.profile = true;
    else if (arg == "--by-turns")
      out.turns = true;
    else if (arg == "--no-floor")
      out.floor = false;
    else if (arg == "--help")
      out.help = true;
    else if (arg == "--list")
      out.list = true;
    else if (arg == "--machine")
      out.machine = true;
    else if (arg == "--check")
      out.check = next();
    else if (arg == "--device")
      out.device = next();
    else if (arg.starts_with("--"))
      throw std::invalid_argument("there is no option " + arg);
    else
      out.wanted.push_back(arg);
  }
}

std::vector<Row> wanted_rows(const std::vector<std::string>& wanted) {
  std::vector<Row> all = rows();
  std::string names;
  for (const Row& row : all) names += " " + row.name;
  for (const std::string& name : wanted) {
    if (std::none_of(all.begin(), all.end(), [&](const Row& r) { return r.name == name; }))
      throw std::invalid_argument("there is no row '" + name + "'; there are:" + names);
  }
  if (!wanted.empty()) {
    std::erase_if(all, [&](const Row& r) {
      return std::find(wanted.begin(), wanted.end(), r.name) == wanted.end();
    });
  }
  return all;
}

void print_header() {
  std::printf("%-22s %11s %9s %10s %8s %12s %13s\n", "row", "us", "compile", "floor us", "of floor",
              "peak MB", "value");
}

void print_line(const Row& row, const Measurement& m, double floor) {
  std::printf("%-22s %11.2f %6.1f ms %10.2f %6.0f %% %12.3f %13.7g\n", row.name.c_str(),
              m.seconds * 1e6, m.compile_seconds() * 1e3, floor * 1e6, 100 * floor / m.seconds,
              static_cast<double>(m.peak_bytes) / 1e6, m.value);
}

void print_json(const Row& row, const Arguments& args, const Measurement& m, const Work& work,
                double floor) {
  std::printf(
      "{\"row\": \"%s\", \"peer\": \"%s\", \"us\": %.2f, \"lower_ms\": %.2f, \"compile_ms\": %.2f, "
      "\"value\": %.7g, \"peak_bytes\": %lld, \"rss_bytes\": %lld, \"flops\": %.0f, \"bytes\": "
      "%.0f",
      row.name.c_str(), args.settings.eager ? "spruce-eager" : "spruce", m.seconds * 1e6,
      m.lower_seconds * 1e3, m.compile_seconds() * 1e3, m.value,
      static_cast<long long>(m.peak_bytes), static_cast<long long>(m.resident_bytes), work.flops,
      work.bytes);
  if (args.floor) std::printf(", \"floor_us\": %.3f", floor * 1e6);
  std::printf("}\n");
}

void run(const Arguments& args) {
  const std::vector<Row> wanted = wanted_rows(args.wanted);
  const Machine machine = args.floor ? measure_machine() : Machine();
  if (args.table) print_header();
  for (const Row& row : wanted) {
    const Measurement m = measure(row, args.settings, args.seconds);
    const Work work = work_of(row.make(args.settings).graph());
    const double floor = args.floor ? machine.seconds(work) : 0;
    if (args.table)
      print_line(row, m, floor);
    else
      print_json(row, args, m, work, floor);
    std::fflush(stdout);
  }
}

// Times of ten calls, by equation.
void profile(const Arguments& args) {
  for (const Row& row : wanted_rows(args.wanted)) {
    const Call call = row.make(args.settings);
    call.run();
    const sp::Profile times = sp::profile([&] {
      for (int i = 0; i < 10; ++i) call.run();
    });
    std::printf("%s, ten calls:\n%s\n", row.name.c_str(), times.text(60).c_str());
  }
}

// Both rows of a pair see the same machine, whatever else runs on it.
void by_turns(const Arguments& args) {
  if (args.wanted.size() % 2 != 0) throw std::invalid_argument("--by-turns takes pairs of rows");
  for (size_t i = 0; i < args.wanted.size(); i += 2) {
    const Row first = wanted_rows({args.wanted[i]})[0],
              second = wanted_rows({args.wanted[i + 1]})[0];
    const Turns t = bench::by_turns(first, second, args.settings, args.seconds);
    std::printf("%-22s %11.2f us  %-22s %11.2f us  ratio %.3f\n", first.name.c_str(), t.first * 1e6,
                second.name.c_str(), t.second * 1e6, t.ratio);
    std::fflush(stdout);
  }
}

void print_machine(const Machine& machine) {
  std::printf("{\"threads\": %d, \"gflops\": %.1f, \"copy_gb_s\": [", sp::threads(),
              machine.flops / 1e9);
  const char* between = "";
  for (const Machine::Copy& c : machine.copies) {
    std::printf("%s[%.0f, %.2f]", between, c.bytes, c.rate / 1e9);
    between = ", ";
  }
  std::printf("]}\n");
}

// The file holds one JSON object a line: row, value, tolerance (relative). Others are notes.
int check(const Arguments& args) {
  std::ifstream file(args.check);
  if (!file) throw std::invalid_argument("cannot read " + args.check);
  std::vector<Row> left = wanted_rows(args.wanted);
  int failures = 0;
  for (std::string line; std::getline(file, line);) {
    const auto expected = nlohmann::json::parse(line);
    const std::string name = expected.value("row", "");
    const auto row =
        std::find_if(left.begin(), left.end(), [&](const Row& r) { return r.name == name; });
    if (row == left.end()) continue;
    const double want = expected.at("value"), got = first_value(row->make(args.settings));
    const bool ok = std::abs(got - want) <= expected.at("tolerance").get<double>() * std::abs(want);
    std::printf("%-22s %-6s %.7g, expected %.7g\n", row->name.c_str(), ok ? "ok" : "WRONG", got,
                want);
    failures += ok ? 0 : 1;
    left.erase(row);
  }
  for (const Row& row : left) {
    std::printf("%-22s is not in %s\n", row.name.c_str(), args.check.c_str());
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  Arguments args;
  try {
    parse(argc, argv, args);
    const sp::DefaultDevice here(device_named(args.device));
    if (args.help) {
      std::printf("%s", kUsage);
    } else if (args.list) {
      for (const Row& row : rows()) std::printf("%s\n", row.name.c_str());
    } else if (args.machine) {
      print_machine(measure_machine());
    } else if (args.turns) {
      by_turns(args);
    } else if (args.profile) {
      profile(args);
    } else if (!args.check.empty()) {
      return check(args);
    } else {
      run(args);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "spruce_bench: %s\n%s", e.what(), kUsage);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::main(argc, argv); }
