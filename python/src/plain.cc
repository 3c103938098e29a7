// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Plain calls of attention, done at once: q, k and v are NumPy's own arrays of a native float type with the same 2 to 4 axes,
// and options are few. python/foveate does all calls; for one of n 8, d 16 it takes 20 times as long as the engine. What is
// not plain, or not right, or takes so long that a person could want to stop it, is left to it, errors and all: nothing is
// refused here, and nothing has been written then but an output that will be written anew.
#include <string_view>

#include "foveate/attention.h"
#include "foveate/tbb.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

/// What NumPy makes and has: looked up once, and kept for good.
struct NumPy {
  PyObject* ndarray;
  PyObject* empty;
  PyObject* float64;
  PyObject* float32;
  PyObject* float16;

  static const NumPy& get() {
    static const NumPy numpy;
    return numpy;
  }

  PyObject* dtype_of(DType dtype) const {
    if (dtype == DType::f64) return float64;
    if (dtype == DType::f32) return float32;
    return dtype == DType::f16 ? float16 : nullptr;
  }

 private:
  NumPy() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    const auto dtype = [&](const char* name) { return numpy.attr("dtype")(name).release().ptr(); };
    ndarray = nb::object(numpy.attr("ndarray")).release().ptr();
    empty = nb::object(numpy.attr("empty")).release().ptr();
    float64 = dtype("float64");
    float32 = dtype("float32");
    float16 = dtype("float16");
  }
};

bool is_array(nb::handle object) { return object.type().ptr() == NumPy::get().ndarray; }

/// What stands beside q, k and v.
struct Given {
  AttentionOptions options;
  nb::handle out;
  int64_t threads = 0;  ///< 0: all cores

  /// Takes one of the options; false where that is not plain.
  bool take(std::string_view name, nb::handle value) {
    if (name == "causal") return take(options.causal, value);
    if (name == "return_lse" || name == "return_weights") return value.ptr() == Py_False;
    if (name == "softcap") return take(options.softcap, value);
    if (name == "align") return take(options.align, value);
    if (value.is_none())
      return name == "scale" || name == "mask" || name == "bias" || name == "threads" || name == "out";
    if (name == "scale") return take(options.scale.emplace(), value);
    if (name == "threads") return take(threads, value);
    if (name != "out" || !is_array(value)) return false;
    out = value;
    return true;
  }

 private:
  static bool take(bool& field, nb::handle value) {
    field = value.ptr() == Py_True;
    return field || value.ptr() == Py_False;
  }
  static bool take(Align& field, nb::handle value) {
    if (!PyUnicode_Check(value.ptr())) return false;
    const bool top_left = PyUnicode_CompareWithASCIIString(value.ptr(), "top-left") == 0;
    field = top_left ? Align::top_left : Align::bottom_right;
    return top_left || PyUnicode_CompareWithASCIIString(value.ptr(), "bottom-right") == 0;
  }
  static bool take(double& field, nb::handle value) {
    if (!PyFloat_Check(value.ptr())) return false;
    field = PyFloat_AsDouble(value.ptr());
    return true;
  }
  static bool take(int64_t& field, nb::handle value) {
    if (!PyLong_CheckExact(value.ptr())) return false;
    field = PyLong_AsLongLong(value.ptr());
    PyErr_Clear();  // -1, which is none either
    return 1 <= field && field <= 65536;
  }
};

/// An array like q, but of d_v columns. Throws python_error where there is no memory, gives none of another type.
nb::object empty_output(const ConstTensor& q, int axes, int64_t d_v) {
  PyObject* const dtype = NumPy::get().dtype_of(q.dtype);
  if (dtype == nullptr) return {};
  const nb::object shape = nb::steal(PyTuple_New(axes));
  for (int axis = 0; axis < axes; ++axis) {
    PyTuple_SetItem(shape.ptr(), axis, PyLong_FromLongLong(axis + 1 == axes ? d_v : q.shape[4 - axes + axis]));
  }
  PyObject* const array = PyObject_CallFunctionObjArgs(NumPy::get().empty, shape.ptr(), dtype, nullptr);
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

/// A call, ready to be made.
struct Call {
  Views views;
  Given given;
  ConstTensor q, k, v;
  nb::object out;
  AttentionOutputs outputs;
  double work = 0;

  /// False where it is not plain, or too much.
  bool prepare(const nb::tuple& arrays, const nb::dict& options) {
    if (nb::len(arrays) != 3) return false;
    for (const nb::handle array : arrays) {
      if (!is_array(array)) return false;
    }
    if (!take_all(options)) return false;
    try {
      q = views.rows(arrays[0]), k = views.rows(arrays[1]), v = views.rows(arrays[2]);
      work = work_of_attention(q, k, v, given.options);
      if (!(work < kMuchWork)) return false;
      out = given.out ? nb::borrow(given.out) : empty_output(q, views.axes_of_rows(), v.shape[3]);
      if (out) outputs.o = views.output_rows(out);
      return static_cast<bool>(out);
    } catch (const nb::builtin_exception&) {  // of an array that the engine has no view of
      return false;
    } catch (const nb::python_error&) {  // or that has no buffer
      return false;
    }
  }

  /// False where the engine refuses it.
  bool make(const nb::callable& cores) const {
    if (work < kLittleWork) return attention(q, k, v, outputs, given.options).ok();
    // A signal's handler may raise in there: that is not for us.
    const int64_t threads = given.threads > 0 ? given.threads : nb::cast<int64_t>(cores());
    const WithoutGil released;
    TbbExecutor executor(static_cast<int>(threads));
    return attention(q, k, v, outputs, given.options, {.executor = &executor}).ok();
  }

 private:
  bool take_all(const nb::dict& options) {
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(options.ptr(), &at, &name, &value) != 0;) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(name, &size);
      if (text == nullptr) PyErr_Clear();  // no name at all
      if (text == nullptr || std::string_view(text).size() != static_cast<size_t>(size)) return false;
      if (!given.take(text, value)) return false;
    }
    return true;
  }
};

/// attention(*arrays, **options), or None where it is not plain. cores() tells how many threads there may be.
nb::object plain_attention(const nb::tuple& arrays, const nb::dict& options, const nb::callable& cores) {
  Call call;
  return call.prepare(arrays, options) && call.make(cores) ? call.out : nb::none();
}

}  // namespace

void bind_plain(nb::module_& module) {
  NumPy::get();  // here, where no other thread can wait for it with the GIL
  module.def("plain_attention", plain_attention, nb::arg("arrays"), nb::arg("options"), nb::arg("cores"));
}

}  // namespace foveate::python
