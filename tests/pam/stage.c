/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/anycrypt.h"
#include "tests/lib/scratch.h"
#include "tests/pam/stage.h"

struct stage stage;

static char folder[] = "/tmp/mhkdf-stage-XXXXXX"; /* of this program, until it is gone */
static char service_dir[64];

/* The wrapper opens libpam in a way that sanitizers refuse (RTLD_DEEPBIND). For them libpam itself
 * is asked to look elsewhere for its configuration. */
#define STAGE_IS_WRAPPED (!TEST_IS_SANITIZED)

#if TEST_IS_SANITIZED
const char *__lsan_default_suppressions(void);

/* libpam loses a new password when the second prompt for it gets no answer. */
const char *
__lsan_default_suppressions(void)
{
    return "leak:pam_vprompt\n";
}
#endif

void
stage_enter(char **argv)
{
    if (getenv("PAM_WRAPPER") != NULL)
        return;
    scratch_enter(folder);
    chmod(folder, 0755);
    setenv("MHKDF_TEST_FOLDER", folder, 1);
    snprintf(service_dir, sizeof(service_dir), "%s/pam.d", folder);
    if (mkdir(service_dir, 0755) != 0)
        exit(99);
    setenv("PAM_WRAPPER_SERVICE_DIR", service_dir, 1);
    if (!STAGE_IS_WRAPPED)
        return;
    setenv("PAM_WRAPPER", "1", 1);
    setenv("LD_PRELOAD", TEST_WRAPPER, 1);
    execv("/proc/self/exe", argv);
    exit(99);
}

static const char *
in_etc(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", stage.etc, name);
    return path;
}

/* The wrapper makes a copy of the folder when it starts, and works with that. */
static const char *
in_services(const char *name)
{
    static char path[256];
    const char *copy = getenv("PAM_WRAPPER_RUNTIME_DIR");

    snprintf(path, sizeof(path), "%s/%s", copy != NULL ? copy : service_dir, name);
    return path;
}

int
stage_set_up(void **state)
{
    FILE *f;

    (void)state;
    umask(022);
    snprintf(service_dir, sizeof(service_dir), "%s", getenv("PAM_WRAPPER_SERVICE_DIR"));
    snprintf(stage.etc, sizeof(stage.etc), "%s/etc", getenv("MHKDF_TEST_FOLDER"));
    if (mkdir(stage.etc, 0755) != 0)
        return 1;
    chmod(stage.etc, 0755);
    setenv("MHKDF_TEST_ETC", stage.etc, 1);
    setenv("MHKDF_TEST_LOG", in_etc("log"), 1);
    f = fopen(in_services("other"), "w"); /* libpam wants one */
    return f == NULL || fclose(f) != 0;
}

int
stage_clear(void **state)
{
    (void)state;
    memset(stage.answers, 0, sizeof(stage.answers));
    stage.service = "stage";
    stage.name = NULL;
    stage.later = 0;
    stage.answered = 0;
    stage.said[0] = '\0';
    stage.delay_us = 0;
    stage.on_prompt = NULL;
    stage.env = NULL;
    stage.env_value[0] = '\0';
    stage.renamed = NULL;
    stage.ruser = NULL;
    stage.rhost = "a host\nname\x7f\xc3\x85";
    stage.as_nobody = false;
    stage_put("log", "%s", "");
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\n");
    chmod(in_etc("log"), 0666);
    setenv("MHKDF_TEST_UID", "1000", 1);
    unsetenv("MHKDF_TEST_GROUPS");
    unsetenv("MHKDF_TEST_NSS");
    unsetenv("MHKDF_TEST_NSS_UID");
    unsetenv("MHKDF_TEST_NSS_ERROR");
    unsetenv("MHKDF_TEST_LOCK_MS");
    unsetenv("MHKDF_TEST_KEEP_LIMITS");
    return 0;
}

int
stage_check_log(void **state)
{
    static const char *const secrets[] = {STAGE_SECRET, "$mhkdf$m", "$argon2", "$6$r", "$y$j"};
    const char *log = stage_log();
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strstr(log, secrets[i]) != NULL) {
            print_error("logged: %s\n", log);
            return -1;
        }
    }
    return 0;
}

