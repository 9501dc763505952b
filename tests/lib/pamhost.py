# SPDX-License-Identifier: BSD-2-Clause
"""Calls the system's libpam, as a program that authenticates users does."""

import ctypes
import time

PAM_FAIL_DELAY = 10
PAM_PROMPT_ECHO_OFF = 1

libc = ctypes.CDLL(None, use_errno=True)
libc.calloc.restype = libc.strdup.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
pam = ctypes.CDLL("libpam.so.0")
pam.pam_set_item.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


CONVERSE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)),
                            ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)  # fmt: skip


class Conversation(ctypes.Structure):
    _fields_ = [("function", CONVERSE), ("data", ctypes.c_void_p)]


def converse_with(password):
    @CONVERSE
    def converse(count, messages, responses, _):
        memory = libc.calloc(count, ctypes.sizeof(Response))
        array = ctypes.cast(memory, ctypes.POINTER(Response))
        for i in range(count):
            if messages[i].contents.style == PAM_PROMPT_ECHO_OFF:
                array[i].text = libc.strdup(ctypes.c_char_p(password))
        responses[0] = memory
        return 0

    return converse


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)
def no_delay(*_):
    pass


class Attempt:
    """One pam_authenticate (or another call): its status, and how long it took. delay: with PAM's
    pause after a failure. then: another call in the same transaction, after success; then_status."""

    def __init__(self, service, name, password, flags=0, delay=True, call=pam.pam_authenticate, then=None):
        conversation = Conversation(converse_with(password), None)
        handle = ctypes.c_void_p()
        if pam.pam_start(service.encode(), name.encode(), ctypes.byref(conversation), ctypes.byref(handle)):
            raise OSError("pam_start failed")
        if not delay:
            pam.pam_set_item(handle, PAM_FAIL_DELAY, ctypes.cast(no_delay, ctypes.c_void_p))
        since = time.perf_counter()
        self.status = call(handle, flags)
        self.seconds = time.perf_counter() - since
        self.then_status = then(handle, 0) if then and self.status == 0 else None
        pam.pam_end(handle, self.status)


def authenticate(*args):
    return Attempt(*args).status


def log_in(*args):
    """The statuses of pam_authenticate and, where that succeeded, of pam_acct_mgmt."""
    attempt = Attempt(*args, then=pam.pam_acct_mgmt)
    return attempt.status, attempt.then_status


def change_password(*args):
    return Attempt(*args, call=pam.pam_chauthtok).status
