/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/machine.h"
#include "bench/measure.h"
#include "libcore/mhkdf.h"
#include "libcore/team.h"
#include "policy/size.h"
#include "tools/bench_report.h"
#include "tools/message.h"
#include "tools/options.h"
#include "tools/status.h"

#define COMMAND "bench"
#define CHAIN_MAX 12
#define RUNS_DEFAULT 7
#define BAR_WIDTH 40

enum {
    MEMORY,
    PASSES,
    LANES,
    THREADS,
    CHAIN,
    KERNEL,
    LIBARGON2,
    RUNS,
    READY,
    JOBS,
    MEMMOVE,
    JSON,
    PHCTEST,
    OPTION_COUNT
};

/* What the options ask for. */
struct order {
    struct engine_cost cost;
    const char *libargon2;
    uint32_t runs;
    uint32_t jobs;
};

static int
read_memory(const char *given, uint32_t *memory_kib)
{
    int rc = 0;

    if (given != NULL && (rc = size_parse_kib(given, memory_kib)) == EINVAL)
        rc = size_parse_number(given, MHKDF_MEMORY_MAX_KIB, memory_kib);
    if (rc == ERANGE)
        message_error(COMMAND, "--memory: \"%.40s\" is more than 4294967295K", given);
    else if (rc != 0)
        message_error(COMMAND,
                      "--memory: \"%.40s\" is not a size; a whole number of KiB, or with K, M or "
                      "G, was expected, such as 64M",
                      given);
    return rc == 0 ? STATUS_OK : STATUS_TROUBLE;
}

static int
read_count(const struct options_entry *entry, uint32_t max, uint32_t *count)
{
    int rc = entry->given == NULL ? 0 : size_parse_number(entry->given, max, count);

    if (rc == 0 && (entry->given == NULL || *count >= 1))
        return STATUS_OK;
    message_error(COMMAND, "--%s: \"%.40s\" is not a whole number from 1 to %lu", entry->name,
                  entry->given, (unsigned long)max);
    return STATUS_TROUBLE;
}

static int
read_chain(const char *given, uint32_t *chain)
{
    if (given == NULL || (size_parse_number(given, CHAIN_MAX, chain) == 0 &&
                          (*chain == 0 || *chain == 3 || *chain == 6 || *chain == 12)))
        return STATUS_OK;
    message_error(COMMAND, "--chain: \"%.40s\" is none of 0, 3, 6, 12", given);
    return STATUS_TROUBLE;
}

static int
read_order(const struct options_entry *entries, struct order *order)
{
    unsigned cpus = team_cpus();
    uint32_t threads = cpus < ENGINE_THREADS_MAX ? cpus : ENGINE_THREADS_MAX;

    *order = (struct order){.cost = {.memory_kib = MHKDF_MEMORY_DEFAULT_KIB,
                                     .lanes = MHKDF_LANES_DEFAULT,
                                     .chain = MHKDF_CHAIN_DEFAULT,
                                     .kernel = entries[KERNEL].given},
                            .libargon2 = entries[LIBARGON2].given,
                            .runs = RUNS_DEFAULT};
    if (read_memory(entries[MEMORY].given, &order->cost.memory_kib) != 0 ||
        read_count(&entries[PASSES], MHKDF_PASSES_MAX, &order->cost.passes) != 0 ||
        read_count(&entries[LANES], MHKDF_LANES_MAX, &order->cost.lanes) != 0 ||
        read_count(&entries[THREADS], ENGINE_THREADS_MAX, &threads) != 0 ||
        read_chain(entries[CHAIN].given, &order->cost.chain) != 0 ||
        read_count(&entries[RUNS], MEASURE_RUNS_MAX, &order->runs) != 0 ||
        read_count(&entries[JOBS], MEASURE_JOBS_MAX, &order->jobs) != 0)
        return STATUS_TROUBLE;
    order->cost.threads = threads;
    if (entries[JSON].given != NULL && entries[PHCTEST].given != NULL) {
        message_error(COMMAND, "--json and --phctest can't be given together");
        return STATUS_TROUBLE;
    }
    if (entries[READY].given != NULL && entries[PHCTEST].given != NULL) {
        message_error(COMMAND, "--phctest is about fresh memory, which --ready leaves out");
        return STATUS_TROUBLE;
    }
    return STATUS_OK;
}

