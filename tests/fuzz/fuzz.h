/* SPDX-License-Identifier: BSD-2-Clause */
/** What a fuzzer calls. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Feeds one input; aborts where something that must hold doesn't. The reader's result. */
int fuzz_one(const uint8_t *data, size_t size);

#endif
