// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What C callers may hand in: structs of other sizes, null pointers, buffers of any size, wild numbers. None of it writes
// anything, and each is said.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "foveate/foveate_c.h"
#include "tests/c_views.h"
#include "tests/call.h"
#include "tests/counted_allocations.h"

namespace foveate {
namespace {

using trial::in_c;
using trial::Message;

class CCall : public testing::Test {
 protected:
  CCall() : problem_({.h_q = 2, .h_kv = 2, .n_q = 5, .n_kv = 7, .d_k = 8, .d_v = 3}, kPlain), result_(problem_.call) {
    q_ = in_c(problem_.call.q), k_ = in_c(problem_.call.k), v_ = in_c(problem_.call.v);
    outputs_ = in_c(result_.outputs());
  }

  foveate_status attend(const foveate_attention_options* options = nullptr,
                        const foveate_execution* execution = nullptr) {
    return foveate_attention(&q_, &k_, &v_, &outputs_, options, execution, message_.text, sizeof message_.text);
  }

  bool untouched() { return result_.o == Result<float>(problem_.call).o; }

  Problem<float> problem_;
  Result<float> result_;
  foveate_const_tensor q_, k_, v_;
  foveate_attention_outputs outputs_;
  Message message_;
};

/// A struct of the caller's that is larger than the library knows.
struct LargerOptions {
  foveate_attention_options known;
  int64_t added;
};

TEST_F(CCall, FieldsPastTheSizeOfAnOlderCallerHaveTheirDefaults) {
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  ASSERT_EQ(attend(), FOVEATE_OK);
  const Result<float> plain = result_;
  options.causal = 1;
  ASSERT_EQ(attend(&options), FOVEATE_OK);
  const Result<float> causal = result_;
  ASSERT_NE(plain.o, causal.o);
  // What an older caller has behind its last field is its own business.
  options.softcap = -1;
  options.window_left = -7;
  options.size = offsetof(foveate_attention_options, window_left);
  ASSERT_C_OK(attend(&options), message_);
  expect_same_bits(causal, result_);
  options.size = offsetof(foveate_attention_options, size) + sizeof(size_t);
  ASSERT_C_OK(attend(&options), message_);
  expect_same_bits(plain, result_);
}

TEST_F(CCall, WhatANewerCallerAddsHasToBeZero) {
  LargerOptions options = {FOVEATE_ATTENTION_OPTIONS_INIT, 0};
  options.known.size = sizeof options;
  ASSERT_C_OK(attend(&options.known), message_);
  options.added = int64_t{1} << 56;
  result_ = Result<float>(problem_.call);
  outputs_ = in_c(result_.outputs());
  EXPECT_EQ(attend(&options.known), FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(message_.text, "options: size " + std::to_string(sizeof options) +
                               ", and something is set that this library, which has " +
                               std::to_string(sizeof options.known) + ", does not know; remedy: a newer libfoveate_c");
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, HostileSizesAreRefused) {
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{7}, size_t{12}, size_t{16385}, size_t{1} << 20, SIZE_MAX, SIZE_MAX - 7}) {
    options.size = size;
    EXPECT_EQ(attend(&options), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(message_.text, "options: size " + std::to_string(size) + "; expected " + std::to_string(sizeof options) +
                                 ", as FOVEATE_..._INIT sets it");
    execution.size = size;
    EXPECT_EQ(attend(nullptr, &execution), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(message_.text).rfind("execution: size ", 0), 0U) << message_.text;
    const size_t whole = outputs_.size;
    outputs_.size = size;
    EXPECT_EQ(attend(), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(message_.text).rfind("outputs: size ", 0), 0U) << message_.text;
    outputs_.size = whole;
    foveate_attention_shape shape = FOVEATE_ATTENTION_SHAPE_INIT;
    foveate_plan plan = FOVEATE_PLAN_INIT;
    plan.size = size;
    EXPECT_EQ(foveate_attention_plan(&shape, 1, &plan, message_.text, sizeof message_.text), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(message_.text).rfind("plan: size ", 0), 0U) << message_.text;
    EXPECT_EQ(plan.tasks, 0);
    shape.size = size;
    EXPECT_EQ(foveate_attention_plan(&shape, 1, &plan, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
    foveate_block_pattern pattern = FOVEATE_BLOCK_PATTERN_INIT;
    pattern.size = size;
    EXPECT_EQ(foveate_make_blocks(&pattern, nullptr, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
    foveate_kv_cache_options cache = FOVEATE_KV_CACHE_OPTIONS_INIT;
    foveate_kv_cache* made = nullptr;
    cache.size = size;
    EXPECT_EQ(foveate_kv_cache_create(&cache, &made, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(made, nullptr);
  }
  EXPECT_TRUE(untouched());
}

// Sizes between fields, none of which may be read in part in a way that harms: each is taken or refused.
TEST_F(CCall, EverySizeOfAnOlderCallerIsTakenOrSaid) {
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  const bool mask[5 * 7] = {true};
  options.mask = foveate_const_view(mask, FOVEATE_BOOL, 1, 1, 5, 7);
  for (size_t size = 8; size <= sizeof options; size += 8) {
    options.size = size;
    const foveate_status status = attend(&options);
    if (status != FOVEATE_OK) {
      EXPECT_EQ(status, FOVEATE_INVALID_ARGUMENT) << size;
      EXPECT_EQ(std::string(message_.text).rfind("mask: ", 0), 0U) << message_.text;
    }
  }
}

TEST_F(CCall, PlansAreFilledAsFarAsTheyReach) {
  struct {
    foveate_plan known;
    int64_t added = 0;
  } larger{FOVEATE_PLAN_INIT};
  const foveate_attention_shape shape = FOVEATE_ATTENTION_SHAPE_INIT;
  larger.known.size = sizeof larger;
  ASSERT_C_OK(foveate_attention_plan(&shape, 1, &larger.known, message_.text, sizeof message_.text), message_);
  EXPECT_EQ(larger.known.size, sizeof larger) << "of the caller's struct";
  EXPECT_EQ(larger.known.tasks, 1);
  EXPECT_EQ(larger.added, 0);
  foveate_plan smaller = FOVEATE_PLAN_INIT;
  smaller.tasks = 77;
  smaller.size = offsetof(foveate_plan, tasks);
  ASSERT_C_OK(foveate_attention_plan(&shape, 1, &smaller, message_.text, sizeof message_.text), message_);
  EXPECT_GT(smaller.workspace_bytes, 0U);
  EXPECT_EQ(smaller.tasks, 77) << "past the caller's struct";
}

TEST_F(CCall, InitialisersAreTheMacros) {
  const foveate_attention_options macro = FOVEATE_ATTENTION_OPTIONS_INIT;
  foveate_attention_options options;
  foveate_attention_options_init(&options, sizeof options);
  EXPECT_EQ(options.size, macro.size);
  EXPECT_EQ(options.window_left, -1);
  EXPECT_EQ(options.native_products, 1);
  EXPECT_EQ(attend(&options), FOVEATE_OK);
  struct {
    foveate_attention_options known;
    int64_t added;
  } larger;
  std::memset(&larger, 0x55, sizeof larger);
  foveate_attention_options_init(&larger.known, sizeof larger);
  EXPECT_EQ(larger.known.size, sizeof larger);
  EXPECT_EQ(larger.added, 0);
  int64_t smaller[4] = {1, 2, 3, 4};
  foveate_attention_options_init(reinterpret_cast<foveate_attention_options*>(smaller), 16);
  EXPECT_EQ(smaller[0], 16);
  EXPECT_EQ(smaller[1], 0);
  EXPECT_EQ(smaller[2], 3) << "past the caller's struct";
  foveate_attention_shape shape;
  foveate_attention_shape_init(&shape, sizeof shape);
  EXPECT_EQ(shape.dtype, FOVEATE_F32);
  foveate_block_pattern pattern;
  foveate_block_pattern_init(&pattern, sizeof pattern);
  EXPECT_EQ(pattern.block_size, 64);
  foveate_kv_cache_options cache;
  foveate_kv_cache_options_init(&cache, sizeof cache);
  EXPECT_EQ(cache.page_size, 64);
  EXPECT_EQ(cache.max_pages, -1);
  foveate_attention_options_init(nullptr, sizeof options);
  foveate_attention_shape_init(nullptr, sizeof shape);
  foveate_block_pattern_init(nullptr, sizeof pattern);
  foveate_kv_cache_options_init(nullptr, sizeof cache);
}

TEST_F(CCall, ACallThatHasEndedHasNoRounds) {
  foveate_call call;
  ASSERT_EQ(foveate_attention_begin(&call, &q_, &k_, &v_, &outputs_, nullptr, nullptr, nullptr, 0), FOVEATE_OK);
  EXPECT_GT(foveate_call_rounds(&call), 0);
  foveate_call_end(&call);
  EXPECT_EQ(foveate_call_rounds(&call), 0);
  EXPECT_EQ(foveate_call_tasks(&call, 0), 0);
  EXPECT_EQ(foveate_call_run(&call, 0, 0, 1, 0, message_.text, sizeof message_.text), FOVEATE_INVALID_ARGUMENT);
  EXPECT_STREQ(message_.text, "round: 0; the call has none");
  foveate_call_end(&call);
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, DataAcrossElementsIsRefused) {
  const auto across = [](auto view, uintptr_t bytes) {
    view.data = reinterpret_cast<decltype(view.data)>(reinterpret_cast<uintptr_t>(view.data) + bytes);
    return view;
  };
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  const foveate_const_tensor q = across(q_, 2);
  EXPECT_EQ(foveate_attention(&q, &k_, &v_, &outputs_, nullptr, nullptr, message_.text, sizeof message_.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_STREQ(
      message_.text,
      "q: its data lies across float32 elements; expected an address that 4 divides; copy it to aligned memory");
  foveate_attention_outputs outputs = outputs_;
  outputs.o = across(outputs.o, 1);
  EXPECT_EQ(foveate_attention(&q_, &k_, &v_, &outputs, nullptr, nullptr, message_.text, sizeof message_.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(message_.text).rfind("o: its data lies across", 0), 0U) << message_.text;
  const int64_t lengths[2] = {1, 1};
  options.kv_lengths = across(foveate_const_vector_view(lengths, FOVEATE_I64, 1), 4);
  EXPECT_EQ(attend(&options), FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(message_.text).rfind("kv_lengths: ", 0), 0U) << message_.text;
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, DefaultsAreThoseOfCpp) {
  Message message;
  const foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  const foveate_attention_options of_cpp = in_c(AttentionOptions());
  EXPECT_EQ(options.causal, of_cpp.causal);
  EXPECT_EQ(options.has_scale, of_cpp.has_scale);
  EXPECT_EQ(options.align, of_cpp.align);
  EXPECT_EQ(options.native_products, of_cpp.native_products);
  EXPECT_EQ(options.window_left, of_cpp.window_left);
  EXPECT_EQ(options.window_right, of_cpp.window_right);
  EXPECT_EQ(options.alibi_slopes.stride, of_cpp.alibi_slopes.stride);
  EXPECT_EQ(options.block_size, of_cpp.block_size);
}

TEST_F(CCall, NullArgumentsAreAbsentOnes) {
  EXPECT_EQ(foveate_attention(nullptr, &k_, &v_, &outputs_, nullptr, nullptr, message_.text, sizeof message_.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(message_.text, std::string(attention({}, problem_.call.k, problem_.call.v, result_.outputs()).message()));
  EXPECT_EQ(foveate_attention(&q_, &k_, &v_, nullptr, nullptr, nullptr, message_.text, sizeof message_.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(message_.text, std::string(attention(problem_.call.q, problem_.call.k, problem_.call.v, {}).message()));
  for (const foveate_status status :
       {foveate_attention_backward(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, 0),
        foveate_additive_attention(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_additive_attention_backward(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                            nullptr, nullptr, nullptr, 0),
        foveate_linear_attention(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_linear_attention_backward(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_attention_plan(nullptr, 1, nullptr, nullptr, 0),
        foveate_attention_backward_plan(nullptr, nullptr, 1, nullptr, nullptr, 0),
        foveate_additive_attention_plan(nullptr, 1, 1, nullptr, nullptr, 0),
        foveate_additive_attention_backward_plan(nullptr, nullptr, 1, 1, nullptr, nullptr, 0),
        foveate_linear_attention_plan(nullptr, 1, nullptr, nullptr, 0),
        foveate_linear_attention_backward_plan(nullptr, 1, nullptr, nullptr, 0),
        foveate_attention_begin(nullptr, &q_, &k_, &v_, &outputs_, nullptr, nullptr, nullptr, 0),
        foveate_attention_backward_begin(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                         nullptr, nullptr, nullptr, 0),
        foveate_linear_attention_begin(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_linear_attention_backward_begin(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                nullptr, 0),
        foveate_additive_attention_begin(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                         nullptr, 0),
        foveate_additive_attention_backward_begin(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                  nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_call_run(nullptr, 0, 0, 0, 0, nullptr, 0),
        foveate_merge(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_dropout_mask(nullptr, nullptr, nullptr, nullptr, 0),
        foveate_make_blocks(nullptr, nullptr, nullptr, 0),
        foveate_inspect(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
        foveate_inspect_tasks(nullptr, 1, nullptr, nullptr, 0),
        foveate_trace(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0)}) {
    EXPECT_EQ(status, FOVEATE_INVALID_ARGUMENT);
  }
  foveate_call_end(nullptr);
  EXPECT_EQ(foveate_call_rounds(nullptr), 0);
  EXPECT_EQ(foveate_call_tasks(nullptr, 0), 0);
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, MessagesFitAnyBuffer) {
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  options.softcap = -1;
  ASSERT_EQ(attend(&options), FOVEATE_INVALID_ARGUMENT);
  const std::string whole = message_.text;
  ASSERT_GT(whole.size(), 10U);
  for (const size_t size : {size_t{1}, size_t{2}, size_t{10}, whole.size(), whole.size() + 1, whole.size() + 2}) {
    std::vector<char> buffer(size + 1, '#');
    EXPECT_EQ(foveate_attention(&q_, &k_, &v_, &outputs_, &options, nullptr, buffer.data(), size),
              FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(buffer.data()), whole.substr(0, size - 1));
    EXPECT_EQ(buffer[size], '#');
  }
  char untouched = '#';
  EXPECT_EQ(foveate_attention(&q_, &k_, &v_, &outputs_, &options, nullptr, &untouched, 0), FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(untouched, '#');
  EXPECT_EQ(foveate_attention(&q_, &k_, &v_, &outputs_, &options, nullptr, nullptr, 100), FOVEATE_INVALID_ARGUMENT);
  ASSERT_EQ(attend(), FOVEATE_OK);
  EXPECT_STREQ(message_.text, "");
}

TEST_F(CCall, UnknownNumbersAreRefused) {
  for (const int32_t unknown : {9, -1, 255, 256, 258, INT32_MAX, INT32_MIN}) {
    for (foveate_const_tensor* view : {&q_, &k_, &v_}) {
      const int32_t dtype = view->dtype;
      view->dtype = unknown;
      EXPECT_EQ(attend(), FOVEATE_INVALID_ARGUMENT) << unknown;
      view->dtype = dtype;
    }
    foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
    options.align = unknown;
    EXPECT_EQ(attend(&options), FOVEATE_INVALID_ARGUMENT) << unknown;
    EXPECT_EQ(message_.text,
              "align: " + std::to_string(unknown) + "; expected FOVEATE_BOTTOM_RIGHT (0) or FOVEATE_TOP_LEFT (1)");
    options.align = FOVEATE_BOTTOM_RIGHT;
    options.sinks.dtype = unknown;
    EXPECT_EQ(attend(&options), FOVEATE_INVALID_ARGUMENT) << unknown;
  }
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, StatusesAreSaid) {
  for (foveate_status status = -1; status <= FOVEATE_CANCELLED + 1; ++status) {
    ASSERT_NE(foveate_strerror(status), nullptr);
    EXPECT_STRNE(foveate_strerror(status), "");
  }
  EXPECT_STREQ(foveate_strerror(FOVEATE_OK), "success");
  EXPECT_STREQ(foveate_strerror(99), "unknown status");
  EXPECT_EQ(foveate_abi_version(), FOVEATE_ABI_VERSION);
  EXPECT_STREQ(foveate_version(), FOVEATE_VERSION);
}

TEST_F(CCall, StopsAtTheCallersByte) {
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  unsigned char stop = 0;
  execution.stop = &stop;
  EXPECT_EQ(attend(nullptr, &execution), FOVEATE_OK);
  stop = 1;
  EXPECT_EQ(attend(nullptr, &execution), FOVEATE_CANCELLED);
  EXPECT_STREQ(message_.text, "cancelled by the stop flag");
}

TEST_F(CCall, WorkspacesTooSmallAreRefused) {
  char memory[64];
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.workspace = memory;
  execution.workspace_bytes = sizeof memory;
  EXPECT_EQ(attend(nullptr, &execution), FOVEATE_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(std::string(message_.text).rfind("workspace: 64 bytes; this call needs ", 0), 0U) << message_.text;
  foveate_call call;
  EXPECT_EQ(foveate_attention_begin(&call, &q_, &k_, &v_, &outputs_, nullptr, &execution, message_.text,
                                    sizeof message_.text),
            FOVEATE_WORKSPACE_TOO_SMALL);
  EXPECT_NE(std::string(message_.text).find("in C: begin_bytes"), std::string::npos) << message_.text;
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, WorkersOutOfRangeAreRefused) {
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.parallel_for = [](void*, int64_t, foveate_task, void*) {};
  for (const int64_t workers : {int64_t{0}, int64_t{-1}, int64_t{65537}, INT64_MAX, INT64_MIN}) {
    execution.workers = workers;
    EXPECT_EQ(attend(nullptr, &execution), FOVEATE_INVALID_ARGUMENT);
    foveate_call call;
    EXPECT_EQ(foveate_attention_begin(&call, &q_, &k_, &v_, &outputs_, nullptr, &execution, nullptr, 0),
              FOVEATE_INVALID_ARGUMENT);
  }
  EXPECT_TRUE(untouched());
}

TEST_F(CCall, AllocatesNothingWithAWorkspace) {
  foveate_attention_shape shape = FOVEATE_ATTENTION_SHAPE_INIT;
  shape.h_q = shape.h_kv = 2, shape.n_q = 5, shape.n_kv = 7, shape.d_k = 8, shape.d_v = 3;
  foveate_plan plan = FOVEATE_PLAN_INIT;
  ASSERT_C_OK(foveate_attention_plan(&shape, 1, &plan, message_.text, sizeof message_.text), message_);
  std::vector<char> memory(plan.begin_bytes);
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.workspace = memory.data();
  execution.workspace_bytes = plan.workspace_bytes;
  foveate_status status = -1, begun = -1, run = -1;
  EXPECT_EQ(allocations_of([&] { status = attend(nullptr, &execution); }), 0);
  EXPECT_C_OK(status, message_);
  execution.workspace_bytes = memory.size();
  EXPECT_EQ(allocations_of([&] {
              foveate_call call;
              begun = foveate_attention_begin(&call, &q_, &k_, &v_, &outputs_, nullptr, &execution, message_.text,
                                              sizeof message_.text);
              if (begun != FOVEATE_OK) return;
              run = foveate_call_run(&call, 0, 0, foveate_call_tasks(&call, 0), 0, nullptr, 0);
              foveate_call_end(&call);
            }),
            0);
  EXPECT_C_OK(begun, message_);
  EXPECT_EQ(run, FOVEATE_OK);
  EXPECT_EQ(allocations_of([&] { status = attend(); }), 1) << "the library's allocations are not seen";
}

}  // namespace
}  // namespace foveate
