// SPDX-License-Identifier: Apache-2.0
// Prints one line a row: a table on a terminal, else JSON as the peers print it.
//   us          median time of one call after warm-up
//   compile_ms  how much longer the first call takes
//   value       mean of |x| over all results of the first call: the peers print the same
//   peak_bytes  most array memory at once during a call, arguments included
//   floor_us    what the row must compute and move, at the speed of this machine
#include <unistd.h>

#include <algorithm>
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
  for (auto make : {network_rows, higher_order_rows, function_rows}) {
    std::vector<Row> some = make();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

namespace {

constexpr const char* kUsage =
    "usage: spruce_bench [row ...] [--eager] [--threads n] [--seconds s] [--json | --table]\n"
    "       spruce_bench --list | --machine | --check FILE [row ...]\n"
    "  --seconds s   how long each row is repeated (1.5)\n"
    "  --machine     only what the floors are made of\n"
    "  --check FILE  one call of each row; fails where its value is not that of the file\n";

struct Arguments {
  Settings settings;
  std::vector<std::string> wanted;
  double seconds = 1.5;
  bool table = isatty(STDOUT_FILENO) != 0;
  bool list = false, machine = false;
  std::string check;
};

void parse(int argc, char** argv, Arguments& out) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    const auto next = [&]() -> const std::string& {
      if (i + 1 == args.size()) throw std::invalid_argument(arg + " needs a value");
      return args[++i];
    };
    if (arg == "--eager")
      out.settings.eager = true;
    else if (arg == "--threads")
      sp::set_threads(std::stoi(next()));
    else if (arg == "--seconds")
      out.seconds = std::stod(next());
    else if (arg == "--json")
      out.table = false;
    else if (arg == "--table")
      out.table = true;
    else if (arg == "--list")
      out.list = true;
    else if (arg == "--machine")
      out.machine = true;
    else if (arg == "--check")
      out.check = next();
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

void print(const Row& row, const Arguments& args, const Measurement& m, double floor) {
  const double us = m.seconds * 1e6, compile = std::max(0.0, m.first_seconds - m.seconds) * 1e3;
  const char* form = args.table ? "%-22s %-12s %12.2f %9.1f %10.2f %9.0f%% %14lld %14.7g\n"
                                : "{\"row\": \"%s\", \"peer\": \"%s\", \"us\": %.2f, "
                                  "\"compile_ms\": %.1f, \"floor_us\": %.3f, "
                                  "\"of_floor\": %.0f, \"peak_bytes\": %lld, \"value\": %.7g}\n";
  std::printf(form, row.name.c_str(), args.settings.eager ? "spruce-eager" : "spruce", us, compile,
              floor * 1e6, 100 * floor / m.seconds, static_cast<long long>(m.peak_bytes), m.value);
  std::fflush(stdout);
}

void run(const Arguments& args) {
  const std::vector<Row> wanted = wanted_rows(args.wanted);
  const Machine machine = measure_machine();
  if (args.table) {
    std::printf("%-22s %-12s %12s %9s %10s %10s %14s %14s\n", "row", "", "us", "compile",
                "floor us", "of floor", "peak bytes", "value");
  }
  for (const Row& row : wanted) {
    const Call call = row.make(args.settings);
    const Work work = work_of(call.graph());
    const double floor = work.flops / machine.flops + work.bytes / machine.bytes;
    print(row, args, measure(call, args.seconds), floor);
  }
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
    if (args.list) {
      for (const Row& row : rows()) std::printf("%s\n", row.name.c_str());
    } else if (args.machine) {
      const Machine m = measure_machine();
      std::printf("{\"threads\": %d, \"gflops\": %.1f, \"copy_gb_s\": %.2f}\n", sp::threads(),
                  m.flops / 1e9, m.bytes / 1e9);
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
