// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention without fusion, as the floor: GEMM, softmax, GEMM over OpenBLAS, with all scores of a head, or of some of its rows,
// in memory in between. Query rows of the heads of one group are rows of one product. float16, bfloat16 and int8 are widened
// first, within the call. Masked scores are computed and then left out. Names begin with scipy_ in the OpenBLAS of that wheel.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "benchmarks/peers/worker.h"
#include "foveate/float16.h"

namespace foveate::benchmarks {
namespace {

/// Keys [begin, end) that one query sees.
struct Range {
  int64_t begin, end;
};

/// a [m, k] times b^T, b [n, k]; or b [k, n] as it stands.
void product(bool transposed, int64_t m, int64_t n, int64_t k, float alpha, const float* a, const float* b, float beta,
             float* c) {
  const auto lda = static_cast<int>(k), ldb = static_cast<int>(transposed ? k : n), ldc = static_cast<int>(n);
  if (m == 1) {
    scipy_cblas_sgemv(CblasRowMajor, transposed ? CblasNoTrans : CblasTrans, static_cast<int>(transposed ? n : k),
                      static_cast<int>(transposed ? k : n), alpha, b, ldb, a, 1, beta, c, 1);
    return;
  }
  scipy_cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, static_cast<int>(m),
                    static_cast<int>(n), static_cast<int>(k), alpha, a, lda, b, ldb, beta, c, ldc);
}

/// a^T b, a [k, m], b [k, n], added to c.
void product_of_columns(int64_t m, int64_t n, int64_t k, float alpha, const float* a, const float* b, float* c) {
  scipy_cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                    static_cast<int>(k), alpha, a, static_cast<int>(m), b, static_cast<int>(n), 1, c,
                    static_cast<int>(n));
}

/// exp(s - max) in place, over what is seen, and 0 elsewhere; returns 1 / sum.
float softmax_row(float* s, int64_t n, const std::vector<Range>& seen) {
  float top = -std::numeric_limits<float>::max();
  for (const auto [begin, end] : seen) {
#pragma omp simd reduction(max : top)
    for (int64_t j = begin; j < end; ++j) top = std::max(top, s[j]);
  }
  float sum = 0;
  int64_t done = 0;
  for (const auto [begin, end] : seen) {
    std::fill(s + done, s + begin, 0.0f);
#pragma omp simd reduction(+ : sum)
    for (int64_t j = begin; j < end; ++j) sum += s[j] = std::exp(s[j] - top);
    done = end;
  }
  std::fill(s + done, s + n, 0.0f);
  return 1 / sum;
}

/// One input, in its own type or float32 already.
class Input {
 public:
  Input(const std::string& folder, const std::string& name, const std::string& dtype) : dtype_(dtype) {
    if (dtype == "f32") wide_ = read_array<float>(folder, name, dtype);
    if (dtype == "f16") half_ = read_array<Float16>(folder, name, dtype);
    if (dtype == "bf16") brain_ = read_array<BFloat16>(folder, name, dtype);
    if (dtype == "i8") {
      bytes_ = read_array<int8_t>(folder, name, dtype);
      scales_ = read_array<float>(folder, name + "_scales", "f32");
    }
  }

  /// `n` elements from `at` on, in rows of d; the array's own where it is float32, else widened into `room`.
  const float* wide(int64_t at, int64_t n, int64_t d, Array<float>& room) const {
    if (dtype_ == "f32") return wide_.data() + at;
    room.resize(std::max(room.size(), static_cast<size_t>(n)));
    float* to = room.data();
    if (dtype_ == "f16") {
      for (int64_t i = 0; i < n; ++i) to[i] = widened_half(half_[static_cast<size_t>(at + i)]);
    } else if (dtype_ == "bf16") {
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(brain_[static_cast<size_t>(at + i)]);
    } else {
      for (int64_t row = 0; row < n / d; ++row) {
        const float scale = scales_[static_cast<size_t>(at / d + row)];
        const int8_t* from = bytes_.data() + at + row * d;
        for (int64_t i = 0; i < d; ++i) to[row * d + i] = scale * static_cast<float>(from[i]);
      }
    }
    return to;
  }

 private:
  /// By the processor's own conversion, where the compiler knows one.
  static float widened_half(Float16 x) {
#ifdef __FLT16_MAX__
    return static_cast<float>(__builtin_bit_cast(_Float16, x));
#else
    return static_cast<float>(x);
#endif
  }

  std::string dtype_;
  Array<float> wide_, scales_;
  Array<Float16> half_;
  Array<BFloat16> brain_;
  Array<int8_t> bytes_;
};

