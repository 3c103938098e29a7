// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Finds libfoveate_c: in FOVEATE_LIB_DIR, or where pkg-config says.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=FOVEATE_LIB_DIR");
    let folder = env::var("FOVEATE_LIB_DIR").ok().or_else(|| {
        let found = Command::new("pkg-config").args(["--variable=libdir", "foveate_c"]).output().ok()?;
        found.status.success().then(|| String::from_utf8_lossy(&found.stdout).trim().to_string())
    });
    if let Some(folder) = folder {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
    println!("cargo:rustc-link-lib=dylib=foveate_c");
}
