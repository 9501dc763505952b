# SPDX-License-Identifier: BSD-2-Clause
# Tests of what the compiler and linker know. Each flag is tried alone, with warnings as errors, since
# clang only warns about flags that it doesn't know.

# MHKDF_TRY_CFLAGS(VARIABLE, FLAGS): VARIABLE gets those of FLAGS that the compiler takes.
AC_DEFUN([MHKDF_TRY_CFLAGS], [
    AC_SUBST([$1])
    for mhkdf_flag in m4_normalize([$2]); do
        AC_MSG_CHECKING([whether $CC takes $mhkdf_flag])
        mhkdf_saved=$CFLAGS
        CFLAGS="$CFLAGS -Werror $mhkdf_flag"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
            [AC_MSG_RESULT([yes]); $1="$$1 $mhkdf_flag"], [AC_MSG_RESULT([no])])
        CFLAGS=$mhkdf_saved
    done
])

# MHKDF_TRY_LDFLAGS(VARIABLE, FLAGS): the same for the linker.
AC_DEFUN([MHKDF_TRY_LDFLAGS], [
    AC_SUBST([$1])
    for mhkdf_flag in m4_normalize([$2]); do
        AC_MSG_CHECKING([whether the linker takes $mhkdf_flag])
        mhkdf_saved=$LDFLAGS
        LDFLAGS="$LDFLAGS $mhkdf_flag"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
            [AC_MSG_RESULT([yes]); $1="$$1 $mhkdf_flag"], [AC_MSG_RESULT([no])])
        LDFLAGS=$mhkdf_saved
    done
])

# MHKDF_TRY_RELOCATABLE(VARIABLE, FLAGS): the same for a link that makes an object (ld -r).
AC_DEFUN([MHKDF_TRY_RELOCATABLE], [
    AC_SUBST([$1])
    for mhkdf_flag in m4_normalize([$2]); do
        AC_MSG_CHECKING([whether the linker takes -r $mhkdf_flag])
        mhkdf_result=no
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
            [AS_IF([$CC $CFLAGS -Werror -r -nostdlib $mhkdf_flag -o conftest-r.$ac_objext \
                    conftest.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1],
                [mhkdf_result=yes; $1="$$1 $mhkdf_flag"])])
        rm -f conftest-r.$ac_objext
        AC_MSG_RESULT([$mhkdf_result])
    done
])

# MHKDF_TRY_FORTIFY(VARIABLE): the highest _FORTIFY_SOURCE that works without a warning, unless the
# builder has set one; it needs optimisation, so it is not forced on a build with -O0.
AC_DEFUN([MHKDF_TRY_FORTIFY], [
    AC_SUBST([$1])
    AS_CASE([" $CPPFLAGS $CFLAGS "], [*_FORTIFY_SOURCE*], [],
        [for mhkdf_level in 3 2; do
            AC_MSG_CHECKING([whether _FORTIFY_SOURCE=$mhkdf_level works])
            mhkdf_saved=$CFLAGS
            CFLAGS="$CFLAGS -Werror -D_FORTIFY_SOURCE=$mhkdf_level"
            AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[]])],
                [AC_MSG_RESULT([yes]); $1="-D_FORTIFY_SOURCE=$mhkdf_level"],
                [AC_MSG_RESULT([no])])
            CFLAGS=$mhkdf_saved
            test -z "$$1" || break
        done])
])

# MHKDF_TRY_PIE: PIE_CFLAGS and PIE_LDFLAGS for programs.
AC_DEFUN([MHKDF_TRY_PIE], [
    MHKDF_TRY_CFLAGS([PIE_CFLAGS], [-fPIE])
    MHKDF_TRY_LDFLAGS([PIE_LDFLAGS], [-pie])
])

# MHKDF_INSIDE(NAME, LIBRARY, FLAGS, PROGRAM): NAME_LIBS becomes the static LIBRARY where there is one
# with which PROGRAM links by FLAGS.
AC_DEFUN([MHKDF_INSIDE], [
    AC_CACHE_CHECK([for $2 to put inside], [mhkdf_cv_inside_$1],
        [mhkdf_cv_inside_$1=$$1_LIBS
         mhkdf_saved_LIBS=$LIBS
         mhkdf_saved=$CFLAGS
         LIBS="-l:$2 $LIBS"
         CFLAGS="$CFLAGS $3 $$1_CFLAGS"
         AC_LINK_IFELSE([AC_LANG_SOURCE([$4])], [mhkdf_cv_inside_$1=-l:$2])
         LIBS=$mhkdf_saved_LIBS
         CFLAGS=$mhkdf_saved])
    $1_LIBS=$mhkdf_cv_inside_$1
])
