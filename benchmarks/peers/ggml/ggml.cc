// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// ggml's flash_attn_ext. Queries and results are float32, as it wants them: what is converted to that is converted before the
// call. Keys and values are stored in the row's type, bfloat16 also as float16, and int8 as q8_0, whose scales of 32 components
// are those of the row.
#include "ggml.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "benchmarks/peers/worker.h"
#include "foveate/float16.h"
#include "ggml-cpu.h"

namespace foveate::benchmarks {
namespace {

struct Free {
  void operator()(ggml_context* context) const { ggml_free(context); }
};

template <class T>
std::vector<float> widened(const Array<T>& from) {
  std::vector<float> to;
  to.reserve(from.size());
  for (const T x : from) to.push_back(static_cast<float>(x));
  return to;
}

std::vector<float> read_wide(const std::string& folder, const std::string& name, const std::string& dtype, int64_t d) {
  if (dtype == "f32") return widened(read_array<float>(folder, name, dtype));
  if (dtype == "f16") return widened(read_array<Float16>(folder, name, dtype));
  if (dtype == "bf16") return widened(read_array<BFloat16>(folder, name, dtype));
  std::vector<float> values = widened(read_array<int8_t>(folder, name, dtype));
  const Array<float> scales = read_array<float>(folder, name + "_scales", "f32");
  for (size_t i = 0; i < values.size(); ++i) values[i] *= scales[i / static_cast<size_t>(d)];
  return values;
}

/// Rows of d components in one of ggml's types; [b, h, n, d].
struct Stored {
  ggml_type type;
  Array<char> bytes;

  Stored(ggml_type stored, const std::vector<float>& values, int64_t d) : type(stored) {
    const int64_t rows = static_cast<int64_t>(values.size()) / d;
    bytes.resize(ggml_row_size(type, d) * static_cast<size_t>(rows));
    if (type == GGML_TYPE_F32) {
      std::copy(values.begin(), values.end(), reinterpret_cast<float*>(bytes.data()));
    } else {
      ggml_quantize_chunk(type, values.data(), bytes.data(), 0, rows, d, nullptr);
    }
  }
};

/// int8 as q8_0: the bytes as they stand, behind the row's scale in float16, for each 32 of them.
Stored stored_int8(const std::string& folder, const std::string& name, int64_t d) {
  constexpr int64_t kBlock = 32;
  if (d % kBlock != 0) throw std::runtime_error("q8_0 wants head dims that are multiples of 32");
  const Array<int8_t> bytes = read_array<int8_t>(folder, name, "i8");
  const Array<float> scales = read_array<float>(folder, name + "_scales", "f32");
  Stored stored(GGML_TYPE_Q8_0, std::vector<float>(bytes.size()), d);
  char* to = stored.bytes.data();
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    const ggml_fp16_t scale = ggml_fp32_to_fp16(scales[at / static_cast<size_t>(d)]);
    to = std::copy_n(reinterpret_cast<const char*>(&scale), sizeof(scale), to);
    to = std::copy_n(reinterpret_cast<const char*>(bytes.data() + at), kBlock, to);
  }
  return stored;
}

/// One graph, of one node.
class Graph {
 public:
  Graph(const Work& work, std::vector<float>& q, Stored k, Stored v, std::vector<ggml_fp16_t>& mask, int threads)
      : k_(std::move(k)), v_(std::move(v)), o_(static_cast<size_t>(work.b * work.h_q * work.n_q * work.d_v)) {
    context_.reset(ggml_init({.mem_size = size_t{1} << 20, .mem_buffer = nullptr, .no_alloc = true}));
    ggml_context* c = context_.get();
    ggml_tensor* of_q = tensor(GGML_TYPE_F32, {work.d_k, work.n_q, work.h_q, work.b}, q.data());
    ggml_tensor* of_k = tensor(k_.type, {work.d_k, work.n_kv, work.h_kv, work.b}, k_.bytes.data());
    ggml_tensor* of_v = tensor(v_.type, {work.d_v, work.n_kv, work.h_kv, work.b}, v_.bytes.data());
    ggml_tensor* of_mask = mask.empty() ? nullptr : tensor(GGML_TYPE_F16, {work.n_kv, work.n_q, 1, 1}, mask.data());
    ggml_tensor* node = ggml_flash_attn_ext(c, of_q, of_k, of_v, of_mask, static_cast<float>(work.scale()), 0, 0);
    node->data = o_.data();
    graph_ = ggml_new_graph(c);
    ggml_build_forward_expand(graph_, node);
    plan_ = ggml_graph_plan(graph_, threads, nullptr);
    work_.resize(plan_.work_size);
    plan_.work_data = reinterpret_cast<uint8_t*>(work_.data());
  }

