// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// PNG images: of pixels, and of SVG pictures (librsvg, with the fonts that the system has).
#ifndef FOVEATE_IO_PNG_H_
#define FOVEATE_IO_PNG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace foveate::io {

/// Rows from the top, three bytes a pixel.
struct Pixels {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// Most pixels along an axis: cairo's limit.
inline constexpr int kMostPixels = 32767;

/// The bytes of a PNG file. Throws Error where there are more than kMostPixels along an axis.
std::string png_of(const Pixels& pixels);

/// `zoom` pixels to a unit of the picture. Throws Error where that makes too many.
std::string png_of_svg(const std::string& svg, double zoom);

/// "data:image/png;base64,...".
std::string data_uri(const std::string& png);

}  // namespace foveate::io

#endif  // FOVEATE_IO_PNG_H_
