# SPDX-License-Identifier: BSD-2-Clause
# The library in front of the distribution's libcrypt, and what puts it in place. graft is for
# packagers: it copies libcore, crypt_methods and crypt-mhkdf.c into libxcrypt's source
# (doc/LIBCRYPT.md), and nothing of that is built here.
EXTRA_DIST += \
	crypt-plugin/crypt-mhkdf.c \
	crypt-plugin/crypt.5.in \
	crypt-plugin/front/known-answers.vec \
	crypt-plugin/front/map_symbols \
	crypt-plugin/front/mhkdf-libcrypt.in \
	crypt-plugin/graft

if WITH_CRYPT_FRONT
# One file in a folder of its own, where only /etc/ld.so.conf.d leads: libtool would install it
# under several names, and not in one step.
frontdir = $(libdir)/mhkdf
front_library = crypt-plugin/front/$(CRYPT_SONAME)
folders += $(frontdir)
folders_of_ours += $(frontdir)
noinst_LTLIBRARIES += crypt-plugin/libfront.la
noinst_DATA += $(front_library)
CLEANFILES += $(front_library) crypt-plugin/front/front.map crypt-plugin/front/symbols.h

crypt_plugin_libfront_la_SOURCES = \
	crypt-plugin/crypt_methods.c crypt-plugin/crypt_methods.h \
	crypt-plugin/front/front.c \
	crypt-plugin/front/original.c crypt-plugin/front/original.h
nodist_crypt_plugin_libfront_la_SOURCES = crypt-plugin/front/symbols.h
crypt_plugin_libfront_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DORIGINAL_LIBCRYPT='"$(ORIGINAL_LIBCRYPT)"' \
	-DORIGINAL_LIBCRYPT_OTHER='"$(ORIGINAL_LIBCRYPT_OTHER)"'
# Versions of symbols are for the assembler, which gcc's -flto doesn't ask in time.
crypt_plugin_libfront_la_CFLAGS = $(AM_CFLAGS) -fno-lto
$(crypt_plugin_libfront_la_OBJECTS): crypt-plugin/front/symbols.h

# Made anew when the distribution's library has changed.
crypt-plugin/front/symbols.h: crypt-plugin/front/map_symbols $(ORIGINAL_LIBCRYPT)
	$(AM_V_GEN)$(MKDIR_P) crypt-plugin/front && \
		$(srcdir)/crypt-plugin/front/map_symbols '$(READELF)' '$(ORIGINAL_LIBCRYPT)' \
			crypt-plugin/front/front.map $@.new && mv $@.new $@
crypt-plugin/front/front.map: crypt-plugin/front/symbols.h

# nodelete: a program that unloads it and loads it again gets this one again, not the library behind,
# which has the same soname and stays open.
$(front_library): crypt-plugin/libfront.la libcore/libcore.la crypt-plugin/front/front.map
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -fno-lto $(AM_LDFLAGS) $(LDFLAGS) -shared -o $@ \
		-Wl,-soname,$(CRYPT_SONAME) -Wl,-z,nodelete \
		-Wl,--version-script=crypt-plugin/front/front.map \
		-Wl,--whole-archive crypt-plugin/.libs/libfront.a -Wl,--no-whole-archive \
		libcore/.libs/libcore.a $(LIBS) $(DL_LIBS)

# Programs that start meanwhile find the old file or the new one.
install-exec-local: $(front_library)
	$(MKDIR_P) "$(DESTDIR)$(frontdir)"
	$(INSTALL_DATA) $(front_library) "$(DESTDIR)$(frontdir)/.new-$(CRYPT_SONAME)"
	test -z "$(INSTALL_STRIP_FLAG)" || $(STRIP) --strip-unneeded "$(DESTDIR)$(frontdir)/.new-$(CRYPT_SONAME)"
	mv -f "$(DESTDIR)$(frontdir)/.new-$(CRYPT_SONAME)" "$(DESTDIR)$(frontdir)/$(CRYPT_SONAME)"

# While programs load it, or will after the next ldconfig, it stays.
uninstall_hooks += uninstall-front
uninstall-front:
	@if test -z "$(DESTDIR)" && grep -qs "^$(frontdir)[[:space:]]" /etc/ld.so.conf.d/000-mhkdf.conf; then \
		echo "$(frontdir)/$(CRYPT_SONAME) is in use and stays: \"make install\", then \"mhkdf-libcrypt disable\", then \"make uninstall\" again" >&2; \
		exit 1; \
	fi
	rm -f "$(DESTDIR)$(frontdir)/$(CRYPT_SONAME)" "$(DESTDIR)$(frontdir)/.new-$(CRYPT_SONAME)"
endif

# Programs of an initial RAM disk need the library behind, which ldd doesn't name.
if WITH_CRYPT_FRONT
initramfsdir = $(datadir)/initramfs-tools/hooks
initramfs_SCRIPTS = etc/initramfs/mhkdf
CLEANFILES += etc/initramfs/mhkdf
etc/initramfs/mhkdf: etc/initramfs-hook.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/initramfs && \
		$(SED) 's|@original[@]|$(ORIGINAL_LIBCRYPT)|' "$(srcdir)/etc/initramfs-hook.in" >$@.new && \
		chmod +x $@.new && mv $@.new $@
endif
EXTRA_DIST += etc/initramfs-hook.in

sbin_SCRIPTS += crypt-plugin/front/mhkdf-libcrypt
CLEANFILES += crypt-plugin/front/mhkdf-libcrypt
crypt-plugin/front/mhkdf-libcrypt: crypt-plugin/front/mhkdf-libcrypt.in crypt-plugin/front/known-answers.vec Makefile
	$(AM_V_GEN)$(MKDIR_P) crypt-plugin/front && \
		$(SED) -e 's|@libdir[@]|$(libdir)|' -e 's|@soname[@]|$(CRYPT_SONAME)|' \
			-e 's|@original[@]|$(ORIGINAL_LIBCRYPT)|' \
			-e '/@answers[@]/{' -e 'r $(srcdir)/crypt-plugin/front/known-answers.vec' -e d -e '}' \
			"$(srcdir)/crypt-plugin/front/mhkdf-libcrypt.in" >$@.new && \
		chmod +x $@.new && mv $@.new $@
