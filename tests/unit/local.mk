# SPDX-License-Identifier: BSD-2-Clause
# Tests of functions, each program one file of the library. They are linked with the convenience
# libraries, which show internals.
if HAVE_CMOCKA
unit_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ldadd = libcore/libcore.la $(CMOCKA_LIBS)
unit_tests =

unit_tests += tests/unit/test_anycrypt
tests_unit_test_anycrypt_CFLAGS = $(unit_cflags)
tests_unit_test_anycrypt_LDADD = policy/libpolicy.la $(unit_ldadd)

unit_tests += tests/unit/test_account
tests_unit_test_account_SOURCES = tests/unit/test_account.c tests/lib/scratch.h
tests_unit_test_account_CFLAGS = $(unit_cflags)
tests_unit_test_account_LDADD = policy/libpolicy.la $(unit_ldadd)

unit_tests += tests/unit/test_apart
tests_unit_test_apart_CFLAGS = $(unit_cflags)
tests_unit_test_apart_LDADD = policy/libpolicy.la $(unit_ldadd)

unit_tests += tests/unit/test_config
tests_unit_test_config_SOURCES = tests/unit/test_config.c tests/lib/scratch.h
tests_unit_test_config_CFLAGS = $(unit_cflags)
tests_unit_test_config_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)

unit_tests += tests/unit/test_config_lookup
tests_unit_test_config_lookup_SOURCES = tests/unit/test_config_lookup.c tests/lib/scratch.h
tests_unit_test_config_lookup_CFLAGS = $(unit_cflags)
tests_unit_test_config_lookup_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)

# The choice of a kernel as test builds make it.
check_LTLIBRARIES += tests/unit/libforced.la
tests_unit_libforced_la_SOURCES = libcore/kernel.c
tests_unit_libforced_la_CPPFLAGS = $(AM_CPPFLAGS) -DMHKDF_TESTING

unit_tests += tests/unit/test_forced_kernel
tests_unit_test_forced_kernel_CFLAGS = $(unit_cflags)
tests_unit_test_forced_kernel_LDADD = tests/unit/libforced.la $(unit_ldadd)

unit_tests += tests/unit/test_headroom
tests_unit_test_headroom_CFLAGS = $(unit_cflags)
tests_unit_test_headroom_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_kernel
tests_unit_test_kernel_SOURCES = tests/unit/test_kernel.c tests/unit/hex.h \
	tests/unit/plain_kernel.h tests/unit/vectors.h
tests_unit_test_kernel_CFLAGS = $(unit_cflags)
tests_unit_test_kernel_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_known_answers
tests_unit_test_known_answers_SOURCES = tests/unit/test_known_answers.c tests/unit/hex.h
tests_unit_test_known_answers_CFLAGS = $(unit_cflags)
tests_unit_test_known_answers_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_line
tests_unit_test_line_CFLAGS = $(unit_cflags)
tests_unit_test_line_LDADD = policy/libpolicy.la $(unit_ldadd)

unit_tests += tests/unit/test_loaded
tests_unit_test_loaded_SOURCES = tests/unit/test_loaded.c tests/lib/scratch.h
tests_unit_test_loaded_CFLAGS = $(unit_cflags)
tests_unit_test_loaded_LDADD = policy/libpolicy.la $(unit_ldadd) $(DL_LIBS)

unit_tests += tests/unit/test_lockout
tests_unit_test_lockout_SOURCES = tests/unit/test_lockout.c tests/lib/scratch.h
tests_unit_test_lockout_CFLAGS = $(unit_cflags)
tests_unit_test_lockout_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)

unit_tests += tests/unit/test_newhash
tests_unit_test_newhash_CFLAGS = $(unit_cflags)
tests_unit_test_newhash_LDADD = policy/libpolicy.la $(unit_ldadd)
tests_unit_test_newhash_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=crypt_checksalt,--wrap=crypt_r,--wrap=crypt_gensalt_rn,--wrap=loaded_is_current

unit_tests += tests/unit/test_process
tests_unit_test_process_SOURCES = tests/unit/test_process.c tests/unit/hex.h
tests_unit_test_process_CFLAGS = $(unit_cflags)
tests_unit_test_process_LDADD = $(unit_ldadd)
tests_unit_test_process_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pthread_create,--wrap=mmap,--wrap=mmap64,--wrap=munmap,--wrap=madvise

unit_tests += tests/unit/test_unshadowed
tests_unit_test_unshadowed_CFLAGS = $(unit_cflags)
tests_unit_test_unshadowed_LDADD = policy/libpolicy.la $(unit_ldadd)

unit_tests += tests/unit/test_pace
tests_unit_test_pace_CFLAGS = $(unit_cflags)
tests_unit_test_pace_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_memory
tests_unit_test_memory_CFLAGS = $(unit_cflags)
tests_unit_test_memory_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_random
tests_unit_test_random_CFLAGS = $(unit_cflags)
tests_unit_test_random_LDADD = $(unit_ldadd)
tests_unit_test_random_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getrandom,--wrap=open,--wrap=open64

if WITH_PAM
unit_tests += tests/unit/test_room
tests_unit_test_room_SOURCES = tests/unit/test_room.c pam/dummy.c pam/dummy.h \
	pam/leasing.c pam/leasing.h
tests_unit_test_room_CFLAGS = $(unit_cflags)
tests_unit_test_room_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)
tests_unit_test_room_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=headroom_check
endif

unit_tests += tests/unit/test_setting
tests_unit_test_setting_CFLAGS = $(unit_cflags)
tests_unit_test_setting_LDADD = $(unit_ldadd)
tests_unit_test_setting_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap,--wrap=mmap64

# policy's files with their system calls passing through the test's faults.
check_LTLIBRARIES += tests/unit/libfaulty.la
tests_unit_libfaulty_la_SOURCES = tests/unit/faults.h \
	policy/account.c policy/aging.c policy/apart.c policy/audit.c policy/calm.c \
	policy/descriptors.c policy/file.c policy/label.c policy/line.c policy/line_read.c policy/lock.c \
	policy/replace.c policy/shadow.c policy/xattr.c
tests_unit_libfaulty_la_CPPFLAGS = $(AM_CPPFLAGS) $(SELINUX_CFLAGS) $(AUDIT_CFLAGS) \
	-include $(top_srcdir)/tests/unit/faults.h

unit_tests += tests/unit/test_shadow
tests_unit_test_shadow_SOURCES = tests/unit/test_shadow.c tests/unit/fake_security.c \
	tests/unit/fake_security.h tests/unit/faults.h tests/lib/scratch.h
tests_unit_test_shadow_CFLAGS = $(unit_cflags)
tests_unit_test_shadow_LDADD = tests/unit/libfaulty.la $(unit_ldadd)

unit_tests += tests/unit/test_strength
tests_unit_test_strength_CFLAGS = $(unit_cflags)
tests_unit_test_strength_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)

unit_tests += tests/unit/test_vectors
tests_unit_test_vectors_SOURCES = tests/unit/test_vectors.c tests/unit/hex.h tests/unit/vectors.h
tests_unit_test_vectors_CFLAGS = $(unit_cflags)
tests_unit_test_vectors_LDADD = $(unit_ldadd)

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

# What is written about the software, and what its shared objects show.
unit_scripts = \
	tests/unit/test_docs \
	tests/unit/test_exports
TESTS += $(unit_scripts)
EXTRA_DIST += $(unit_scripts)
