// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/kv_cache.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/shared_lock.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

DType dtype_of_name(std::string_view name) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8}) {
    if (name == name_of(dtype)) return dtype;
  }
  return DType::none;  // which the engine refuses
}

/// A cache that threads may share, as Python's own containers: whoever changes it waits for those who read it.
class SharedKvCache {
 public:
  SharedKvCache(int64_t h_kv, int64_t d_k, int64_t d_v, const char* k_dtype, const char* v_dtype, int64_t page_size,
                int64_t max_pages, nb::handle k_scales)
      : page_size_(page_size) {
    Views views;
    const KvCacheOptions options = {.h_kv = h_kv,
                                    .d_k = d_k,
                                    .d_v = d_v,
                                    .k_dtype = dtype_of_name(k_dtype),
                                    .v_dtype = dtype_of_name(v_dtype),
                                    .page_size = page_size,
                                    .max_pages = max_pages,
                                    .k_scales = views.tensor(k_scales)};
    raise_unless_ok(KvCache::create(options, &cache_));
  }

  int64_t add() {
    int64_t sequence = -1;
    change([&] { return cache_.add(&sequence); });
    return sequence;
  }

  int64_t fork(int64_t sequence) {
    int64_t copy = -1;
    change([&] { return cache_.fork(sequence, &copy); });
    return copy;
  }

  void append(int64_t sequence, nb::handle k, nb::handle v) {
    Views views;
    const ConstTensor k_view = views.tensor(k), v_view = views.tensor(v);
    change([&] { return cache_.append(sequence, k_view, v_view); });
  }

  void truncate(int64_t sequence, int64_t length) {
    change([&] { return cache_.truncate(sequence, length); });
  }

  void remove(int64_t sequence) {
    change([&] { return cache_.remove(sequence); });
  }

  int64_t length(int64_t sequence) const {
    const SharedLock::Reading reading(lock_);
    return cache_.length(sequence);
  }

  nb::dict usage() const {
    const SharedLock::Reading reading(lock_);
    const KvCacheUsage usage = cache_.usage();
    nb::dict out;
    out["sequences"] = usage.sequences;
    out["pages_in_use"] = usage.pages_in_use;
    out["pages_free"] = usage.pages_free;
    out["bytes_in_use"] = usage.bytes_in_use;
    out["bytes_held"] = usage.bytes_held;
    return out;
  }

  /// `weights(n_kv)` makes the array, since nobody can know n_kv before the cache is kept from changing.
  void attend(nb::handle q, const std::vector<int64_t>& sequences, nb::handle o, nb::handle lse, nb::handle weights,
              const nb::dict& given, int threads) const {
    const SharedLock::Reading reading(lock_);
    const int64_t n_kv = columns(sequences);
    Views views;
    const ConstTensor q_view = views.tensor(q);
    AttentionOutputs outputs = {.o = views.output(o), .lse = views.output(lse)};
    nb::object made;
    if (!weights.is_none() && n_kv >= 0) {
      made = weights(n_kv);
      outputs.weights = views.output(made);
    }
    const AttentionOptions options = attention_options(given, views);
    const double work = work_of_pairs(q_view, n_kv, q_view.shape[3], outputs.o.shape[3]);
    call_engine(
        threads, work,
        [&](const Execution& execution) { return cache_.attend(q_view, sequences, outputs, options, execution); },
        "out");
  }

 private:
  void change(const std::function<Status()>& make) { raise_unless_ok(lock_.change(make)); }

  /// As many as weights have; -1 where a sequence is not there, which attend() refuses.
  int64_t columns(const std::vector<int64_t>& sequences) const {
    int64_t longest = 0;
    for (const int64_t sequence : sequences) {
      const int64_t length = cache_.length(sequence);
      if (length < 0) return -1;
      longest = std::max(longest, length);
    }
    return page_size_ == kContiguous ? longest : (longest + page_size_ - 1) / page_size_ * page_size_;
  }

  KvCache cache_;
  const int64_t page_size_;
  mutable SharedLock lock_;
};

}  // namespace

void bind_kv_cache(nb::module_& module) {
  using nb::arg;
  SharedLock::watch_forks();
  nb::class_<SharedKvCache>(module, "KvCache")
      .def(nb::init<int64_t, int64_t, int64_t, const char*, const char*, int64_t, int64_t, nb::handle>(), arg("h_kv"),
           arg("d_k"), arg("d_v"), arg("k_dtype"), arg("v_dtype"), arg("page_size"), arg("max_pages"),
           arg("k_scales").none())
      .def("add", &SharedKvCache::add)
      .def("fork", &SharedKvCache::fork, arg("sequence"))
      .def("append", &SharedKvCache::append, arg("sequence"), arg("k"), arg("v"))
      .def("truncate", &SharedKvCache::truncate, arg("sequence"), arg("length"))
      .def("remove", &SharedKvCache::remove, arg("sequence"))
      .def("length", &SharedKvCache::length, arg("sequence"))
      .def("usage", &SharedKvCache::usage)
      .def("attend", &SharedKvCache::attend, arg("q"), arg("sequences"), arg("o").none(), arg("lse").none(),
           arg("weights").none(), arg("options"), arg("threads"));
}

}  // namespace foveate::python