/// What one thread works in.
struct Room {
  Array<float> q, k, v, s, ds;
};

class Unfused : public Peer {
 public:
  Json hello(int threads) override {
    threads_ = threads;
    scipy_openblas_set_num_threads(1);  // threads take heads
    return {{"version", scipy_openblas_get_config()}, {"facts", {{"core", scipy_openblas_get_corename()}}}};
  }

  void prepare(const Work& work, const std::string& folder) override {
    if (work.additive) throw std::runtime_error("additive scores are no product");
    work_ = std::make_unique<Work>(work);
    q_ = std::make_unique<Input>(folder, "q", work.dtype);
    k_ = std::make_unique<Input>(folder, "k", work.kv_dtype);
    v_ = std::make_unique<Input>(folder, "v", work.kv_dtype);
    if (work.backward) d_o_ = std::make_unique<Input>(folder, "d_o", work.dtype);
    blocks_ = work.kept_blocks < 1 ? read_array<char>(folder, "blocks", "bool") : Array<char>();
    const size_t q_rows = static_cast<size_t>(work.b * work.h_q * work.n_q);
    const size_t kv_rows = static_cast<size_t>(work.b * work.h_kv * work.n_kv);
    o_.assign(q_rows * static_cast<size_t>(work.d_v), 0);
    half_o_.assign(work.dtype == "f16" ? o_.size() : 0, Float16());
    brain_o_.assign(work.dtype == "bf16" ? o_.size() : 0, BFloat16());
    dq_.assign(work.backward ? q_rows * static_cast<size_t>(work.d_k) : 0, 0);
    dk_.assign(work.backward ? kv_rows * static_cast<size_t>(work.d_k) : 0, 0);
    dv_.assign(work.backward ? kv_rows * static_cast<size_t>(work.d_v) : 0, 0);
    rooms_ = std::vector<Room>(static_cast<size_t>(threads_));
  }

  std::vector<std::string> ways() const override {
    std::vector<std::string> found;
    for (const int64_t rows : rows_at_once()) found.push_back(std::to_string(rows) + " rows at once");
    return found;
  }

