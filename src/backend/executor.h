/* executor.h - running plans on a device.
 *
 * backend/ holds one folder a device (cpu/, cuda/). An executor owns the device's copy of the weights, the scratch
 * block, the KV cache and the recurrent states, all reserved when it is opened; a step allocates nothing. It is called
 * by one thread at a time (the engine's); it may use many threads inside.
 *
 * States of recurrent programs (mx_program.n_states > 0) lie in n_state_slots slots, each the states of all layers of
 * one sequence behind one position. What that asks of whoever makes batches:
 *   - A sequence holds a slot from its first step to its end, and names it in every step (mx_batch.state_slots).
 *     Nothing clears a slot: a first row of position 0 starts anew in it.
 *   - A state stands behind one position alone, the last that was computed. So to keep a prefix for reuse, a part of
 *     a step ends exactly at a page border, and then mx_executor_copy_state copies the sequence's slot to one that
 *     belongs to the checkpoint. A page border without a checkpoint cannot be gone on from: reuse goes back to the
 *     longest prefix that has both its pages and a checkpoint.
 *   - A sequence that goes on from a checkpoint (and each branch of a fork) first gets a copy of it in its own slot,
 *     then steps from the position behind it, over pages that it shares.
 *   - Preemption by recompute gives the slot back with the pages and starts at position 0, or at a checkpoint.
 *   - Rows cannot be taken back: who may have to (speculation) copies the slot before.
 *   - After a step that failed, the slots of its sequences hold nothing; their pages do.
 */
#ifndef MX_BACKEND_EXECUTOR_H
#define MX_BACKEND_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "parallel/communicator.h"
#include "program/batch.h"
#include "program/plan.h"

typedef struct mx_executor mx_executor;

typedef enum mx_kv_type {
    MX_KV_F16,
    MX_KV_F32,
} mx_kv_type;

/* How exact products with quantised weights are on the CPU. */
typedef enum mx_cpu_mode {
    MX_CPU_EXACT,     /* activations as int16 a group: relative error about 2e-5 */
    MX_CPU_FAST,      /* activations as int8 a group of 32: about 5e-3; opt-in */
    MX_CPU_REFERENCE, /* the plain f32 kernels that define every operation; slow */
} mx_cpu_mode;

typedef struct mx_executor_options {
    int32_t n_pages;       /* pages of MX_PAGE_TOKENS positions in the KV cache, shared by all sequences */
    int32_t n_state_slots; /* slots of recurrent state: at least 1 where the program has states, else not looked at */
    int32_t max_seqs;      /* sequences of the largest step */
    mx_kv_type kv_type;
    int32_t n_threads; /* 0: as many as the machine, its affinity mask and its quota give */
    mx_cpu_mode cpu_mode;
    const char *cpu_isa;     /* "avx2": kernels for this instruction set; NULL: the best that the processor has */
    int32_t i_device;        /* which GPU, set from the device's name; -1: the first that can be used */
    mx_communicator *ranks;  /* of this executor among those that hold a part of each matrix (mx_program.shard), and */
    mx_communicator *stages; /* among those that hold a part of the layers; borrowed, NULL where there are no others */
} mx_executor_options;

/* What a device's folder offers: one row in the table of executor.c. */
typedef struct mx_backend {
    const char *name; /* "cpu" */
    mx_status (*open)(const mx_plan *plan, const mx_executor_options *options, mx_executor **out, mx_error *err);
} mx_backend;

/* The functions of one open executor; the first member of every back end's own struct. */
struct mx_executor {
    const mx_backend *backend;
    mx_status (*run)(mx_executor *executor, const mx_batch *batch, mx_error *err);
    const float *(*view_logits)(const mx_executor *executor);
    mx_status (*copy_state)(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err);
    void (*close)(mx_executor *executor);
};

/* MX_INVALID where no device can have this name; names those that this build has. */
mx_status mx_executor_check_device(const char *device, mx_error *err) MX_NODISCARD;

/* Prepares `plan` on the device called `device` ("cpu", "cuda", "cuda:1"): takes memory, repacks weights, starts
 * threads. The plan, its program and the checkpoint under it must outlive the executor. MX_INVALID (no such device;
 * names those there are), MX_NO_MEMORY, MX_UNSUPPORTED (an operation or format that the device cannot run, named). */
mx_status mx_executor_open(const char *device, const mx_plan *plan, const mx_executor_options *options,
                           mx_executor **out, mx_error *err) MX_NODISCARD;

/* Runs one step. The batch is the engine's and is trusted but for token ids, which are checked: MX_INVALID. MX_DEVICE
 * when the device fails. The executors of a divided model each run in a thread of their own, on the same batch; what
 * their communicator fails with is given too. */
mx_status mx_executor_run(mx_executor *executor, const mx_batch *batch, mx_error *err) MX_NODISCARD;

/* Logits of the last step, [n_samples, n_vocab] f32, borrowed until the next step; the same on every rank. NULL in the
 * stages of a pipeline that do not make them. */
const float *mx_executor_view_logits(const mx_executor *executor);

/* Copies a slot of a recurrent program's state, for the next step to go on from either. MX_DEVICE when the device
 * fails. */
mx_status mx_executor_copy_state(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err) MX_NODISCARD;

/* Frees everything. NULL is fine. */
void mx_executor_close(mx_executor *executor);

#endif
