// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/save_function.h"

#include <unordered_set>

#include "spruce/transforms/compile/executor.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce {

struct LoadedGraph::State {
  State(const std::string& p, io::FunctionFile f)
      : path(p), executor(internal::prepare(std::move(f.graph)), p), file(std::move(f)) {}

  std::string path;
  internal::Executor executor;
  io::FunctionFile file;  // without its graph
  std::vector<SavedLeaf> inputs, outputs;
  mutable std::shared_mutex mutex;
  std::unordered_set<std::string> keys;  // forms of arguments that have been checked
};

namespace {

bool is_leaf(const io::FormLine& l) {
  return l.kind == "leaf" || l.kind == "buffer" || l.kind == "key";
}

std::vector<SavedLeaf> leaves_of(const std::vector<io::FormLine>& form, const Graph& graph,
                                 const std::vector<ValueId>& values) {
  std::vector<SavedLeaf> out;
  for (const io::FormLine& l : form) {
    if (is_leaf(l)) out.push_back({l.path, graph.avals[static_cast<size_t>(values[out.size()])]});
  }
  return out;
}

std::string part_text(std::string_view kind) {
  if (kind == "leaf") return "an array";
  if (kind == "buffer") return "a buffer";
  if (kind == "key") return "a key";
  if (kind == "none") return "no array";
  if (kind == "size") return "a container or std::optional";
  if (kind == "entry") return "an entry of a map";
  return "a static value";
}

std::string line_text(const io::FormLine& l) {
  if (l.kind == "size") return "of size " + l.value;
  if (l.kind == "entry") return "the entry " + l.value;
  return l.kind == "static" ? l.value : part_text(l.kind);
}

void check_leaf(const std::string& path, const SavedLeaf& want, const Array& got) {
  // An array does not give way to others as the number does that stood there.
  const bool number = want.type.weak && !got.weak();
  const bool fits = got.dtype() == want.type.dtype && got.shape() == want.type.shape;
  if (fits && !number) return;
  const std::string message = "load_function: " + path + ": " + internal::argument_name(want.path) +
                              " is " + to_string(got.aval()) + ", the function was saved for " +
                              to_string(want.type);
  if (fits) {
    throw DtypeError(message +
                     ", a C++ number; give one, or save the function with array(...) there");
  }
  if (got.shape() == want.type.shape) throw DtypeError(message + "; convert it with astype");
  throw ShapeError(message + "; save it again for this shape");
}

}  // namespace

namespace internal {

std::string argument_name(const std::string& path) {
  if (path.empty()) return "the arguments";
  const size_t dot = path.find('.');
  return "argument " + path.substr(0, dot) +
         (dot == path.npos ? "" : " at " + path.substr(dot + 1));
}

namespace {

// Without calls of functions that have rules of their own, in nested graphs too.
Graph without_rules(const Graph& graph) {
  Graph out = passes::inline_calls(graph);
  for (Equation& e : out.equations) {
    e.params = e.params.map_graphs(
        [](const GraphPtr& g) { return std::make_shared<const Graph>(without_rules(*g)); });
  }
  return out;
}

// What prints, checks or calls C++ is not a function of its arguments alone, and a file cannot hold
// the C++ that is called.
void refuse_effects(const Graph& graph) {
  const Equation* e = passes::find_host_work(graph);
  if (e == nullptr) return;
  const std::string name = e->primitive == &debug_print_p ? "debug::print" : e->primitive->name;
  const LocReset reset;
  const LocScope at(e->place.empty() ? Loc::none() : Loc::text(e->place.c_str()));
  throw ValueError("save_function: the function calls " + name +
                   ", which a file cannot hold; leave it out of what is saved");
}

}  // namespace

void save_staged(const std::string& path, Graph graph, std::vector<io::FormLine> arguments,
                 std::vector<io::FormLine> result) {
  graph = passes::dead_code(
      passes::common_subexpressions(without_devices(passes::inline_calls(graph))));
  refuse_effects(graph);
  io::save_function_file(path, {std::move(arguments), std::move(result), std::move(graph)});
}

void FormWriter::leaf(const Array& a, tree::Leaf kind) {
  lines.push_back({!a.defined()                  ? "none"
                   : kind == tree::Leaf::kArray  ? "leaf"
                   : kind == tree::Leaf::kBuffer ? "buffer"
                                                 : "key",
                   path(), ""});
}
void FormWriter::static_value(const tree::internal::StaticValue& value) {
  lines.push_back({"static", path(), value.exact_text()});
}
void FormWriter::size(size_t n) { lines.push_back({"size", path(), std::to_string(n)}); }
void FormWriter::key(std::string_view name) {
  lines.push_back({"entry", path(), std::string(name)});
}

void FormCursor::check_fields() const {
  std::string_view path = lines_[line_].path;
  for (const std::string& field : fields_) {
    const std::string_view stored = tree::internal::take_component(path);
    const bool element = stored.find_first_not_of("0123456789") == stored.npos;
    if (!field.empty() && !element && stored != field) fail("the C++ type has " + field + " there");
  }
}

Array FormCursor::leaf(const char* kind) {
  if (line_ < lines_.size() && lines_[line_].kind == "none") {
    check_fields();
    ++line_;
    return {};
  }
  (void)next(kind);
  return std::move(leaves_[leaf_++]);
}

const std::string& FormCursor::next(const char* kind) {
  if (line_ >= lines_.size())
    throw TreeError("load_function: the result in the file has fewer parts than the C++ type");
  if (lines_[line_].kind != kind)
    fail(part_text(lines_[line_].kind) + " stands in the file, and the C++ type has " +
         part_text(kind));
  check_fields();
  return lines_[line_++].value;
}

size_t FormCursor::any_size() {
  const auto n = static_from_text<size_t>(*this, next("size"));
  if (n > lines_.size()) fail("the size " + std::to_string(n) + " is more than the file holds");
  return n;
}

void FormCursor::size(size_t n) {
  if (any_size() != n) fail("the C++ type has " + std::to_string(n) + " elements there");
}

void FormCursor::fail(const std::string& what) const {
  const size_t at = std::min(line_, lines_.size() - 1);
  const std::string& path = lines_[at].path;
  throw TreeError("load_function: the result" + (path.empty() ? "" : " at " + path) + ": " + what);
}

void FormCursor::end() const {
  if (line_ != lines_.size()) fail("the C++ type has nothing there");
}

}  // namespace internal

