# SPDX-License-Identifier: BSD-2-Clause

# MHKDF_FIND_LIBCRYPT: ORIGINAL_LIBCRYPT gets the absolute path of the distribution's libcrypt, by
# its soname, so that a later file of that soname is found too; ORIGINAL_LIBCRYPT_OTHER the same
# with or without /usr in front; CRYPT_SONAME its soname. Needs READELF.
AC_DEFUN([MHKDF_FIND_LIBCRYPT], [
    AC_MSG_CHECKING([for the distribution's libcrypt])
    for mhkdf_name in libcrypt.so.1 libcrypt.so.2; do
        AS_IF([test "x$ORIGINAL_LIBCRYPT" = x],
            [mhkdf_file=`$CC $CFLAGS -print-file-name=$mhkdf_name 2>/dev/null`
             AS_CASE([$mhkdf_file], [/*],
                [# Without the .. of the compiler's folders.
                 mhkdf_folder=`dirname "$mhkdf_file"`
                 ORIGINAL_LIBCRYPT=`cd "$mhkdf_folder" && pwd -P`/$mhkdf_name])])
    done
    AS_CASE([$ORIGINAL_LIBCRYPT],
        [/*], [],
        [''], [AC_MSG_ERROR([not found; name it with --with-original-libcrypt=FILE, or --without-crypt-front])],
        [AC_MSG_ERROR([--with-original-libcrypt=$ORIGINAL_LIBCRYPT: an absolute path is needed])])
    AC_MSG_RESULT([$ORIGINAL_LIBCRYPT])
    AC_MSG_CHECKING([for its soname])
    CRYPT_SONAME=`LC_ALL=C $READELF -dW "$ORIGINAL_LIBCRYPT" 2>/dev/null | $SED -n 's/.*(SONAME).*: .\(.*\).$/\1/p'`
    AC_MSG_RESULT([$CRYPT_SONAME])
    AS_IF([test "x$CRYPT_SONAME" = x],
        [AC_MSG_ERROR([$ORIGINAL_LIBCRYPT is no shared library with a soname; --with-original-libcrypt=FILE, or --without-crypt-front])])
    AS_IF([test "`basename "$ORIGINAL_LIBCRYPT"`" != "$CRYPT_SONAME"],
        [AC_MSG_WARN([$ORIGINAL_LIBCRYPT isn't named $CRYPT_SONAME: after an update that changes its name it would not be found])])
    AS_CASE([$ORIGINAL_LIBCRYPT],
        [/usr/*], [ORIGINAL_LIBCRYPT_OTHER=`echo "$ORIGINAL_LIBCRYPT" | $SED 's,^/usr,,'`],
        [ORIGINAL_LIBCRYPT_OTHER=/usr$ORIGINAL_LIBCRYPT])
])
