/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libcore/team.h"

/* What follows "NAME: " in the first line of a file that starts with NAME. */
static void
read_value(const char *path, const char *name, char *value, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];
    const char *colon;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) != 0 || (colon = strchr(line, ':')) == NULL)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        (void)snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file != NULL)
        (void)fclose(file);
}

/* The word in brackets. */
static void
read_choice(const char *path, char *value, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[256] = "";
    const char *open;

    if (file == NULL)
        return;
    if (fgets(line, sizeof(line), file) != NULL && (open = strchr(line, '[')) != NULL)
        (void)snprintf(value, size, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
    (void)fclose(file);
}

void
machine_look(struct machine *machine)
{
    struct utsname name;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    memset(machine, 0, sizeof(*machine));
    read_value("/proc/cpuinfo", "model name", machine->cpu, sizeof(machine->cpu));
    read_choice("/sys/kernel/mm/transparent_hugepage/enabled", machine->huge_pages,
                sizeof(machine->huge_pages));
    if (uname(&name) == 0)
        (void)snprintf(machine->system, sizeof(machine->system), "%.80s %.80s %.80s", name.sysname,
                       name.release, name.machine);
    machine->cpus = team_cpus();
    if (pages > 0 && page > 0)
        machine->memory_kib = (uint64_t)pages * ((uint64_t)page / 1024);
    if (getloadavg(machine->load, 3) != 3)
        memset(machine->load, 0, sizeof(machine->load));
}