  void run() {
    if (ggml_graph_compute(graph_, &plan_) != GGML_STATUS_SUCCESS) throw std::runtime_error("the graph failed");
  }

  const Array<float>& o() const { return o_; }

 private:
  ggml_tensor* tensor(ggml_type type, const std::vector<int64_t>& extents, void* data) {
    ggml_tensor* made = ggml_new_tensor(context_.get(), type, 4, extents.data());
    made->data = data;
    return made;
  }

  Stored k_, v_;
  Array<float> o_;
  Array<char> work_;
  std::unique_ptr<ggml_context, Free> context_;
  ggml_cgraph* graph_ = nullptr;
  ggml_cplan plan_{};
};

class Ggml : public Peer {
 public:
  Json hello(int threads) override {
    threads_ = threads;
    ggml_cpu_init();
    std::string features;
    for (const auto& [has, name] : {std::pair{ggml_cpu_has_avx2(), "avx2"},
                                    {ggml_cpu_has_avx512(), "avx512"},
                                    {ggml_cpu_has_avx512_vnni(), "avx512_vnni"},
                                    {ggml_cpu_has_avx512_bf16(), "avx512_bf16"},
                                    {ggml_cpu_has_llamafile(), "llamafile"}}) {
      if (has != 0) features += (features.empty() ? "" : " ") + std::string(name);
    }
    return {{"version", ggml_version()}, {"facts", {{"features", features}}}};
  }

  void prepare(const Work& work, const std::string& folder) override {
    if (work.additive || work.backward) throw std::runtime_error("no operator for it on CPUs");
    if (work.kept_blocks < 1) throw std::runtime_error("no masks of blocks");
    graphs_.clear();
    work_ = std::make_unique<Work>(work);
    q_ = read_wide(folder, "q", work.dtype, work.d_k);
    make_mask();
    if (work.kv_dtype == "i8") {
      add("q8_0", stored_int8(folder, "k", work.d_k), stored_int8(folder, "v", work.d_v));
      return;
    }
    const std::vector<float> k = read_wide(folder, "k", work.kv_dtype, work.d_k);
    const std::vector<float> v = read_wide(folder, "v", work.kv_dtype, work.d_v);
    const auto add_as = [&](const std::string& name, ggml_type type) {
      add(name, Stored(type, k, work.d_k), Stored(type, v, work.d_v));
    };
    if (work.kv_dtype == "f32") add_as("f32 keys and values", GGML_TYPE_F32);
    if (work.kv_dtype == "bf16") add_as("bf16 keys and values", GGML_TYPE_BF16);
    if (work.kv_dtype != "f32") add_as("f16 keys and values", GGML_TYPE_F16);
  }

  std::vector<std::string> ways() const override { return names_; }

  void run(size_t way) override {
    graphs_.at(way)->run();
    last_ = way;
  }

  /// Its order is [b, n, h, d].
  Outputs outputs() const override {
    const Work& w = *work_;
    const Array<float>& from = graphs_.at(last_)->o();
    std::vector<float> o(from.size());
    for (int64_t b = 0; b < w.b; ++b) {
      for (int64_t h = 0; h < w.h_q; ++h) {
        for (int64_t i = 0; i < w.n_q; ++i) {
          std::copy_n(from.begin() + ((b * w.n_q + i) * w.h_q + h) * w.d_v, w.d_v,
                      o.begin() + ((b * w.h_q + h) * w.n_q + i) * w.d_v);
        }
      }
    }
    return {{"o", o}};
  }

 private:
  void make_mask() {
    const Work& w = *work_;
    mask_.clear();
    if (!w.causal && w.window < 0) return;
    const ggml_fp16_t seen = ggml_fp32_to_fp16(0), hidden = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
    mask_.reserve(static_cast<size_t>(w.n_q * w.n_kv));
    for (int64_t i = 0; i < w.n_q; ++i) {
      const int64_t position = i + w.n_kv - w.n_q;
      for (int64_t j = 0; j < w.n_kv; ++j) {
        const bool sees = (!w.causal || j <= position) && (w.window < 0 || j >= position - w.window);
        mask_.push_back(sees ? seen : hidden);
      }
    }
  }

  void add(const std::string& name, Stored k, Stored v) {
    if (graphs_.empty()) names_.clear();
    names_.push_back(name);
    graphs_.push_back(std::make_unique<Graph>(*work_, q_, std::move(k), std::move(v), mask_, threads_));
  }

  int threads_ = 1;
  std::unique_ptr<Work> work_;
  std::vector<float> q_;
  std::vector<ggml_fp16_t> mask_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  size_t last_ = 0;
};

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  foveate::benchmarks::Ggml peer;
  return foveate::benchmarks::serve(peer);
}
