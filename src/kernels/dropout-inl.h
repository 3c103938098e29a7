// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout of weights: keep_ij iff word J mod 4 of Philox4x32-10 is at least P * 2^32, for the key `seed` (low word first)
// and the counter (J / 4, p_i, h, b), the low 32 bits of each, J the key's absolute position. Counters make the choice a
// property of the pair alone: the same on every target, in any tile, chunk or thread.
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
// https://doi.org/10.1145/2063384.2063405.
#if defined(FOVEATE_SRC_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_DROPOUT_INL_H_
#undef FOVEATE_SRC_KERNELS_DROPOUT_INL_H_
#else
#define FOVEATE_SRC_KERNELS_DROPOUT_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

/// Counters of some rows side by side: plain loops over them, which compilers make vectors of.
inline constexpr int64_t kPhiloxLanes = 16;
struct PhiloxState {
  uint32_t word[4][kPhiloxLanes];
};

/// Ten rounds in place.
HWY_INLINE void Philox(PhiloxState& state, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (int64_t i = 0; i < kPhiloxLanes; ++i) {
      const uint64_t product0 = uint64_t{0xD2511F53} * state.word[0][i];
      const uint64_t product1 = uint64_t{0xCD9E8D57} * state.word[2][i];
      const uint32_t word1 = state.word[1][i], word3 = state.word[3][i];
      state.word[0][i] = static_cast<uint32_t>(product1 >> 32) ^ word1 ^ key0;
      state.word[1][i] = static_cast<uint32_t>(product1);
      state.word[2][i] = static_cast<uint32_t>(product0 >> 32) ^ word3 ^ key1;
      state.word[3][i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

/// Multiplies the range's weights, [kBlockKeys][width], by keep_ij / (1 - P).
template <class T>
HWY_NOINLINE void Drop(const Tile<T>& tile, const BlockRange& range, T* weights) {
  const TileTask<T>& task = tile.task;
  const Dropout<T>& dropout = task.dropout;
  // Blocks begin at multiples of kBlockKeys in absolute positions, so that four places share a counter.
  for (int64_t place = range.first / 4 * 4; place < range.last; place += 4) {
    const auto group = static_cast<uint32_t>((task.kv_offset + range.origin + place) >> 2);
    for (int64_t lane = 0; lane < task.n_rows; lane += kPhiloxLanes) {
      PhiloxState state;
      for (int64_t i = 0; i < kPhiloxLanes; ++i) {
        const Row<T>& row = task.rows[std::min(lane + i, task.n_rows - 1)];
        state.word[0][i] = group;
        state.word[1][i] = static_cast<uint32_t>(row.position + task.kv_offset);
        state.word[2][i] = row.head;
        state.word[3][i] = dropout.batch;
      }
      Philox(state, dropout.key[0], dropout.key[1]);
      const int64_t rows = std::min(kPhiloxLanes, task.n_rows - lane);
      for (int64_t j = 0; j < 4; ++j) {
        T* const p = weights + (place + j) * tile.width + lane;
        for (int64_t i = 0; i < rows; ++i) p[i] *= state.word[j][i] >= dropout.threshold ? dropout.factor : T{0};
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_DROPOUT_INL_H_
