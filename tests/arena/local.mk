# SPDX-License-Identifier: BSD-2-Clause
# mhkdf-arenad: its rules by themselves, and the whole of it in a folder of the test's own, with a
# build that takes whoever runs the tests for root.
EXTRA_DIST += tests/lib/arena.py
if WITH_ARENA
check_PROGRAMS += tests/arena/mhkdf-arenad-test tests/arena/client
tests_arena_mhkdf_arenad_test_SOURCES = $(arena_sources)
tests_arena_mhkdf_arenad_test_CPPFLAGS = $(AM_CPPFLAGS) -DMHKDF_TEST_ARENA
tests_arena_mhkdf_arenad_test_CFLAGS = $(AM_CFLAGS)
tests_arena_mhkdf_arenad_test_LDADD = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS) $(CAP_LIBS)

tests_arena_client_LDADD = libcore/libcore.la

arena_scripts = \
	tests/arena/test_client.py \
	tests/arena/test_daemon.py \
	tests/arena/test_hostile.py \
	tests/arena/test_kill.py
TESTS += $(arena_scripts)
EXTRA_DIST += $(arena_scripts)

if HAVE_CMOCKA
arena_tests = tests/arena/test_lease tests/arena/test_limits tests/arena/test_log \
	tests/arena/test_room
check_PROGRAMS += $(arena_tests)
TESTS += $(arena_tests)
tests_arena_test_lease_SOURCES = tests/arena/test_lease.c arena/lease.c arena/lease.h
tests_arena_test_lease_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_arena_test_lease_LDADD = $(CMOCKA_LIBS)

tests_arena_test_limits_SOURCES = tests/arena/test_limits.c arena/limits.c arena/limits.h
tests_arena_test_limits_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_arena_test_limits_LDADD = libcore/libcore.la $(CMOCKA_LIBS)

tests_arena_test_log_SOURCES = tests/arena/test_log.c arena/log.c arena/log.h
tests_arena_test_log_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_arena_test_log_LDADD = $(CMOCKA_LIBS)

tests_arena_test_room_SOURCES = tests/arena/test_room.c arena/room.c arena/room.h \
	arena/limits.c arena/limits.h
tests_arena_test_room_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_arena_test_room_LDADD = libcore/libcore.la $(CMOCKA_LIBS)
endif
else
EXTRA_DIST += tests/arena/test_client.py tests/arena/test_daemon.py \
	tests/arena/test_hostile.py tests/arena/test_kill.py
endif
