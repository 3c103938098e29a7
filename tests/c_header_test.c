/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * The header as C11 without extensions, and calls on POSIX threads: a parallel loop that is handed in, and rounds of tasks that
 * threads take by themselves, at several divisions. All give the bits of the serial call. */
#define _POSIX_C_SOURCE 200809L

#include "foveate/foveate_c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Few rows and many keys: with several workers a row's keys are shared out, which takes a second round. */
enum { kHeads = 2, kQueries = 31, kKeys = 3100, kDim = 9, kWorkers = 3 };
enum { kSize = kHeads * kQueries * kDim };

static float q[kSize], k[kHeads * kKeys * kDim], v[kHeads * kKeys * kDim], expected[kSize], o[kSize];
static int failures;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "c_header_test: %s\n", what);
  ++failures;
}

/* Numbers between -1 and 1. */
static void fill(float* x, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
}

typedef struct {
  void* host;
  int64_t n, worker;
  foveate_task task;
  void* context;
  atomic_llong* next;
} share;

static void* take_tasks(void* argument) {
  const share* mine = argument;
  for (int64_t t; (t = atomic_fetch_add(mine->next, 1)) < mine->n;) mine->task(mine->context, t, mine->worker);
  return NULL;
}

static void parallel_for(void* host, int64_t n_tasks, foveate_task task, void* context) {
  pthread_t threads[kWorkers];
  share shares[kWorkers];
  atomic_llong next = 0;
  for (int w = 0; w < kWorkers; ++w) {
    const share one = {host, n_tasks, w, task, context, &next};
    shares[w] = one;
    pthread_create(&threads[w], NULL, take_tasks, &shares[w]);
  }
  for (int w = 0; w < kWorkers; ++w) pthread_join(threads[w], NULL);
}

static foveate_call call;
static pthread_barrier_t barrier;
static int64_t at_a_time;
static atomic_llong taken[64];

/* A worker of an engine that has threads and a barrier. */
static void* work(void* argument) {
  const int64_t worker = *(const int64_t*)argument;
  for (int64_t round = 0; round < foveate_call_rounds(&call); ++round) {
    const int64_t n = foveate_call_tasks(&call, round);
    for (int64_t first; (first = atomic_fetch_add(&taken[round], at_a_time)) < n;) {
      const int64_t count = n - first < at_a_time ? n - first : at_a_time;
      check(foveate_call_run(&call, round, first, count, worker, NULL, 0) == FOVEATE_OK, "a range of tasks failed");
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static void run_rounds(int64_t count) {
  pthread_t threads[kWorkers];
  int64_t workers[kWorkers];
  at_a_time = count;
  for (int r = 0; r < 64; ++r) atomic_store(&taken[r], 0);
  for (int w = 0; w < kWorkers; ++w) {
    workers[w] = w;
    pthread_create(&threads[w], NULL, work, &workers[w]);
  }
  for (int w = 0; w < kWorkers; ++w) pthread_join(threads[w], NULL);
}

int main(void) {
  char message[FOVEATE_MESSAGE_SIZE];
  fill(q, kSize, 1);
  fill(k, kHeads * kKeys * kDim, 2);
  fill(v, kHeads * kKeys * kDim, 3);
  const foveate_const_tensor in_q = foveate_const_view(q, FOVEATE_F32, 1, kHeads, kQueries, kDim);
  const foveate_const_tensor in_k = foveate_const_view(k, FOVEATE_F32, 1, kHeads, kKeys, kDim);
  const foveate_const_tensor in_v = foveate_const_view(v, FOVEATE_F32, 1, kHeads, kKeys, kDim);
  foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  options.causal = 1;
  outputs.o = foveate_view(expected, FOVEATE_F32, 1, kHeads, kQueries, kDim);
  check(foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, NULL, message, sizeof message) == FOVEATE_OK,
        message);

  outputs.o = foveate_view(o, FOVEATE_F32, 1, kHeads, kQueries, kDim);
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.workers = kWorkers;
  execution.parallel_for = parallel_for;
  check(foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, &execution, message, sizeof message) == FOVEATE_OK,
        message);
  check(memcmp(o, expected, sizeof o) == 0, "a parallel loop: other bits");

  execution.parallel_for = NULL;
  pthread_barrier_init(&barrier, NULL, kWorkers);
  for (int64_t count = 1; count < 100; count = 3 * count + 1) {
    memset(o, 0, sizeof o);
    check(foveate_attention_begin(&call, &in_q, &in_k, &in_v, &outputs, &options, &execution, message,
                                  sizeof message) == FOVEATE_OK,
          message);
    check(foveate_call_rounds(&call) == 2, "splits are not shared out");
    run_rounds(count);
    check(memcmp(o, expected, sizeof o) == 0, "rounds of tasks: other bits");
    foveate_call_end(&call);
  }
  pthread_barrier_destroy(&barrier);

  options.softcap = -1;
  check(foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, NULL, message, sizeof message) ==
            FOVEATE_INVALID_ARGUMENT,
        "a negative softcap passes");
  check(strncmp(message, "softcap: ", 9) == 0, message);
  check(foveate_abi_version() == FOVEATE_ABI_VERSION && strcmp(foveate_version(), FOVEATE_VERSION) == 0,
        "another library than the header's");
  return failures == 0 ? 0 : 1;
}
