// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/png.h"

#include <cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "io/error.h"

namespace foveate::io {
namespace {

struct Free {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(gchar* text) const { g_free(text); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void require(bool ok, std::string_view what) {
  if (!ok) throw Error("PNG", what);
}

Owned<cairo_surface_t> make_surface(cairo_format_t format, double width, double height) {
  require(width <= kMostPixels && height <= kMostPixels,
          std::to_string(std::llround(width)) + " x " + std::to_string(std::llround(height)) + " pixels, more than " +
              std::to_string(kMostPixels) + " along an axis");
  Owned<cairo_surface_t> surface(cairo_image_surface_create(format, static_cast<int>(width), static_cast<int>(height)));
  const cairo_status_t status = cairo_surface_status(surface.get());
  require(status == CAIRO_STATUS_SUCCESS, cairo_status_to_string(status));
  return surface;
}

std::string written(cairo_surface_t* surface) {
  std::string bytes;
  const auto append = [](void* to, const unsigned char* data, unsigned n) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
    return CAIRO_STATUS_SUCCESS;
  };
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface, append, &bytes);
  require(status == CAIRO_STATUS_SUCCESS, cairo_status_to_string(status));
  return bytes;
}

Owned<RsvgHandle> read_svg(const std::string& svg) {
  GError* error = nullptr;
  Owned<RsvgHandle> handle(rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  const Owned<GError> owned(error);
  require(handle != nullptr, error != nullptr ? error->message : "the picture cannot be read");
  return handle;
}

}  // namespace

std::string png_of(const Pixels& pixels) {
  const Owned<cairo_surface_t> surface =
      make_surface(CAIRO_FORMAT_RGB24, static_cast<double>(pixels.width), static_cast<double>(pixels.height));
  cairo_surface_flush(surface.get());
  unsigned char* const data = cairo_image_surface_get_data(surface.get());
  const int64_t stride = cairo_image_surface_get_stride(surface.get());
  for (int64_t y = 0; y < pixels.height; ++y) {
    auto* const row = reinterpret_cast<uint32_t*>(data + y * stride);
    for (int64_t x = 0; x < pixels.width; ++x) {
      const uint8_t* const rgb = pixels.rgb.data() + 3 * (y * pixels.width + x);
      row[x] = static_cast<uint32_t>(rgb[0]) << 16 | static_cast<uint32_t>(rgb[1]) << 8 | rgb[2];
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return written(surface.get());
}

std::string png_of_svg(const std::string& svg, double zoom) {
  const Owned<RsvgHandle> handle = read_svg(svg);
  double width = 0, height = 0;
  require(rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) != 0, "the picture has no size");
  width = std::ceil(width * zoom);
  height = std::ceil(height * zoom);
  const Owned<cairo_surface_t> surface = make_surface(CAIRO_FORMAT_ARGB32, width, height);
  const Owned<cairo_t> context(cairo_create(surface.get()));
  const RsvgRectangle whole = {0, 0, width, height};
  GError* error = nullptr;
  const bool drawn = rsvg_handle_render_document(handle.get(), context.get(), &whole, &error) != 0;
  const Owned<GError> owned(error);
  require(drawn, error != nullptr ? error->message : "the picture cannot be drawn");
  return written(surface.get());
}

std::string data_uri(const std::string& png) {
  const Owned<gchar> text(g_base64_encode(reinterpret_cast<const guchar*>(png.data()), png.size()));
  return std::string("data:image/png;base64,") + text.get();
}

}  // namespace foveate::io