  void run(size_t way) override {
    const int64_t heads = work_->b * work_->h_kv;
    const int64_t rows = rows_at_once()[way];
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int64_t head = 0; head < heads; ++head) {
      attend(head, rows, rooms_[static_cast<size_t>(omp_get_thread_num())]);
    }
  }

  Outputs outputs() const override {
    Outputs found = {{"o", {o_.begin(), o_.end()}}};
    std::vector<float>& o = found["o"];
    for (size_t i = 0; i < half_o_.size(); ++i) o[i] = static_cast<float>(half_o_[i]);
    for (size_t i = 0; i < brain_o_.size(); ++i) o[i] = static_cast<float>(brain_o_[i]);
    if (work_->backward) {
      found["dq"] = {dq_.begin(), dq_.end()};
      found["dk"] = {dk_.begin(), dk_.end()};
      found["dv"] = {dv_.begin(), dv_.end()};
    }
    return found;
  }

 private:
  /// All of a head, and so many that their scores are half a megabyte, or two.
  std::vector<int64_t> rows_at_once() const {
    const int64_t all = work_->group() * work_->n_q;
    std::vector<int64_t> found = {all};
    for (const int64_t scores : {int64_t{1} << 19, int64_t{1} << 17}) {
      const int64_t rows = std::max<int64_t>(16, scores / work_->n_kv);
      if (rows < found.back()) found.push_back(rows);
    }
    return found;
  }

  void attend(int64_t head, int64_t rows_at_once, Room& room) {
    const Work& w = *work_;
    const int64_t rows = w.group() * w.n_q;
    const float* q = q_->wide(head * rows * w.d_k, rows * w.d_k, w.d_k, room.q);
    const float* k = k_->wide(head * w.n_kv * w.d_k, w.n_kv * w.d_k, w.d_k, room.k);
    const float* v = v_->wide(head * w.n_kv * w.d_v, w.n_kv * w.d_v, w.d_v, room.v);
    room.s.resize(static_cast<size_t>(rows_at_once * w.n_kv));
    float* o = o_.data() + head * rows * w.d_v;
    if (w.backward) clear_gradients(head);
    std::vector<Range> seen;
    std::vector<float> inverse(static_cast<size_t>(rows_at_once));
    for (int64_t from = 0; from < rows; from += rows_at_once) {
      const int64_t m = std::min(rows_at_once, rows - from);
      float* s = room.s.data();
      product(true, m, w.n_kv, w.d_k, static_cast<float>(w.scale()), q + from * w.d_k, k, 0, s);
      for (int64_t i = 0; i < m; ++i) {
        see((from + i) % w.n_q, seen);
        inverse[static_cast<size_t>(i)] = softmax_row(s + i * w.n_kv, w.n_kv, seen);
      }
      product(false, m, w.d_v, w.n_kv, 1, s, v, 0, o + from * w.d_v);
      for (int64_t i = 0; i < m; ++i) {
        float* row = o + (from + i) * w.d_v;
        for (int64_t d = 0; d < w.d_v; ++d) row[d] *= inverse[static_cast<size_t>(i)];
      }
      if (w.backward) gradients(head, from, m, q, k, v, inverse, room);
    }
    narrow(head * rows * w.d_v, rows * w.d_v);
  }

  void clear_gradients(int64_t head) {
    const Work& w = *work_;
    std::fill_n(dk_.begin() + head * w.n_kv * w.d_k, w.n_kv * w.d_k, 0.0f);
    std::fill_n(dv_.begin() + head * w.n_kv * w.d_v, w.n_kv * w.d_v, 0.0f);
  }

  /// dv = p^T do; ds = p (do v^T - do . o); dq = scale ds k; dk = scale ds^T q, of rows [from, from + m).
  void gradients(int64_t head, int64_t from, int64_t m, const float* q, const float* k, const float* v,
                 const std::vector<float>& inverse, Room& room) {
    const Work& w = *work_;
    const int64_t first = head * w.group() * w.n_q + from;
    Array<float> unused;
    const float* d_o = d_o_->wide(first * w.d_v, m * w.d_v, w.d_v, unused);
    const float* o = o_.data() + first * w.d_v;
    room.ds.resize(room.s.size());
    float *p = room.s.data(), *ds = room.ds.data();
    product(true, m, w.n_kv, w.d_v, 1, d_o, v, 0, ds);
    for (int64_t i = 0; i < m; ++i) {
      float delta = 0;
      for (int64_t d = 0; d < w.d_v; ++d) delta += d_o[i * w.d_v + d] * o[i * w.d_v + d];
      for (int64_t j = 0; j < w.n_kv; ++j) {
        const int64_t at = i * w.n_kv + j;
        p[at] *= inverse[static_cast<size_t>(i)];
        ds[at] = p[at] * (ds[at] - delta);
      }
    }
    const auto scale = static_cast<float>(w.scale());
    product_of_columns(w.n_kv, w.d_v, m, 1, p, d_o, dv_.data() + head * w.n_kv * w.d_v);
    product(false, m, w.d_k, w.n_kv, scale, ds, k, 0, dq_.data() + first * w.d_k);
    product_of_columns(w.n_kv, w.d_k, m, scale, ds, q + from * w.d_k, dk_.data() + head * w.n_kv * w.d_k);
  }

  /// Which keys query i sees.
  void see(int64_t i, std::vector<Range>& seen) const {
    const Work& w = *work_;
    const int64_t position = i + w.n_kv - w.n_q;
    seen.clear();
    if (w.kept_blocks < 1) {
      constexpr int64_t kBlock = 64;
      const int64_t columns = (w.n_kv + kBlock - 1) / kBlock;
      for (int64_t c = 0; c < columns; ++c) {
        if (blocks_[static_cast<size_t>(i / kBlock * columns + c)] != 0) {
          seen.push_back({c * kBlock, std::min(w.n_kv, (c + 1) * kBlock)});
        }
      }
      return;
    }
    seen.push_back({w.window < 0 ? 0 : std::max<int64_t>(0, position - w.window),
                    w.causal ? std::clamp<int64_t>(position + 1, 0, w.n_kv) : w.n_kv});
  }

  void narrow(int64_t at, int64_t n) {
    const auto first = static_cast<size_t>(at), last = static_cast<size_t>(at + n);
    if (work_->dtype == "f16") {
      for (size_t i = first; i < last; ++i) half_o_[i] = Float16(o_[i]);
    } else if (work_->dtype == "bf16") {
      for (size_t i = first; i < last; ++i) brain_o_[i] = BFloat16(o_[i]);
    }
  }

  int threads_ = 1;
  std::unique_ptr<Work> work_;
  std::unique_ptr<Input> q_, k_, v_, d_o_;
  Array<char> blocks_;
  Array<float> o_, dq_, dk_, dv_;
  Array<Float16> half_o_;
  Array<BFloat16> brain_o_;
  std::vector<Room> rooms_;
};

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  foveate::benchmarks::Unfused peer;
  return foveate::benchmarks::serve(peer);
}
