// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays of other libraries over DLPack, as NumPy arrays of the same memory. NumPy's own from_dlpack knows no bfloat16;
// here its bits come as uint16. Capsules of version 1 and of the time before versions are taken, and what is read-only
// stays so (https://dmlc.github.io/dlpack/latest).
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "python/src/bindings.h"

namespace foveate::python {
namespace {

// The structs of the standard, as they lie in memory.
struct DlTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  nb::dlpack::dtype dtype;
  int64_t* shape;
  int64_t* strides;  ///< of elements; nullptr: packed
  uint64_t byte_offset;
};

struct Unversioned {
  DlTensor tensor;
  void* context;
  void (*deleter)(Unversioned*);
};

struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  DlTensor tensor;
};

constexpr uint32_t kMajor = 1;
constexpr uint64_t kReadOnly = 1;
constexpr int32_t kCpu = 1;

/// The capsule's tensor, taken over: its deleter is called once nobody has the capsule that is returned.
template <class Managed>
nb::capsule take(nb::handle capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw nb::python_error();
  return nb::capsule(managed, [](void* pointer) noexcept {
    auto* of = static_cast<Managed*>(pointer);
    if (of->deleter != nullptr) of->deleter(of);
  });
}

/// What the exporter gives: by the newer call, or where it knows none, by the older.
nb::object exported(nb::handle array) {
  try {
    return array.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(kMajor, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return array.attr("__dlpack__")();
}

template <class Array>
nb::object as_numpy(const DlTensor& tensor, nb::dlpack::dtype dtype, const nb::capsule& owner) {
  const std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  void* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return nb::cast(Array(data, shape.size(), shape.data(), owner, tensor.strides, dtype));
}

/// The array, and whether its elements are the bits of bfloat16.
nb::tuple from_dlpack(nb::handle array, const std::string& name) {
  const nb::object capsule = exported(array);
  const bool versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0;
  bool read_only = false;
  nb::capsule owner;
  const DlTensor* tensor = nullptr;
  if (versioned) {
    const auto* header = static_cast<Versioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (header->major != kMajor) {
      // Of another version only the place of version and deleter is known, so the capsule is left to its own.
      throw nb::type_error((name + ": DLPack version " + std::to_string(header->major) + "." +
                            std::to_string(header->minor) + ", expected 1.x; convert it to a NumPy array")
                               .c_str());
    }
    read_only = (header->flags & kReadOnly) != 0;
    owner = take<Versioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    tensor = &header->tensor;
  } else {
    owner = take<Unversioned>(capsule, "dltensor", "used_dltensor");
    tensor = &static_cast<Unversioned*>(owner.data())->tensor;
  }
  if (tensor->device_type != kCpu) {
    throw nb::type_error((name + ": not in the CPU's memory; copy it there").c_str());
  }
  nb::dlpack::dtype dtype = tensor->dtype;
  if (dtype.lanes != 1 || dtype.bits % 8 != 0) {
    throw nb::type_error((name + ": elements of several lanes or parts of a byte; expected plain floats").c_str());
  }
  const bool bfloat16 = dtype.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat) && dtype.bits == 16;
  if (bfloat16) dtype.code = static_cast<uint8_t>(nb::dlpack::dtype_code::UInt);
  const nb::object numpy = read_only ? as_numpy<nb::ndarray<nb::numpy, nb::ro>>(*tensor, dtype, owner)
                                     : as_numpy<nb::ndarray<nb::numpy>>(*tensor, dtype, owner);
  return nb::make_tuple(numpy, bfloat16);
}

}  // namespace

void bind_dlpack(nb::module_& module) { module.def("from_dlpack", from_dlpack, nb::arg("array"), nb::arg("name")); }

}  // namespace foveate::python
