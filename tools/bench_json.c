/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench_report.h"

#define KIB_PER_GIB (1024.0 * 1024.0)
#define DIGITS 9 /* of a real number */

/* A number, or null where it isn't known. */
static json_t *
known(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

/* The same for text. */
static json_t *
said(const char *text)
{
    return text[0] == '\0' ? json_null() : json_string_nocheck(text);
}

static json_t *
json_of_sample(const struct measure_sample *sample)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:I}", "sequence", (int)sample->sequence, "seconds",
                     sample->seconds, "user_seconds", sample->user, "system_seconds",
                     sample->system, "page_faults", (json_int_t)sample->faults);
}

static json_t *
json_of_samples(const struct measure *measure, const struct measure_sample *samples)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < measure->runs; i++)
        if (json_array_append_new(array, json_of_sample(&samples[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *
json_of_phase(const struct measure *measure, const struct measure_row *row,
              enum measure_phase phase)
{
    const struct measure_row *first = measure->rows;
    unsigned hashes = bench_report_hashes(measure, phase);
    struct stats stats;
    double user, system, ratio = 0;

    if (row->samples[phase] == NULL)
        return json_null();
    stats = measure_stats(measure, row, phase);
    if (first->samples[phase] != NULL)
        ratio = stats.median / measure_stats(measure, first, phase).median;
    measure_cpu(measure, row, phase, &user, &system);
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:o}", "median_seconds", stats.median,
        "quartile1_seconds", stats.quartile1, "quartile3_seconds", stats.quartile3, "user_seconds",
        user, "system_seconds", system, "gib_per_second",
        known((double)row->engine.written_kib * hashes / KIB_PER_GIB / stats.median), "chain_share",
        known(phase == MEASURE_JOBS ? 0 : row->chain_seconds / stats.median), "ratio", known(ratio),
        "hashes_per_second", hashes / stats.median, "runs",
        json_of_samples(measure, row->samples[phase]));
}

static json_t *
json_of_tag(const struct engine *engine, const uint8_t tag[ENGINE_TAG_SIZE])
{
    char hex[2 * ENGINE_TAG_SIZE + 1];

    if (!engine_is_fill(engine))
        return json_null();
    for (int i = 0; i < ENGINE_TAG_SIZE; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)tag[i]);
    return json_string_nocheck(hex);
}

static json_t *
json_of_row(const struct measure *measure, const struct measure_row *row)
{
    static const char *const functions[] = {"mhkdf1",   "argon2d", "argon2i",
                                            "argon2id", "crypt",   "limit"};
    const struct engine *engine = &row->engine;
    const struct engine_cost *cost = &engine->cost;

    return json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:o, s:o, "
                     "s:o, s:o}",
                     "engine", said(engine->name), "function", functions[engine->function], "code",
                     said(engine->code), "memory_kib", (json_int_t)cost->memory_kib, "passes",
                     (json_int_t)cost->passes, "lanes", (json_int_t)cost->lanes, "chain",
                     (json_int_t)cost->chain, "threads", (json_int_t)cost->threads, "written_kib",
                     (json_int_t)engine->written_kib, "tag", json_of_tag(engine, row->tag),
                     "chain_seconds", known(row->chain_seconds), "first",
                     engine->function == ENGINE_LIMIT ? json_null() : json_of_sample(&row->first),
                     "wipes_memory", engine->wipes, "wipe_seconds", known(row->wipe_seconds),
                     "fresh", json_of_phase(measure, row, MEASURE_FRESH), "ready",
                     json_of_phase(measure, row, MEASURE_READY), "jobs",
                     json_of_phase(measure, row, MEASURE_JOBS));
}

static json_t *
json_of_machine(const struct machine *machine)
{
    return json_pack("{s:o, s:i, s:I, s:o, s:[f, f, f], s:o}", "cpu", said(machine->cpu), "cpus",
                     (int)machine->cpus, "memory_kib", (json_int_t)machine->memory_kib, "system",
                     said(machine->system), "load", machine->load[0], machine->load[1],
                     machine->load[2], "huge_pages", said(machine->huge_pages));
}

char *
bench_report_json(const struct measure *measure, const struct machine *machine)
{
    json_t *rows = json_array(), *document;
    char *json = NULL, *text = NULL;

    for (unsigned i = 0; i < measure->count; i++)
        if (json_array_append_new(rows, json_of_row(measure, &measure->rows[i])) != 0)
            goto out;
    document =
        json_pack("{s:i, s:s, s:i, s:i, s:o, s:{s:I, s:I, s:I, s:s}, s:O}", "schema",
                  BENCH_REPORT_SCHEMA, "version", PACKAGE_VERSION, "runs", (int)measure->runs,
                  "jobs", (int)measure->jobs, "machine", json_of_machine(machine), "ready_memory",
                  "size_kib", (json_int_t)measure->ready_kib, "resident_kib",
                  (json_int_t)measure->resident_kib, "huge_kib", (json_int_t)measure->huge_kib,
                  "pages", bench_report_pages(measure), "rows", rows);
    if (document == NULL)
        goto out;
    json = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
    json_decref(document);
    if (json != NULL && asprintf(&text, "%s\n", json) < 0)
        text = NULL;
out:
    free(json);
    json_decref(rows);
    return text;
}