/* Options that no engine of this run heeds are a mistake. */
static int
check_heeded(const struct options_entry *entries, const struct measure *measure)
{
    int chains = 0, kernels = 0;

    for (unsigned i = 0; i < measure->count; i++) {
        chains |= measure->rows[i].engine.function == ENGINE_MHKDF1;
        kernels |= measure->rows[i].engine.kind == &engine_ours;
    }
    if (entries[CHAIN].given != NULL && !chains)
        message_error(COMMAND, "--chain is only for the engine mhkdf, which isn't measured");
    else if (entries[KERNEL].given != NULL && !kernels)
        message_error(COMMAND, "--kernel is only for mhkdf, argon2d, argon2i and argon2id, none of "
                               "which is measured");
    else
        return STATUS_OK;
    return STATUS_TROUBLE;
}

static int
add_engine(struct measure *measure, const char *specification, const struct order *order)
{
    char error[ENGINE_ERROR_SIZE];

    if (measure->count == MEASURE_ENGINES_MAX) {
        message_error(COMMAND, "more than %d engines", MEASURE_ENGINES_MAX);
        return STATUS_TROUBLE;
    }
    if (engine_open(&measure->rows[measure->count].engine, specification, &order->cost,
                    order->libargon2, error) != 0) {
        message_error(COMMAND, "%s", error);
        return STATUS_TROUBLE;
    }
    measure->count++;
    return STATUS_OK;
}

static int
add_engines(struct measure *measure, const struct options *options, const struct order *order)
{
    static const char *const ours[] = {"mhkdf", "argon2d", "argon2i", "argon2id"};
    size_t given = options->operands_count;
    size_t count = given > 0 ? given : sizeof(ours) / sizeof(ours[0]);

    for (size_t i = 0; i < count; i++)
        if (add_engine(measure, given > 0 ? options->operands[i] : ours[i], order) != 0)
            return STATUS_TROUBLE;
    if (options->entries[MEMMOVE].given == NULL)
        return STATUS_OK;
    return add_engine(measure, "copy", order) == 0 ? add_engine(measure, "random", order)
                                                   : STATUS_TROUBLE;
}

/* A bar on standard error, which is a terminal. */
static void
show_progress(void *ctx, unsigned done, unsigned total)
{
    char line[BAR_WIDTH + 32], bar[BAR_WIDTH + 1];
    unsigned filled = (unsigned)((unsigned long long)done * BAR_WIDTH / total);
    int len;

    (void)ctx;
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', filled);
    bar[BAR_WIDTH] = '\0';
    len = snprintf(line, sizeof(line), "\r[%s] %u/%u", bar, done, total);
    if (write(STDERR_FILENO, line, (size_t)len) < 0)
        return; /* nobody looks */
}

static void
clear_progress(void)
{
    if (write(STDERR_FILENO, "\r\033[K", 4) < 0)
        return;
}

static int
print_report(const struct options_entry *entries, const struct measure *measure,
             const struct machine *machine)
{
    char *text;
    int rc = STATUS_TROUBLE;

    if (entries[JSON].given != NULL)
        text = bench_report_json(measure, machine);
    else if (entries[PHCTEST].given != NULL)
        text = bench_report_phctest(measure);
    else
        text = bench_report_table(measure, machine);
    if (text == NULL)
        message_error(COMMAND, "not enough memory for the report");
    else
        rc = message_output(COMMAND, text);
    free(text);
    return rc;
}

