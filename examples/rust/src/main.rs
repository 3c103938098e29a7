// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention from Rust, through the C interface: what examples/attention.c does, on two threads, and the same bits printed.
//
//   FOVEATE_LIB_DIR=/usr/local/lib cargo run --release
mod foveate;

use foveate::{attention, Options, View, ViewMut};

const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const LENGTH: usize = 6;
const DIM: usize = 8;

/// Numbers from -1 to 1, the same in every language.
fn numbers(n: usize, mut seed: u32) -> Vec<f32> {
    let next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (seed >> 8) as f32 / 8388608.0 - 1.0
    };
    std::iter::repeat_with(next).take(n).collect()
}

fn main() -> Result<(), foveate::Error> {
    let q = numbers(HEADS * LENGTH * DIM, 1);
    let k = numbers(KV_HEADS * LENGTH * DIM, 2);
    let v = numbers(KV_HEADS * LENGTH * DIM, 3);
    let mut o = vec![0.0; q.len()];
    let queries = View::new(&q, [1, HEADS, LENGTH, DIM]);
    let keys = View::new(&k, [1, KV_HEADS, LENGTH, DIM]);
    let values = View::new(&v, [1, KV_HEADS, LENGTH, DIM]);
    let outputs = ViewMut::new(&mut o, [1, HEADS, LENGTH, DIM]);
    attention(queries, keys, values, outputs, &Options::default().causal(true), 2)?;
    for (row, numbers) in o.chunks(DIM).enumerate() {
        print!("{} {}:", row / LENGTH, row % LENGTH);
        for x in numbers {
            print!(" {:08x}", x.to_bits());
        }
        println!();
    }

    // What is wrong is said in a line, and nothing is written.
    let outputs = ViewMut::new(&mut o, [1, HEADS, LENGTH, DIM]);
    let wrong = Options::default().causal(true).softcap(-1.0);
    match attention(queries, keys, values, outputs, &wrong, 1) {
        Err(error) => println!("{error}"),
        Ok(()) => unreachable!("a negative softcap"),
    }
    Ok(())
}