void
stage_put(const char *name, const char *format, ...)
{
    FILE *f = fopen(in_etc(name), "w");
    va_list args;

    assert_non_null(f);
    va_start(args, format);
    assert_true(vfprintf(f, format, args) >= 0);
    va_end(args);
    assert_int_equal(fclose(f), 0);
}

void
stage_account(const char *hash, const char *aging)
{
    stage_put("passwd",
              "root:x:0:0:root:/root:/bin/sh\n"
              "bob:x:1000:1000::/home/bob:/bin/sh\n"
              "noshadow:x:1001:1001::/:/bin/sh\n"
              "unshadowed:%s:1002:1002::/:/bin/sh\n"
              "toor:x:0:0::/root:/bin/sh\n",
              stage_hash("S3cret"));
    unlink(in_etc("shadow"));
    stage_put("shadow", "root:*:20000:0:99999:7:::\n# kept\nbob:%s:%s:\ntoor:!:20000::::::\n", hash,
              aging);
}

static const char *
read_file(const char *name)
{
    static char text[16 * STAGE_MAX];
    FILE *f = fopen(in_etc(name), "r");
    size_t len;

    assert_non_null(f);
    len = fread(text, 1, sizeof(text) - 1, f);
    text[len] = '\0';
    fclose(f);
    return text;
}

const char *
stage_field(unsigned number)
{
    static char field[STAGE_MAX];
    const char *p = strstr(read_file("shadow"), "\n" STAGE_USER ":");
    size_t len;

    assert_non_null(p);
    for (p++; number > 1; number--) {
        p = strchr(p, ':');
        assert_non_null(p);
        p++;
    }
    len = strcspn(p, ":\n");
    memcpy(field, p, len);
    field[len] = '\0';
    return field;
}

const char *
stage_hash_by(const char *password, const char *setting)
{
    static char hashes[STAGE_HASHES][MHKDF_STRING_SIZE];
    static unsigned next;
    char *hash = hashes[next++ % STAGE_HASHES];

    assert_int_equal(anycrypt_hash(password, setting, hash), 0);
    return hash;
}

const char *
stage_hash(const char *password)
{
    return stage_hash_by(password, "$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA");
}

void
stage_service(const char *text)
{
    FILE *f = fopen(in_services(stage.service), "w");

    assert_non_null(f);
    for (; *text != '\0'; text++) {
        if (*text == '@')
            fputs(TEST_MODULE, f);
        else
            fputc(*text, f);
    }
    fputc('\n', f);
    assert_int_equal(fclose(f), 0);
}

static pam_handle_t *handle; /* of the call that is being made */

static int
answer(struct pam_response *response)
{
    const char *text = stage.answers[stage.answered];

    if (stage.on_prompt != NULL)
        stage.on_prompt(stage.answered);
    if (text == NULL)
        return PAM_CONV_ERR;
    if (stage.renamed != NULL && stage.answered == 1)
        assert_int_equal(pam_set_item(handle, PAM_SERVICE, stage.renamed), PAM_SUCCESS);
    stage.answered++;
    response->resp = strdup(text);
    return response->resp == NULL ? PAM_BUF_ERR : PAM_SUCCESS;
}

/* The conversation of a program that waits for something else meanwhile. */
static int
answer_name(struct pam_response *response)
{
    if (stage.name == NULL)
        return PAM_CONV_ERR;
    if (stage.later++ == 0)
        return PAM_CONV_AGAIN;
    response->resp = strdup(stage.name);
    return response->resp == NULL ? PAM_BUF_ERR : PAM_SUCCESS;
}

static int
talk(int count, const struct pam_message **messages, struct pam_response **responses, void *data)
{
    struct pam_response *response = calloc((size_t)count, sizeof(*response));
    int i, rc = PAM_SUCCESS;

    (void)data;
    assert_non_null(response);
    for (i = 0; rc == PAM_SUCCESS && i < count; i++) {
        int style = messages[i]->msg_style;
        size_t len = strlen(stage.said);
        snprintf(stage.said + len, sizeof(stage.said) - len, "%c:%s|",
                 style == PAM_ERROR_MSG   ? 'E'
                 : style == PAM_TEXT_INFO ? 'I'
                                          : 'P',
                 messages[i]->msg);
        if (style == PAM_PROMPT_ECHO_OFF)
            rc = answer(&response[i]);
        else if (style == PAM_PROMPT_ECHO_ON)
            rc = answer_name(&response[i]);
    }
    if (rc != PAM_SUCCESS) {
        free(response);
        return rc;
    }
    *responses = response;
    return PAM_SUCCESS;
}

