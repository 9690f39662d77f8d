/* scheduler.c - queue, admission, the plan of a step, pages, and what a step brings. */
#include "engine/scheduler.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/state_reuse.h"
#include "platform/clock.h"
#include "program/batch.h"

mx_status mx_scheduler_init(mx_scheduler *s, mx_engine *engine, const mx_scheduler_options *options, mx_error *err)
{
    const mx_engine_limits *limits = &engine->limits;
    mx_status st;

    assert(limits->max_step_tokens > limits->max_seqs || limits->max_seqs == 1);
    *s = (mx_scheduler){.engine = engine, .options = *options};
    MX_TRY_OR(failed, st, mx_prefix_tree_init(&s->tree, &engine->pages, limits->n_checkpoints, err));
    MX_TRY_OR(failed, st, mx_sampler_scratch_init(&s->scratch, limits->n_vocab, limits->n_ctx, err));
    MX_TRY_OR(failed, st, mx_clients_init(&s->clients, options->max_queue + limits->max_seqs, err));
    s->running = (mx_job **)mx_calloc((size_t)limits->max_seqs, sizeof(mx_job *));
    s->parts = (mx_step_part *)mx_calloc((size_t)limits->max_seqs, sizeof *s->parts);
    s->part_jobs = (mx_job **)mx_calloc((size_t)limits->max_seqs, sizeof(mx_job *));
    if (s->running && s->parts && s->part_jobs) {
        return MX_OK;
    }
    st = mx_fail_no_memory(err, (size_t)limits->max_seqs * sizeof *s->parts, "the scheduler");
failed:
    mx_scheduler_deinit(s);
    return st;
}

void mx_scheduler_deinit(mx_scheduler *s)
{
    assert(s->n_running == 0 && s->n_queued == 0);
    mx_prefix_tree_deinit(&s->tree);
    mx_sampler_scratch_deinit(&s->scratch);
    mx_clients_deinit(&s->clients);
    mx_free(s->running);
    mx_free(s->parts);
    mx_free(s->part_jobs);
    *s = (mx_scheduler){0};
}

/* ---- the queue and the list of running jobs ---- */

static void put_into_queue(mx_scheduler *s, mx_job *job)
{
    mx_job **link = &s->queue;
    while (*link && (*link)->arrival < job->arrival) {
        link = &(*link)->next;
    }
    job->next = *link;
    *link = job;
    job->state = MX_JOB_QUEUED;
    s->n_queued++;
}

static void take_from_queue(mx_scheduler *s, mx_job *job)
{
    mx_job **link = &s->queue;
    while (*link != job) {
        link = &(*link)->next;
    }
    *link = job->next;
    job->next = NULL;
    s->n_queued--;
}

static bool outranks(const mx_job *a, const mx_job *b)
{
    return a->priority > b->priority || (a->priority == b->priority && a->arrival < b->arrival);
}

static void put_among_running(mx_scheduler *s, mx_job *job)
{
    int32_t at = s->n_running++;
    while (at > 0 && outranks(job, s->running[at - 1])) {
        s->running[at] = s->running[at - 1];
        at--;
    }
    s->running[at] = job;
    job->state = MX_JOB_RUNNING;
}

static void take_from_running(mx_scheduler *s, mx_job *job)
{
    int32_t i = 0;
    while (s->running[i] != job) {
        i++;
    }
    s->n_running--;
    memmove(&s->running[i], &s->running[i + 1], (size_t)(s->n_running - i) * sizeof s->running[0]);
}

int32_t mx_scheduler_max_jobs(const mx_scheduler *s)
{
    return s->engine->limits.max_seqs + s->options.max_queue;
}

mx_status mx_scheduler_add(mx_scheduler *s, mx_job *job, mx_error *err)
{
    if (s->n_running + s->n_queued >= mx_scheduler_max_jobs(s)) {
        return mx_fail(err, MX_BUSY, "%d texts are in work or waiting, which is as many as may be: try again later",
                       (int)(s->n_running + s->n_queued));
    }
    job->arrival = s->n_arrivals++;
    job->queued_ns = mx_clock_ns();
    job->kept_page = MX_NO_PAGE;
    job->i_client = mx_clients_enter(&s->clients, job->client);
    put_into_queue(s, job);
    return MX_OK;
}