static int
measure_and_report(const struct options *options, struct measure *measure)
{
    int progress = isatty(STDERR_FILENO);
    char error[ENGINE_ERROR_SIZE];
    struct machine machine;
    int rc;

    machine_look(&machine);
    measure->progress = progress ? show_progress : NULL;
    rc = measure_run(measure, error);
    if (progress)
        clear_progress();
    if (rc == 0)
        return print_report(options->entries, measure, &machine);
    message_error(COMMAND, "%s", error);
    return STATUS_TROUBLE;
}

static int
run(const struct options *options)
{
    struct measure measure = {.ready_only = options->entries[READY].given != NULL};
    struct order order;
    int rc = STATUS_TROUBLE;

    if (read_order(options->entries, &order) != 0)
        return rc;
    measure.runs = order.runs;
    measure.jobs = order.jobs;
    measure.rows = calloc(MEASURE_ENGINES_MAX, sizeof(*measure.rows));
    if (measure.rows == NULL) {
        message_error(COMMAND, "not enough memory");
        return rc;
    }
    if (add_engines(&measure, options, &order) == 0 &&
        check_heeded(options->entries, &measure) == 0)
        rc = measure_and_report(options, &measure);
    measure_free(&measure);
    free(measure.rows);
    return rc;
}

int
bench_run(int argc, char **argv)
{
    struct options_entry entries[OPTION_COUNT] = {
        [MEMORY] = {"memory", "SIZE", "KiB, or a number and K, M or G [64M]", NULL, 'm'},
        [PASSES] = {"passes", "N", "passes over it, from 1 [1; argon2: 3]", NULL, 't'},
        [LANES] = {"lanes", "N", "lanes, 1 to 64 [4]", NULL, 'p'},
        [THREADS] = {"threads", "N", "at most N threads [as many as CPUs]", NULL, 0},
        [CHAIN] = {"chain", "N", "mhkdf's chain: 0, 3, 6 or 12 [6]", NULL, 0},
        [KERNEL] = {"kernel", "NAME", "our code for one instruction set [fastest]", NULL, 0},
        [LIBARGON2] = {"libargon2", "PATH", "what libargon2 is [libargon2.so.1]", NULL, 0},
        [RUNS] = {"runs", "N", "runs of each, 1 to 1000 [7]", NULL, 0},
        [READY] = {"ready", NULL, "with memory ready only", NULL, 0},
        [JOBS] = {"jobs", "N", "also N processes at once", NULL, 0},
        [MEMMOVE] = {"memmove", NULL, "also what the memory allows: copy, random", NULL, 0},
        [JSON] = {"json", NULL, "print a JSON document", NULL, 0},
        [PHCTEST] = {"phctest", NULL, "print rows as PHCtest does", NULL, 0},
    };
    char *engines[MEASURE_ENGINES_MAX];
    struct options options = {
        .command = COMMAND,
        .usage = "mhkdf bench [OPTION ...] [ENGINE ...]",
        .about = "Measures how long hashes take on this machine, in turn, and prints a table.\n"
                 "\n"
                 "engines:\n"
                 "  mhkdf, argon2d, argon2i, argon2id   ours; all four if none is named\n"
                 "  libargon2d, libargon2i, libargon2id [:PATH]\n"
                 "                                      the reference implementation\n"
                 "  crypt:PREFIX[:COUNT]                crypt(3), such as 'crypt:$y$:5'\n"
                 "  copy, random                        what the memory allows\n"
                 "ENGINE,KEY=VALUE,... sets m, t, p, c, threads or kernel for this one.\n",
        .entries = entries,
        .count = OPTION_COUNT,
        .operand_hint = "at most 64 engines were expected",
        .operands = engines,
        .operands_max = MEASURE_ENGINES_MAX,
    };

    switch (options_read(&options, argc, argv)) {
    case OPTIONS_HELP:
        return STATUS_OK;
    case OPTIONS_ERROR:
        break;
    case OPTIONS_GO:
        return run(&options);
    }
    return STATUS_TROUBLE;
}
