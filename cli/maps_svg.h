// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The maps of many heads as one SVG image: each a raster with axes, and profiles of its rows and columns beside it. No
// script, nothing loaded from elsewhere.
#ifndef FOVEATE_CLI_MAPS_SVG_H_
#define FOVEATE_CLI_MAPS_SVG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/locale.h"

namespace foveate::cli {

/// One head: weights in [0, 1], and a number for each row and each column of cells.
struct HeadMap {
  std::string title;
  const float* cells;  ///< [rows][columns]
  std::vector<double> row_profile, column_profile;
  std::vector<bool> not_finite;  ///< by rows of cells: some query of it has NaN or Inf
};

struct MapsPicture {
  std::string title;
  std::vector<std::string> footnotes;  ///< lines
  int64_t n_q = 0, n_kv = 0;           ///< what the axes count
  int64_t rows = 0, columns = 0;       ///< cells; at most n_q and n_kv
  std::vector<HeadMap> heads = {};
  bool enlarged = false;  ///< cells of many pixels each, for what draws SVG and blurs images that it enlarges
};

/// Width and height of the picture of so many heads.
struct PictureSize {
  double width, height;
};
PictureSize size_of_maps(int64_t heads, int64_t n_q, int64_t n_kv, int64_t footnotes);

/// Colours are cividis on a logarithmic scale of three decades; weights of exactly 0 are grey, and red in rows that are not
/// finite. The texts are put in as they
/// are: they must hold no `<` and no `&`.
std::string svg_maps(const MapsPicture& picture, Language language);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_MAPS_SVG_H_