bool mx_scheduler_has_work(const mx_scheduler *s)
{
    return s->n_running > 0 || s->n_queued > 0;
}

/* ---- the end of a job ---- */

static void give_pages_back(mx_scheduler *s, mx_sequence *seq)
{
    if (seq->n_in_tree > 0) {
        mx_prefix_tree_touch(&s->tree, seq->pages[seq->n_in_tree - 1]);
    }
    mx_sequence_drop_pages(seq);
}

/* The owner may free the job in the call. */
static void end_job(mx_scheduler *s, mx_job *job, const mx_job_update *update)
{
    if (job->state == MX_JOB_RUNNING) {
        take_from_running(s, job);
    } else {
        take_from_queue(s, job);
    }
    give_pages_back(s, &job->generation.sequence);
    mx_clients_leave(&s->clients, job->i_client);
    job->state = MX_JOB_OVER;
    job->over_ns = mx_clock_ns();
    s->counts.n_jobs_over++;
    s->counts.n_jobs_failed += update->status != MX_OK;
    s->counts.n_jobs_cancelled += job->generation.finish == MX_FINISH_CANCELLED;
    job->on_update(job->arg, job, update);
}

static void fail_job(mx_scheduler *s, mx_job *job, mx_status status, const mx_error *err)
{
    end_job(s, job, &(mx_job_update){.is_over = true, .status = status, .err = err});
}

static void cancel_job(mx_scheduler *s, mx_job *job)
{
    mx_error err;
    mx_job_update update = {.is_over = true};
    update.status = mx_generation_cancel(&job->generation, &update.news, &err);
    update.err = update.status != MX_OK ? &err : NULL;
    end_job(s, job, &update);
}

static void drop_cancelled(mx_scheduler *s)
{
    for (int32_t i = s->n_running - 1; i >= 0; i--) {
        if (mx_atomic_load_u32(&s->running[i]->is_cancelled)) {
            cancel_job(s, s->running[i]);
        }
    }
    for (mx_job *job = s->queue, *next; job; job = next) {
        next = job->next;
        if (mx_atomic_load_u32(&job->is_cancelled)) {
            cancel_job(s, job);
        }
    }
}

void mx_scheduler_fail_all(mx_scheduler *s, mx_status status, const mx_error *err)
{
    while (s->n_running > 0) {
        fail_job(s, s->running[s->n_running - 1], status, err);
    }
    while (s->queue) {
        fail_job(s, s->queue, status, err);
    }
}

/* ---- admission ---- */

static int32_t pages_for(int32_t n_positions)
{
    return n_positions / MX_PAGE_TOKENS + (n_positions % MX_PAGE_TOKENS != 0);
}

static int64_t clock_of(const mx_scheduler *s, const mx_job *job)
{
    return s->clients.rows[job->i_client].clock;
}

static void reuse_prefix(mx_scheduler *s, mx_job *job)
{
    mx_sequence *seq = &job->generation.sequence;
    if (!s->options.is_without_prefixes) {
        (void)(s->options.is_recurrent ? mx_state_reuse(s->engine, seq, &s->tree, job->prefix_key)
                                       : mx_sequence_reuse(seq, &s->tree, job->prefix_key));
        if (job->n_preemptions == 0 && job->generation.n_new == 0) {
            job->n_reused = seq->n_cached - job->n_computed;
        }
    }
}

/* Its prompt is being computed by another job, whose pages it can have soon. */
static bool waits_for_leader(const mx_job *job)
{
    return job->leader && job->leader->state != MX_JOB_OVER && job->leader->generation.n_new == 0;
}

/* Who goes next: by priority, then the client that has had the least, then who came first. */
static mx_job *choose_next(const mx_scheduler *s)
{
    mx_job *best = NULL;
    for (mx_job *job = s->queue; job; job = job->next) {
        if (!waits_for_leader(job) && (!best || job->priority > best->priority ||
                                       (job->priority == best->priority && clock_of(s, job) < clock_of(s, best)))) {
            best = job;
        }
    }
    return best;
}

/* Whether there are pages for what the tree does not have of the job's text, and one more for each running text. Takes
 * nothing: the one that goes next may be asked about for many steps. */
