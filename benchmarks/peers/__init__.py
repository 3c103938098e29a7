# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
"""Foveate beside what else one would use, on the same arrays in the same run, and the limits of the machine.

    scripts/bench [--set quick|full|grid] [--only ROW,...] [--peers PEER,...] [--threads 1,all] [--rounds N]

A row is a `Work` (work.py, rows.py). Every peer is a process of its own for each number of threads (worker.py is its
side of the pipe, process.py ours), so that thread pools and allocators meet nobody else's; only one of them runs at a
time, the others are stopped. A row's result is compared with the float64 oracle (judge.py) before it is timed; rounds
go over all peers by turns (rounds.py). What was measured becomes figures (figures.py), and these a table, two
pictures and JSON.
"""