static void
delay(int retval, unsigned usec, void *data)
{
    (void)retval;
    (void)data;
    stage.delay_us = usec;
}

/* pam_set_item wants a function where the type says data. */
static void
set_delay(pam_handle_t *pamh)
{
    union {
        void (*function)(int, unsigned, void *);
        const void *data;
    } item = {.function = delay};

    assert_int_equal(pam_set_item(pamh, PAM_FAIL_DELAY, item.data), PAM_SUCCESS);
}

static pam_handle_t *
start(const char *user)
{
    static const struct pam_conv conv = {talk, NULL};
    pam_handle_t *pamh = NULL;

    stage.answered = 0;
    if (STAGE_IS_WRAPPED)
        assert_int_equal(pam_start(stage.service, user, &conv, &pamh), PAM_SUCCESS);
    else
        assert_int_equal(pam_start_confdir(stage.service, user, &conv, service_dir, &pamh),
                         PAM_SUCCESS);
    handle = pamh;
    set_delay(pamh);
    if (stage.rhost != NULL)
        assert_int_equal(pam_set_item(pamh, PAM_RHOST, stage.rhost), PAM_SUCCESS);
    if (stage.ruser != NULL)
        assert_int_equal(pam_set_item(pamh, PAM_RUSER, stage.ruser), PAM_SUCCESS);
    return pamh;
}

static int
end(pam_handle_t *pamh, int rc)
{
    const char *value = stage.env != NULL ? pam_getenv(pamh, stage.env) : NULL;

    if (value != NULL)
        snprintf(stage.env_value, sizeof(stage.env_value), "%s", value);
    assert_int_equal(pam_end(pamh, rc), PAM_SUCCESS);
    return rc;
}

/* The call, as another user where it is to be made without privileges. */
static int
call(pam_handle_t *pamh, int flags, int (*function)(pam_handle_t *, int))
{
    bool change = stage.as_nobody && geteuid() == 0;
    int rc;

    if (change)
        assert_int_equal(seteuid(65534), 0);
    rc = function(pamh, flags);
    if (rc == PAM_INCOMPLETE)
        rc = function(pamh, flags);
    if (change)
        assert_int_equal(seteuid(0), 0);
    return rc;
}

int
stage_authenticate(const char *user, int flags)
{
    pam_handle_t *pamh = start(user);

    return end(pamh, call(pamh, flags, pam_authenticate));
}

int
stage_chauthtok(const char *user, int flags)
{
    pam_handle_t *pamh = start(user);

    return end(pamh, call(pamh, flags, pam_chauthtok));
}

int
stage_setcred(const char *user, int *auth)
{
    pam_handle_t *pamh = start(user);

    if (auth != NULL)
        *auth = pam_authenticate(pamh, 0);
    return end(pamh, pam_setcred(pamh, PAM_ESTABLISH_CRED));
}

int
stage_login(const char *user, int *auth, int *change)
{
    pam_handle_t *pamh = start(user);
    int rc;

    if (auth != NULL)
        *auth = call(pamh, 0, pam_authenticate);
    rc = call(pamh, 0, pam_acct_mgmt);
    if (rc == PAM_NEW_AUTHTOK_REQD && change != NULL) {
        *change = pam_chauthtok(pamh, PAM_CHANGE_EXPIRED_AUTHTOK);
        rc = pam_acct_mgmt(pamh, 0);
    }
    return end(pamh, rc);
}

const char *
stage_log(void)
{
    return read_file("log");
}

bool
stage_logged(const char *text)
{
    return strstr(stage_log(), text) != NULL;
}

bool
stage_said(const char *text)
{
    return strstr(stage.said, text) != NULL;
}

pid_t
stage_start_arena(const char *path, enum arena_type type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pid_t child;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 16), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct arena_reply reply = {.head = arena_head(type),
                                    .position = type == ARENA_QUEUED,
                                    .reason = type == ARENA_REFUSED ? ARENA_NOT_READY : 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* where an assertion fails, nobody ends it */
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            (void)!send(fd, &reply, sizeof(reply), MSG_NOSIGNAL);
        }
    }
    close(listener);
    return child;
}