static bool has_room(const mx_scheduler *s, const mx_job *job)
{
    const mx_sequence *seq = &job->generation.sequence;
    const mx_kv_pages *pool = &s->engine->pages;
    const int32_t n_found = s->options.is_without_prefixes
                                ? 0
                                : mx_sequence_find_pages(seq, &s->tree, job->prefix_key, s->options.is_recurrent);
    const int32_t n_wanted = pages_for(MX_MIN(seq->n_tokens + 1, seq->max_tokens)) - n_found + s->n_running;
    if (s->n_running == 0 || pool->n_free >= n_wanted) {
        return true;
    }
    int32_t n_evictable = mx_prefix_tree_count_evictable(&s->tree);
    for (int32_t i = 0; i < n_found; i++) {
        n_evictable -= pool->n_users[seq->pages[i]] == 1; /* the job will hold it */
    }
    return pool->n_free + n_evictable >= n_wanted;
}

static void admit(mx_scheduler *s)
{
    while (s->n_running < s->engine->limits.max_seqs) {
        mx_job *job = choose_next(s);
        if (!job || !has_room(s, job)) { /* smaller ones do not overtake, or a large one might wait for ever */
            return;
        }
        take_from_queue(s, job);
        put_among_running(s, job);
        reuse_prefix(s, job);
        if (job->admitted_ns == 0) {
            job->admitted_ns = mx_clock_ns();
            s->clients.rows[job->i_client].clock += job->generation.request.n_prompt - job->n_reused;
        }
    }
}

static void preempt(mx_scheduler *s, mx_job *job)
{
    give_pages_back(s, &job->generation.sequence);
    take_from_running(s, job);
    put_into_queue(s, job);
    job->part.n_rows = 0;
    job->kept_page = MX_NO_PAGE;
    job->n_preemptions++;
    s->counts.n_preemptions++;
}

/* ---- the plan of a step ---- */

/* Rows of texts that are past their prompts. Returns the rows that are left. */
static int32_t plan_answers(mx_scheduler *s)
{
    const mx_engine_limits *limits = &s->engine->limits;
    int32_t n_left = limits->max_step_tokens;
    bool has_prompts = false;
    for (int32_t i = 0; i < s->n_running; i++) {
        const bool is_prefilling = mx_generation_is_prefilling(&s->running[i]->generation);
        has_prompts = has_prompts || is_prefilling;
        n_left -= !is_prefilling;
    }
    int32_t n_spare = MX_MIN(has_prompts ? n_left / 2 : n_left, limits->max_samples - s->n_running);
    for (int32_t i = 0; i < s->n_running; i++) {
        mx_job *job = s->running[i];
        job->part = (mx_step_part){0};
        if (!mx_generation_is_prefilling(&job->generation)) {
            mx_generation_plan(&job->generation, 1 + MX_MAX(n_spare, 0), &job->part);
            n_spare -= job->part.n_rows - 1;
            n_left -= job->part.n_rows - 1;
        }
    }
    return n_left;
}

/* The running job with a prompt to read, and no part yet, that goes next. */
static mx_job *choose_prompt(const mx_scheduler *s)
{
    mx_job *best = NULL;
    for (int32_t i = 0; i < s->n_running; i++) {
        mx_job *job = s->running[i];
        if (job->part.n_rows == 0 && (!best || job->priority > best->priority ||
                                      (job->priority == best->priority && clock_of(s, job) < clock_of(s, best)))) {
            best = job;
        }
    }
    return best;
}

static void plan_prompts(mx_scheduler *s, int32_t n_left)
{
    while (n_left > 0) {
        mx_job *job = choose_prompt(s);
        if (!job) {
            return;
        }
        const int32_t n_reused = job->n_reused;
        reuse_prefix(s, job); /* another job may have computed the next pages since */
        s->clients.rows[job->i_client].clock -= job->n_reused - n_reused;
        const int32_t n_most = s->options.is_recurrent ? mx_state_rows(&job->generation.sequence, n_left) : n_left;
        mx_generation_plan(&job->generation, n_most, &job->part);
        n_left -= job->part.n_rows;
    }
}

