# SPDX-License-Identifier: BSD-2-Clause
# The PAM module as programs see it, through libpam, without root. It is built a second time, to
# find its files where the test puts them.
EXTRA_DIST += tests/pam/exports.sh tests/pam/test_pam_check

if WITH_PAM
TESTS += tests/pam/exports.sh tests/pam/test_pam_check

if HAVE_CMOCKA
if HAVE_PAM_WRAPPER
check_LTLIBRARIES += tests/pam/pam_mhkdf_test.la
tests_pam_pam_mhkdf_test_la_SOURCES = $(pam_sources)
tests_pam_pam_mhkdf_test_la_CPPFLAGS = $(AM_CPPFLAGS) -DMHKDF_TEST_PLACE
tests_pam_pam_mhkdf_test_la_LIBADD = $(pam_libs)
tests_pam_pam_mhkdf_test_la_LDFLAGS = $(pam_ldflags) -rpath /nonexistent

pam_test_programs = tests/pam/test_arena tests/pam/test_auth tests/pam/test_helper \
	tests/pam/test_history tests/pam/test_limits tests/pam/test_names tests/pam/test_password \
	tests/pam/test_policy tests/pam/test_raise tests/pam/test_upgrade \
	tests/pam/test_warning
check_PROGRAMS += $(pam_test_programs)
TESTS += $(pam_test_programs)
pam_test_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS) \
	-DTEST_MODULE='"$(abs_top_builddir)/tests/pam/.libs/pam_mhkdf_test.so"' \
	-DTEST_WRAPPER='"$(PAM_WRAPPER_LIBS)"' -DTEST_WRAPPER_MODULES='"$(PAM_WRAPPER_MODULES)"'
pam_test_ldadd = policy/libpolicy.la libcore/libcore.la $(CMOCKA_LIBS) $(PAM_LIBS) \
	$(SELINUX_LIBS) $(AUDIT_LIBS)

tests_pam_test_arena_SOURCES = tests/pam/test_arena.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/sanitized.h tests/lib/scratch.h
tests_pam_test_arena_CFLAGS = $(pam_test_cflags)
tests_pam_test_arena_LDADD = $(pam_test_ldadd)

tests_pam_test_auth_SOURCES = tests/pam/test_auth.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_auth_CFLAGS = $(pam_test_cflags)
tests_pam_test_auth_LDADD = $(pam_test_ldadd)

check_PROGRAMS += tests/pam/mhkdf_chkpwd_test
tests_pam_mhkdf_chkpwd_test_SOURCES = $(chkpwd_sources)
tests_pam_mhkdf_chkpwd_test_CPPFLAGS = $(AM_CPPFLAGS) -DMHKDF_TEST_PLACE
tests_pam_mhkdf_chkpwd_test_LDADD = $(chkpwd_libs)

tests_pam_test_helper_SOURCES = tests/pam/test_helper.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_helper_CFLAGS = $(pam_test_cflags) \
	-DTEST_CHKPWD='"$(abs_top_builddir)/tests/pam/mhkdf_chkpwd_test"'
tests_pam_test_helper_LDADD = $(pam_test_ldadd)

tests_pam_test_history_SOURCES = tests/pam/test_history.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_history_CFLAGS = $(pam_test_cflags)
tests_pam_test_history_LDADD = $(pam_test_ldadd)

tests_pam_test_limits_SOURCES = tests/pam/test_limits.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/sanitized.h tests/lib/scratch.h
tests_pam_test_limits_CFLAGS = $(pam_test_cflags)
tests_pam_test_limits_LDADD = $(pam_test_ldadd)

# names.c as it is installed; what it asks libc goes to the test.
tests_pam_test_names_SOURCES = tests/pam/test_names.c pam/names.c pam/names.h
tests_pam_test_names_CFLAGS = $(pam_test_cflags)
tests_pam_test_names_LDADD = $(CMOCKA_LIBS)
tests_pam_test_names_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=getpwnam_r,--wrap=getgrnam_r,--wrap=getgrouplist

tests_pam_test_password_SOURCES = tests/pam/test_password.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_password_CFLAGS = $(pam_test_cflags)
tests_pam_test_password_LDADD = $(pam_test_ldadd)

tests_pam_test_policy_SOURCES = tests/pam/test_policy.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_policy_CFLAGS = $(pam_test_cflags)
tests_pam_test_policy_LDADD = $(pam_test_ldadd)

# limits.c alone, with the kernel's answers.
tests_pam_test_raise_SOURCES = tests/pam/test_raise.c pam/limits.c pam/limits.h
tests_pam_test_raise_CFLAGS = $(pam_test_cflags)
tests_pam_test_raise_LDADD = $(pam_test_ldadd)
tests_pam_test_raise_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getrlimit,--wrap=setrlimit

tests_pam_test_warning_SOURCES = tests/pam/test_warning.c tests/pam/stage.c tests/pam/stage.h \
	tests/lib/scratch.h
tests_pam_test_warning_CFLAGS = $(pam_test_cflags)
tests_pam_test_warning_LDADD = $(pam_test_ldadd)

# upgrade.c alone.
tests_pam_test_upgrade_SOURCES = tests/pam/test_upgrade.c pam/upgrade.c pam/upgrade.h
tests_pam_test_upgrade_CFLAGS = $(pam_test_cflags)
tests_pam_test_upgrade_LDADD = $(pam_test_ldadd) $(INIH_LIBS) $(CRYPT_LIBS)
tests_pam_test_upgrade_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=newhash_make,--wrap=shadow_change
endif
endif
endif
