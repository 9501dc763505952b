/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/bench_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB_PER_GIB (1024.0 * 1024.0)
#define CODE_WIDTH 14

const char *const bench_report_phases[MEASURE_PHASES] = {"fresh", "ready", "jobs"};

const char *
bench_report_pages(const struct measure *measure)
{
    if (measure->resident_kib == 0)
        return "unknown";
    if (measure->huge_kib == 0)
        return "4 KiB";
    return measure->huge_kib >= measure->resident_kib ? "2 MiB" : "mixed";
}

unsigned
bench_report_hashes(const struct measure *measure, enum measure_phase phase)
{
    return phase == MEASURE_JOBS ? measure->jobs : 1;
}

/* Of a path, the file's name. */
static const char *
short_code(const char *code)
{
    const char *slash = strrchr(code, '/');

    return slash == NULL ? code : slash + 1;
}

static void
print_size(FILE *out, uint32_t kib)
{
    char text[16] = "-";

    if (kib > 0 && kib % 1024 == 0)
        (void)snprintf(text, sizeof(text), "%uM", (unsigned)(kib / 1024));
    else if (kib > 0)
        (void)snprintf(text, sizeof(text), "%uK", (unsigned)kib);
    (void)fprintf(out, " %8s", text);
}

static void
print_chain(FILE *out, const struct measure_row *row, double seconds)
{
    if (row->chain_seconds > 0 && seconds > 0)
        (void)fprintf(out, " %8.2f %4.0f%%", row->chain_seconds * 1e3,
                      row->chain_seconds / seconds * 100);
    else
        (void)fprintf(out, " %8s %5s", "-", "-");
}

static int
width_of_names(const struct measure *measure)
{
    size_t width = strlen("engine");

    for (unsigned i = 0; i < measure->count; i++)
        if (strlen(measure->rows[i].engine.name) > width)
            width = strlen(measure->rows[i].engine.name);
    return width > 40 ? 40 : (int)width;
}

static void
print_phase(FILE *out, const struct measure *measure, const struct measure_row *row,
            enum measure_phase phase, int width)
{
    const struct engine *engine = &row->engine;
    const struct measure_row *first = measure->rows;
    unsigned hashes = bench_report_hashes(measure, phase);
    struct stats stats = measure_stats(measure, row, phase);
    double user, system;

    measure_cpu(measure, row, phase, &user, &system);
    (void)fprintf(out, "%-*.40s %-*.*s %5u %3u", width, engine->name, CODE_WIDTH, CODE_WIDTH,
                  short_code(engine->code), (unsigned)engine->cost.lanes, engine->cost.threads);
    print_size(out, engine->cost.memory_kib);
    (void)fprintf(out, " %-5s %9.2f %9.2f %9.2f %9.2f %9.2f", bench_report_phases[phase],
                  stats.median * 1e3, stats.quartile1 * 1e3, stats.quartile3 * 1e3, user * 1e3,
                  system * 1e3);
    if (engine->written_kib > 0)
        (void)fprintf(out, " %6.2f",
                      (double)engine->written_kib * hashes / KIB_PER_GIB / stats.median);
    else
        (void)fprintf(out, " %6s", "-");
    print_chain(out, row, phase == MEASURE_JOBS ? 0 : stats.median);
    if (first->samples[phase] != NULL)
        (void)fprintf(out, " %6.3f", stats.median / measure_stats(measure, first, phase).median);
    else
        (void)fprintf(out, " %6s", "-");
    if (phase == MEASURE_JOBS)
        (void)fprintf(out, " %9.2f", hashes / stats.median);
    (void)fputc('\n', out);
}

static void
print_machine(FILE *out, const struct measure *measure, const struct machine *machine)
{
    (void)fprintf(out, "\n%s, %u CPUs, %.0f GiB, %s, load %.2f\n",
                  machine->cpu[0] == '\0' ? "unknown CPU" : machine->cpu, machine->cpus,
                  (double)machine->memory_kib / KIB_PER_GIB, machine->system, machine->load[0]);
    if (measure->ready_kib > 0)
        (void)fprintf(out, "Ready memory had pages of %s (%.0f%% in huge pages).\n",
                      bench_report_pages(measure),
                      measure->resident_kib == 0
                          ? 0.0
                          : (double)measure->huge_kib / (double)measure->resident_kib * 100);
}

static void
print_notes(FILE *out, const struct measure *measure)
{
    for (unsigned i = 0; i < measure->count; i++) {
        const struct measure_row *row = &measure->rows[i];

        if (strchr(row->engine.code, '/') != NULL)
            (void)fprintf(out, "%s: %s, as built\n", row->engine.name, row->engine.code);
        if (row->wipe_seconds > 0)
            (void)fprintf(out,
                          "%s overwrites its memory at the end, which can't be put off: about "
                          "%.1f ms of its time\n",
                          row->engine.name, row->wipe_seconds * 1e3);
    }
}

char *
bench_report_table(const struct measure *measure, const struct machine *machine)
{
    int width = width_of_names(measure);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    (void)fprintf(out, "%-*s %-*s %5s %3s %8s %-5s %9s %9s %9s %9s %9s %6s %8s %5s %6s%s\n", width,
                  "engine", CODE_WIDTH, "code", "lanes", "thr", "memory", "is", "ms", "25%", "75%",
                  "user", "system", "GiB/s", "chain", "share", "ratio",
                  measure->jobs > 0 ? "  hashes/s" : "");
    for (int phase = 0; phase < MEASURE_PHASES; phase++)
        for (unsigned i = 0; i < measure->count; i++)
            if (measure->rows[i].samples[phase] != NULL)
                print_phase(out, measure, &measure->rows[i], (enum measure_phase)phase, width);
    print_machine(out, measure, machine);
    print_notes(out, measure);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *
bench_report_phctest(const struct measure *measure)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    (void)fprintf(out, "# in out m_cost t_cost time[ms] memory[kb]\n");
    for (unsigned i = 0; i < measure->count; i++) {
        const struct measure_row *row = &measure->rows[i];

        if (row->samples[MEASURE_FRESH] == NULL || !engine_is_fill(&row->engine))
            continue;
        if (measure->count > 1)
            (void)fprintf(out, "# %s\n", row->engine.name);
        (void)fprintf(out, "%d %d %lu %lu %.0f %llu\n", ENGINE_PASSWORD_SIZE, ENGINE_TAG_SIZE,
                      (unsigned long)row->engine.cost.memory_kib,
                      (unsigned long)row->engine.cost.passes,
                      measure_stats(measure, row, MEASURE_FRESH).median * 1e3,
                      (unsigned long long)row->engine.size_kib);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
