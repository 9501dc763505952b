# SPDX-License-Identifier: BSD-2-Clause
# mhkdf-arenad. It knows libcore's protocol, and no other part of it.
arena_sources = \
	arena/check.c arena/check.h \
	arena/lease.c arena/lease.h \
	arena/limits.c arena/limits.h \
	arena/listener.c arena/listener.h \
	arena/log.c arena/log.h \
	arena/main.c \
	arena/notify.c arena/notify.h \
	arena/options.c arena/options.h \
	arena/peer.c arena/peer.h \
	arena/privilege.c arena/privilege.h \
	arena/room.c arena/room.h \
	arena/server.c arena/server.h \
	arena/slot.c arena/slot.h \
	arena/worker.c arena/worker.h

if WITH_ARENA
sbin_PROGRAMS += arena/mhkdf-arenad
arena_mhkdf_arenad_SOURCES = $(arena_sources)
arena_mhkdf_arenad_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
arena_mhkdf_arenad_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
arena_mhkdf_arenad_LDADD = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS) $(CAP_LIBS)
endif
