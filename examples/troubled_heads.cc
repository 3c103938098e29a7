// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Ten heads, each with a trouble of its own, for docs/debugging-a-head.md: writes q.npy, k.npy, v.npy, sinks.npy,
// mask.npy, padded.npy (keys) and last.npy (queries) into a folder.
//
//   0  normal numbers                      5  head 2 again, and a little noise
//   1  queries eight times too long        6  queries that are the keys before them
//   2  normal numbers                      7  a NaN in a key
//   3  queries and key 0 of one direction  8  a query that overflows
//   4  queries near 0                      9  queries and key 40 of one direction
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "io/array.h"
#include "io/npy.h"
#include "io/output_file.h"

namespace {

constexpr int64_t kHeads = 10, kLength = 96, kDim = 32;

struct Heads {
  std::vector<float> values = std::vector<float>(kHeads * kLength * kDim);

  explicit Heads(uint32_t seed) {
    // Sums of twelve even numbers are normal enough, and the same with every standard library.
    std::mt19937 bits(seed);
    for (float& x : values) {
      for (int i = 0; i < 12; ++i) x += static_cast<float>(bits()) * 0x1p-32F;
      x -= 6;
    }
  }

  float& at(int64_t head, int64_t i, int64_t c) { return values[static_cast<size_t>((head * kLength + i) * kDim + c)]; }
};

/// Calls body(i, c) for every component of a head.
template <class Body>
void each(const Body& body) {
  for (int64_t i = 0; i < kLength; ++i) {
    for (int64_t c = 0; c < kDim; ++c) body(i, c);
  }
}

void spoil(Heads& q, Heads& k, Heads& noise) {
  each([&](int64_t i, int64_t c) { q.at(1, i, c) *= 8; });
  each([&](int64_t i, int64_t c) { q.at(4, i, c) *= 0.01F; });
  each([&](int64_t i, int64_t c) {
    q.at(5, i, c) = q.at(2, i, c) + 0.02F * noise.at(5, i, c);
    k.at(5, i, c) = k.at(2, i, c);
  });
  for (const int64_t head : {3, 9}) {
    for (int64_t c = 0; c < kDim; ++c) k.at(head, head == 3 ? 0 : 40, c) = 1;
    each([&](int64_t i, int64_t c) { q.at(head, i, c) += 1; });
  }
  each([&](int64_t i, int64_t c) {
    if (i > 0) q.at(6, i, c) = 1.2F * k.at(6, i - 1, c);
  });
  k.at(7, 12, 5) = std::nanf("");
  q.at(8, 30, 2) = 3e38F;
  k.at(8, 17, 2) = 2;
}

void save(const std::string& path, const void* data, foveate::DType dtype, const std::vector<int64_t>& shape) {
  foveate::io::OutputFile file(path);
  foveate::io::write_npy(file, foveate::io::ConstArray(data, dtype, shape, foveate::io::c_strides(shape)));
  file.commit();
}

void write_all(const std::string& folder) {
  Heads q(1), k(2), v(3);
  spoil(q, k, v);
  const std::vector<int64_t> shape = {kHeads, kLength, kDim};
  save(folder + "/q.npy", q.values.data(), foveate::DType::f32, shape);
  save(folder + "/k.npy", k.values.data(), foveate::DType::f32, shape);
  save(folder + "/v.npy", v.values.data(), foveate::DType::f32, shape);
  Heads padded(2);
  std::vector<float> last;
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t c = 0; c < kDim; ++c) {
      for (int64_t j = 80; j < kLength; ++j) padded.at(head, j, c) = 0;
      last.push_back(q.at(head, kLength - 1, c));
    }
  }
  save(folder + "/padded.npy", padded.values.data(), foveate::DType::f32, shape);
  save(folder + "/last.npy", last.data(), foveate::DType::f32, {kHeads, 1, kDim});
  std::vector<float> sinks(kHeads, -50);
  sinks[0] = 6;
  save(folder + "/sinks.npy", sinks.data(), foveate::DType::f32, {kHeads});
  // The wrong way round: true where a key is padding.
  std::vector<char> mask(kLength);
  for (int64_t j = 80; j < kLength; ++j) mask[static_cast<size_t>(j)] = 1;
  save(folder + "/mask.npy", mask.data(), foveate::DType::boolean, {kLength});
}

}  // namespace

int main(int argc, char** argv) try {
  write_all(argc > 1 ? argv[1] : ".");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "troubled_heads: %s\n", error.what());
  return 1;
}
