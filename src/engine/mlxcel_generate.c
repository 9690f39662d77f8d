/* mlxcel_generate.c - the public interface: one request in the calling thread, on top of jobs. */
#include <string.h>

#include "engine/mlxcel_private.h"

enum {
    ASK_AFTER_MS = 50, /* should_stop is asked at least this often, as far as steps end */
};

/* Gives text to the caller; true when it asks to stop. */
static bool emit(const mlxcel_request *r, const mlxcel_event *event)
{
    return event->n_text_bytes > 0 && r->on_text && r->on_text(r->arg, event->text, event->n_text_bytes) != 0;
}

/* Hands on what comes until the end. What on_text stops ends with the piece that it was given; what should_stop stops
 * ends with what was held back. */
static mlxcel_status listen(mlxcel_job *job, const mlxcel_request *r, mlxcel_result *result, mlxcel_error *err)
{
    bool is_stopped = false;
    mlxcel_event event = {.n_struct_bytes = sizeof event};
    for (;;) {
        if (!is_stopped && r->should_stop && r->should_stop(r->arg) != 0) {
            is_stopped = true;
            mlxcel_job_cancel(job);
        }
        if (mlxcel_job_next(job, r->should_stop && !is_stopped ? ASK_AFTER_MS : -1, &event) == 0) {
            continue;
        }
        *result = *event.result;
        const bool is_enough = emit(r, &event);
        if (is_enough || (is_stopped && event.is_over && event.status == MLXCEL_OK)) {
            result->finish = MLXCEL_FINISH_CANCELLED;
        }
        if (event.is_over && event.status != MLXCEL_OK && err) {
            err->status = event.status;
            memcpy(err->message, event.message, strlen(event.message) + 1);
        }
        if (event.is_over || is_enough) {
            return event.status;
        }
    }
}

mlxcel_status mlxcel_generate(mlxcel_engine *engine, const mlxcel_request *request, mlxcel_result *result,
                              mlxcel_error *err)
{
    mx_error error;
    mlxcel_request given;
    mlxcel_result found = {.i_stop = -1};
    mlxcel_job *job = NULL;
    mlxcel_status st;
    mx_api_read_struct(&given, sizeof given, request);
    if (given.n_choices > 1) {
        st = mx_api_result(mx_fail(&error, MX_INVALID, "%d choices: mlxcel_generate makes one", (int)given.n_choices),
                           &error, err);
    } else {
        given.n_struct_bytes = sizeof given;
        given.on_ready = NULL;
        st = mlxcel_submit(engine, &given, &job, err);
    }
    if (st == MLXCEL_OK) {
        st = listen(job, &given, &found, err);
    }
    mlxcel_job_close(job);
    mx_api_write_struct(result, &found, sizeof found);
    return st;
}
