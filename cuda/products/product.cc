// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/products/product.h"

#include "spruce/core/rules/dot.h"
#include "spruce/cuda/codegen/tiles.h"

namespace spruce::cuda {
namespace {

// The axes of a product as walks of (lhs, rhs, result), (lhs, result), (rhs, result), (lhs, rhs).
struct ProductWalks {
  Walk batch, rows, columns, depth;

  ProductWalks(const PrepareArgs& args, const ProductAxes& p) {
    const Shape &x = args.in[0]->shape, &y = args.in[1]->shape;
    const Shape xs = input_strides(args, 0), ys = input_strides(args, 1),
                ts = output_strides(args, 0);
    int axis = 0;
    for (int i = 0; i < p.lhs_batch.rank(); ++i, ++axis)
      batch.add(x[p.lhs_batch[i]], {xs[p.lhs_batch[i]], ys[p.rhs_batch[i]], ts[axis]});
    for (const int64_t i : rules::free_axes(x.rank(), p.lhs_contract, p.lhs_batch))
      rows.add(x[i], {xs[i], ts[axis++]});
    for (const int64_t i : rules::free_axes(y.rank(), p.rhs_contract, p.rhs_batch))
      columns.add(y[i], {ys[i], ts[axis++]});
    for (int i = 0; i < p.lhs_contract.rank(); ++i)
      depth.add(x[p.lhs_contract[i]], {xs[p.lhs_contract[i]], ys[p.rhs_contract[i]]});
  }
};

std::optional<Kernels> library_product(const PrepareArgs& args, const ProductWalks& w,
                                       const Epilogue& epilogue) {
  // One step along each axis is what libraries multiply.
  for (const Walk* walk : {&w.batch, &w.rows, &w.columns, &w.depth}) {
    if (walk->axes.size() > 1) return std::nullopt;
  }
  if (epilogue.bias && args.in[2]->numel() != w.columns.size()) return std::nullopt;
  const auto step = [](const Walk& walk, size_t which) {
    return walk.axes.empty() ? int64_t{0} : walk.axes[0].steps[which];
  };
  return gemm_kernels({args.out[0]->dtype,
                       w.batch.size(),
                       w.rows.size(),
                       w.columns.size(),
                       w.depth.size(),
                       {step(w.batch, 0), step(w.rows, 0), step(w.depth, 0)},
                       {step(w.batch, 1), step(w.depth, 1), step(w.columns, 0)},
                       {step(w.batch, 2), step(w.rows, 1), step(w.columns, 1)},
                       epilogue});
}

}  // namespace

std::optional<Kernels> library_product(const PrepareArgs& args, const ProductAxes& axes,
                                       const Epilogue& epilogue) {
  return library_product(args, ProductWalks(args, axes), epilogue);
}

Kernels product_kernels(const PrepareArgs& args, const ProductAxes& p) {
  Kernels out;
  if (args.out[0]->numel() == 0) return out;
  const ProductWalks walks(args, p);
  const std::optional<Kernels> by_library = library_product(args, walks, {});
  if (by_library) return *by_library;
  const auto& [batch, rows, columns, depth] = walks;
  const Dtype d = args.out[0]->dtype;
  KernelBuilder kernel("product", args);
  const std::string left = kernel.input(0), right = kernel.input(1), result = kernel.output(0);
  // Each walk is written where it is used; its sizes are declared once.
  const std::string begin = "        sp::i64 px = 0, py = 0, pz = 0;\n";
  const std::string b = "    {\n" + batch.places(kernel, "b_", "b", {"px", "py", "pz"}) + "    }\n";
  const std::string m = "    {\n" + rows.places(kernel, "m_", "m", {"px", "pz"}) + "    }\n";
  const std::string n = "    {\n" + columns.places(kernel, "n_", "n", {"py", "pz"}) + "    }\n";
  const std::string k = "    {\n" + depth.places(kernel, "k_", "k", {"px", "py"}) + "    }\n";
  const auto dense = [](const Walk& w, size_t which) {
    return !w.axes.empty() && w.axes.back().steps[which] == 1;
  };
  Tiles t{batch.size(),
          rows.size(),
          columns.size(),
          depth.size(),
          d,
          dense(depth, 0),
          dense(depth, 1),
          begin + b + m + k + "        value = sp::widen(" + left + "[px]);\n",
          begin + b + n + k + "        value = sp::widen(" + right + "[py]);\n",
          begin + b + m + n + "        " + result + "[pz] = sp::narrow<" +
              std::string(text_type(d)) + ">(value);\n"};
  out.steps.push_back(tiles_kernel(kernel, t));
  return out;
}

}  // namespace spruce::cuda
