// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A safe face on some of foveate/c/attention.h: views that cannot outlive or overrun their slices, defaults that the library
// itself fills in, and its tasks on Rust's threads. What a binding for all of it would go on from.
use std::ffi::{c_char, c_int, c_void, CStr};
use std::marker::PhantomData;
use std::mem::{size_of, zeroed};
use std::sync::atomic::{AtomicI64, Ordering};
use std::{fmt, ptr, thread};

/// As C has them: the structs of base.h and attention.h, field by field.
mod c {
    use super::*;

    pub const F32: c_int = 2;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Tensor {
        pub data: *mut c_void,
        pub dtype: i32,
        pub shape: [i64; 4],
        pub stride: [i64; 4],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Options {
        pub size: usize,
        pub has_scale: i32,
        pub causal: i32,
        pub scale: f64,
        pub align: i32,
        pub native_products: i32,
        pub window_left: i64,
        pub window_right: i64,
        pub mask: Tensor,
        pub bias: Tensor,
        pub softcap: f64,
        // The fields behind keep their defaults: to the library this is a caller of an older header.
    }

    #[repr(C)]
    pub struct Outputs {
        pub size: usize,
        pub o: Tensor,
        pub lse: Tensor,
        pub weights: Tensor,
    }

    pub type Task = extern "C" fn(*mut c_void, i64, i64);

    #[repr(C)]
    pub struct Execution {
        pub size: usize,
        pub parallel_for: Option<unsafe extern "C" fn(*mut c_void, i64, Task, *mut c_void)>,
        pub host: *mut c_void,
        pub workers: i64,
        pub workspace: *mut c_void,
        pub workspace_bytes: usize,
        pub stop: *const u8,
        pub progress: *mut i64,
    }

    extern "C" {
        pub fn foveate_strerror(status: i32) -> *const c_char;
        pub fn foveate_attention_options_init(options: *mut Options, size: usize);
        pub fn foveate_attention(
            q: *const Tensor,
            k: *const Tensor,
            v: *const Tensor,
            outputs: *const Outputs,
            options: *const Options,
            execution: *const Execution,
            message: *mut c_char,
            message_size: usize,
        ) -> i32;
    }
}

/// What the library found wrong: what kind of thing, and the line about it.
#[derive(Debug)]
pub struct Error {
    pub kind: String,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Error {}

/// Packed float32 [b, h, n, d] to read.
#[derive(Clone, Copy)]
pub struct View<'a>(c::Tensor, PhantomData<&'a [f32]>);

/// The same to write through.
pub struct ViewMut<'a>(c::Tensor, PhantomData<&'a mut [f32]>);

fn packed(data: *mut c_void, length: usize, shape: [usize; 4]) -> c::Tensor {
    let elements = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
    assert_eq!(elements, Some(length), "shape {shape:?} of {length} elements");
    let [b, h, n, d] = shape.map(|extent| extent as i64);
    c::Tensor { data, dtype: c::F32, shape: [b, h, n, d], stride: [h * n * d, n * d, d, 1] }
}

impl<'a> View<'a> {
    pub fn new(data: &'a [f32], shape: [usize; 4]) -> Self {
        View(packed(data.as_ptr() as *mut c_void, data.len(), shape), PhantomData)
    }
}

impl<'a> ViewMut<'a> {
    pub fn new(data: &'a mut [f32], shape: [usize; 4]) -> Self {
        ViewMut(packed(data.as_mut_ptr() as *mut c_void, data.len(), shape), PhantomData)
    }
}

/// AttentionOptions of attention.h; more of them as they are wanted.
pub struct Options(c::Options);

impl Default for Options {
    fn default() -> Self {
        // SAFETY: all fields are numbers and pointers, for which zeros are values.
        let mut options: c::Options = unsafe { zeroed() };
        // SAFETY: the size is that of the struct.
        unsafe { c::foveate_attention_options_init(&mut options, size_of::<c::Options>()) };
        Options(options)
    }
}

impl Options {
    pub fn causal(mut self, causal: bool) -> Self {
        self.0.causal = causal.into();
        self
    }

    pub fn softcap(mut self, softcap: f64) -> Self {
        self.0.softcap = softcap;
        self
    }
}

/// The library's task and its context, which it may run on any thread.
struct Loop {
    task: c::Task,
    context: *mut c_void,
}
// SAFETY: foveate/c/base.h says that tasks may run on any threads, each once.
unsafe impl Sync for Loop {}

impl Loop {
    fn run(&self, task: i64, worker: i64) {
        (self.task)(self.context, task, worker)
    }
}

/// Workers take the next task that nobody has. A host with a pool of threads would hand it out there.
unsafe extern "C" fn parallel_for(host: *mut c_void, n_tasks: i64, task: c::Task, context: *mut c_void) {
    let workers = host as i64;
    let (next, work) = (AtomicI64::new(0), Loop { task, context });
    thread::scope(|scope| {
        for worker in 0..workers {
            let (next, work) = (&next, &work);
            scope.spawn(move || loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= n_tasks {
                    break;
                }
                work.run(task, worker);
            });
        }
    });
}

/// Scaled dot-product attention: q [b, h_q, n_q, d_k], k [b, h_kv, n_kv, d_k], v [b, h_kv, n_kv, d_v], o [b, h_q, n_q, d_v],
/// on so many threads. The threads do not change a bit of o.
pub fn attention(q: View, k: View, v: View, o: ViewMut, options: &Options, workers: usize) -> Result<(), Error> {
    // SAFETY: as in Options::default; a tensor of dtype 0 is an absent one.
    let mut outputs: c::Outputs = unsafe { zeroed() };
    outputs.size = size_of::<c::Outputs>();
    outputs.o = o.0;
    let execution = c::Execution {
        size: size_of::<c::Execution>(),
        parallel_for: if workers > 1 { Some(parallel_for) } else { None },
        host: workers as *mut c_void,
        workers: workers as i64,
        workspace: ptr::null_mut(),
        workspace_bytes: 0,
        stop: ptr::null(),
        progress: ptr::null_mut(),
    };
    let mut message = [0 as c_char; 256];
    // SAFETY: views hold as many elements as their shapes say, and live as long as this call; o is borrowed by nobody else.
    let status = unsafe {
        c::foveate_attention(&q.0, &k.0, &v.0, &outputs, &options.0, &execution, message.as_mut_ptr(), message.len())
    };
    if status == 0 {
        return Ok(());
    }
    // SAFETY: both are strings that end in a zero byte.
    let text = |chars| unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned();
    Err(Error { kind: text(unsafe { c::foveate_strerror(status) }), message: text(message.as_ptr()) })
}
