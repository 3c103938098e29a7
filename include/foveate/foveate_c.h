/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * The C interface: scaled dot-product attention and what belongs to it, in C11 and from any language that calls C. This header
 * includes them all:
 *
 *   c/base.h          versions, statuses, views of arrays, where a call runs, the instruction set
 *   c/attention.h     softmax attention, its gradients, merging, dropout's mask, block patterns
 *   c/planned_call.h  the same calls as rounds of tasks on threads of your own, with an example
 *   c/kv_cache.h      a cache of keys and values of many sequences
 *   c/additive.h      additive attention
 *   c/linear.h        linear attention
 *   c/inspect.h       what attention looks at, in figures, and where NaN came from
 *
 *   foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
 *   outputs.o = foveate_view(o, FOVEATE_F32, 1, h, n, d);
 *   foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
 *   options.causal = 1;
 *   char message[FOVEATE_MESSAGE_SIZE];
 *   foveate_const_tensor in_q = foveate_const_view(q, FOVEATE_F32, 1, h, n, d); ...
 *   if (foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, NULL, message, sizeof message) != FOVEATE_OK) puts(message);
 *
 * Conventions
 *   Errors     a call returns a foveate_status and fills `message`, of message_size bytes, with one line that ends in a zero byte:
 *              what is wrong with which argument, "" where nothing is. NULL: not wanted. Nothing is thrown, printed or ended.
 *   Pointers   a view, options, outputs or execution that is NULL is one that is left out, with all its defaults.
 *   Sizes      structs that may grow begin with their size, which FOVEATE_..._INIT sets, beside the defaults. A caller built
 *              with an older header has fewer fields, and the library gives the others their defaults. Of a struct that is larger
 *              than the library knows, the rest has to be 0. Results are filled as far as the caller's size reaches.
 *   Memory     arrays are the caller's. With a workspace of as many bytes as the plan of a call tells, it allocates nothing.
 *              Nothing keeps a pointer past the call, but foveate_call.
 *   Booleans   int32_t or int64_t, 0 or not. Enumerations are integers too.
 *   Threads    any number of calls may run at once, on disjoint outputs and workspaces. The library has no threads of its own:
 *              a call is serial, or runs on a parallel loop that the host hands in (foveate_execution in c/base.h), or as rounds
 *              of tasks on the host's own threads (c/planned_call.h).
 *   ABI        the library is libfoveate_c.so.FOVEATE_ABI_VERSION; its symbols have the version FOVEATE_1. Within an ABI version
 *              functions and fields at the end of structs are only ever added.
 *
 * The C++ headers beside it have the same calls: foveate_x here is foveate::x there.
 */
#ifndef FOVEATE_FOVEATE_C_H_
#define FOVEATE_FOVEATE_C_H_

#include "foveate/c/additive.h"
#include "foveate/c/attention.h"
#include "foveate/c/base.h"
#include "foveate/c/inspect.h"
#include "foveate/c/kv_cache.h"
#include "foveate/c/linear.h"
#include "foveate/c/planned_call.h"

#endif /* FOVEATE_FOVEATE_C_H_ */
