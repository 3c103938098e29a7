// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// FOVEATE_API marks what a shared build exports; all else is hidden.
#ifndef FOVEATE_EXPORT_H_
#define FOVEATE_EXPORT_H_

#if defined(_WIN32) && defined(FOVEATE_SHARED)
#ifdef FOVEATE_BUILDING
#define FOVEATE_API __declspec(dllexport)
#else
#define FOVEATE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define FOVEATE_API __attribute__((visibility("default")))
#else
#define FOVEATE_API
#endif

#endif  // FOVEATE_EXPORT_H_