LoadedGraph::LoadedGraph(const std::string& path, Loc loc) {
  const LocScope at(loc);
  io::FunctionFile f = io::load_function_file(path);
  std::vector<SavedLeaf> inputs = leaves_of(f.arguments, f.graph, f.graph.inputs);
  std::vector<SavedLeaf> outputs = leaves_of(f.result, f.graph, f.graph.outputs);
  state_ = std::make_shared<State>(path, std::move(f));
  state_->inputs = std::move(inputs);
  state_->outputs = std::move(outputs);
}

const std::vector<SavedLeaf>& LoadedGraph::inputs() const { return state_->inputs; }
const std::vector<SavedLeaf>& LoadedGraph::outputs() const { return state_->outputs; }
const Graph& LoadedGraph::graph() const { return state_->executor.source(); }
const io::FunctionFile& LoadedGraph::file() const { return state_->file; }

std::vector<Array> LoadedGraph::operator()(std::span<const Array> args, Loc loc) const {
  const LocScope at(loc);
  const std::vector<SavedLeaf>& in = inputs();
  if (args.size() != in.size()) {
    throw ValueError("load_function: " + state_->path + ": the function takes " +
                     std::to_string(in.size()) + " arrays, " + std::to_string(args.size()) +
                     " were given; inputs() names them");
  }
  for (size_t i = 0; i < in.size(); ++i) check_leaf(state_->path, in[i], args[i]);
  return run({args.begin(), args.end()});
}

std::vector<Array> LoadedGraph::run(std::vector<Array> args) const {
  internal::Call call(state_->executor);
  for (Array& a : args) call.add(std::move(a));
  call.run();
  std::vector<Array> out;
  for (size_t k = 0; k < outputs().size(); ++k) out.push_back(std::move(call.result(k)));
  return out;
}

void LoadedGraph::check(const std::vector<io::FormLine>& form,
                        std::span<const Array> leaves) const {
  const std::vector<io::FormLine>& want = file().arguments;
  const std::string head = "load_function: " + state_->path + ": ";
  for (size_t i = 0; i < std::max(form.size(), want.size()); ++i) {
    if (i < form.size() && i < want.size() && form[i] == want[i]) continue;
    if (i >= want.size())
      throw TreeError(head + internal::argument_name(form[i].path) + " is " + line_text(form[i]) +
                      ", and was not there when the function was saved");
    if (i >= form.size())
      throw TreeError(head + internal::argument_name(want[i].path) + " was " + line_text(want[i]) +
                      " when the function was saved, and is missing");
    if (form[i].path != want[i].path)
      throw TreeError(head + "there is " + internal::argument_name(form[i].path) +
                      " where the function was saved with " +
                      internal::argument_name(want[i].path));
    throw TreeError(
        head + internal::argument_name(form[i].path) + " is " + line_text(form[i]) + " and was " +
        line_text(want[i]) + " when the function was saved" +
        (want[i].kind == "static" ? "; numbers that are to change have to be arrays" : ""));
  }
  for (size_t i = 0; i < leaves.size(); ++i) check_leaf(state_->path, inputs()[i], leaves[i]);
}

bool LoadedGraph::known_key(const std::string& key) const {
  const std::shared_lock lock(state_->mutex);
  return state_->keys.count(key) != 0;
}

void LoadedGraph::keep_key(const std::string& key) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->keys.size() < 64) state_->keys.insert(key);
}

}  // namespace spruce
