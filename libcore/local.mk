# SPDX-License-Identifier: BSD-2-Clause
# libmhkdf. The convenience library holds all of it, for programs of ours that must not depend on a
# shared library (the PAM module) and for tests of internals; the shared one exports mhkdf_* alone.
include_HEADERS += libcore/mhkdf.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libcore/libmhkdf.pc

noinst_LTLIBRARIES += libcore/libcore.la
libcore_libcore_la_SOURCES = \
	libcore/address.c libcore/address.h \
	libcore/arena.c libcore/arena.h libcore/arena_protocol.h \
	libcore/base64.c libcore/base64.h \
	libcore/blake2b.c libcore/blake2b.h \
	libcore/block.h \
	libcore/bytes.h \
	libcore/cgroup.c libcore/cgroup.h \
	libcore/compress.c libcore/compress.h \
	libcore/crypt.c \
	libcore/derive.c libcore/derive.h \
	libcore/fill.c libcore/fill.h \
	libcore/gensalt.c \
	libcore/headroom.c libcore/headroom.h \
	libcore/inner.c libcore/inner.h \
	libcore/kernel.c libcore/kernel.h libcore/kernel_group.h \
	libcore/kernel_inline.h libcore/kernel_narrow.h libcore/kernel_x86.h \
	libcore/kernel_avx2.c \
	libcore/kernel_avx512.c \
	libcore/kernel_neon.c \
	libcore/kernel_sse2.c \
	libcore/kernel_ssse3.c \
	libcore/memory.c libcore/memory.h \
	libcore/method.c libcore/method.h \
	libcore/mhkdf.h \
	libcore/pace.c libcore/pace.h \
	libcore/procfile.c libcore/procfile.h \
	libcore/random.c \
	libcore/reference.h \
	libcore/setting.c \
	libcore/source.c libcore/source.h \
	libcore/stack.c libcore/stack.h \
	libcore/team.c libcore/team.h \
	libcore/version.c \
	libcore/wipe.c \
	libcore/x86.c libcore/x86.h

lib_LTLIBRARIES += libcore/libmhkdf.la
libcore_libmhkdf_la_SOURCES =
libcore_libmhkdf_la_LIBADD = libcore/libcore.la
libcore_libmhkdf_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/libcore/libmhkdf.map
libcore_libmhkdf_la_DEPENDENCIES = libcore/libcore.la libcore/libmhkdf.map
EXTRA_DIST += libcore/libmhkdf.map

# libtool deletes its own file first, by which it knows these: after it was killed it knows them no more.
uninstall_hooks += uninstall-libmhkdf
uninstall-libmhkdf:
	rm -f "$(DESTDIR)$(libdir)"/libmhkdf.so "$(DESTDIR)$(libdir)"/libmhkdf.so.0*

# The static one: all of libcore as one object, whose only global names are mhkdf_*, since others
# have a blake2b_init too.
if STATIC
staticdir = $(libdir)
static_DATA = libcore/libmhkdf.a
libcore/libmhkdf.a: libcore/libcore.la
	$(AM_V_GEN)rm -f $@ libcore/libmhkdf.o && \
	$(CC) $(AM_CFLAGS) $(CFLAGS) -r -nostdlib $(RELOCATABLE_LDFLAGS) -o libcore/libmhkdf.o \
		-Wl,--whole-archive libcore/.libs/libcore.a -Wl,--no-whole-archive && \
	$(OBJCOPY) --wildcard --keep-global-symbol='mhkdf_*' libcore/libmhkdf.o && \
	$(AR) cr $@ libcore/libmhkdf.o && $(RANLIB) $@
CLEANFILES += libcore/libmhkdf.a libcore/libmhkdf.o
endif