/* Pages for every part, by rank; whoever has to give way is behind the one that needs room. */
static void reserve_pages(mx_scheduler *s)
{
    for (int32_t i = 0; i < s->n_running; i++) {
        mx_job *job = s->running[i];
        mx_sequence *seq = &job->generation.sequence;
        while (job->part.n_rows > 0 && mx_sequence_reserve(seq, seq->n_cached + job->part.n_rows, NULL) != MX_OK) {
            if (!mx_prefix_tree_evict(&s->tree)) {
                preempt(s, s->running[s->n_running - 1]);
            }
        }
    }
}

static int32_t collect_parts(mx_scheduler *s)
{
    int32_t n_parts = 0;
    for (int32_t i = 0; i < s->n_running; i++) {
        if (s->running[i]->part.n_rows > 0) {
            s->part_jobs[n_parts] = s->running[i];
            s->parts[n_parts++] = s->running[i]->part;
        }
    }
    return n_parts;
}

/* ---- what a step brings ---- */

static void count_part(mx_scheduler *s, mx_job *job, const mx_step_part *part, int32_t n_new_before)
{
    const mx_generation *g = &job->generation;
    const int32_t n_drawn = g->n_new - n_new_before;
    s->counts.n_new += n_drawn;
    if (n_new_before == 0) {
        job->n_computed += part->n_rows;
    }
    if (n_new_before == 0 || part->n_rows != part->n_logits) {
        s->counts.n_computed += part->n_rows;
        s->counts.n_reused += n_new_before == 0 && n_drawn > 0 ? job->n_reused : 0;
    } else {
        s->counts.n_drafts += part->n_logits - 1;
        s->counts.n_right += n_drawn - 1;
    }
    s->clients.rows[job->i_client].clock += n_drawn;
    if (n_new_before == 0 && n_drawn > 0) {
        job->first_token_ns = mx_clock_ns();
    }
}

/* Full pages go to the tree, and with recurrent layers the state at their border: the last one of the prompt stays,
 * of those of the answer the latest. */
static void publish(mx_scheduler *s, mx_job *job)
{
    mx_generation *g = &job->generation;
    if (s->options.is_without_prefixes) {
        return;
    }
    mx_sequence_publish(&g->sequence, &s->tree, job->prefix_key);
    const int32_t page = s->options.is_recurrent ? mx_state_keep(s->engine, &g->sequence, &s->tree) : MX_NO_PAGE;
    if (page != MX_NO_PAGE && g->sequence.n_cached > g->request.n_prompt) {
        if (job->kept_page != MX_NO_PAGE) {
            mx_prefix_tree_drop_checkpoint(&s->tree, job->kept_page);
        }
        job->kept_page = page;
    }
}

static void take_part(mx_scheduler *s, mx_job *job, const mx_step_part *part)
{
    mx_error err;
    mx_generation *g = &job->generation;
    const int32_t n_new_before = g->n_new;
    mx_job_update update = {0};
    update.status = mx_generation_take(g, &s->scratch, part, &update.news, &err);
    count_part(s, job, part, n_new_before);
    if (update.status != MX_OK) {
        fail_job(s, job, update.status, &err);
        return;
    }
    publish(s, job);
    update.is_over = g->finish != MX_FINISH_NONE;
    if (update.is_over) {
        end_job(s, job, &update);
    } else {
        job->on_update(job->arg, job, &update);
    }
}

void mx_scheduler_step(mx_scheduler *s)
{
    mx_error err;
    drop_cancelled(s);
    admit(s);
    plan_prompts(s, plan_answers(s));
    reserve_pages(s);
    const int32_t n_parts = collect_parts(s);
    if (n_parts == 0) {
        return;
    }
    s->counts.n_steps++;
    const mx_status st = mx_engine_step(s->engine, s->parts, n_parts, &err);
    s->counts.n_failed_steps += st != MX_OK;
    for (int32_t i = 0; i < n_parts; i++) {
        if (st == MX_OK) {
            take_part(s, s->part_jobs[i], &s->parts[i]);
        } else {
            fail_job(s, s->part_jobs[i], st, &err);
        }
    }
    if (st != MX_OK) { /* who knows what the device has left in the cache: texts that had no part begin again, too */
        while (s->n_running > 0) {
            preempt(s, s->running[s->n_running - 1]);
        }
        mx_prefix_tree_clear(&s->tree);
    }
}
