/* A PKCS#11 module that forwards to another one and fails where a control file says so.
 *
 * SHIM_MODULE   the module behind it
 * SHIM_CONTROL  a file: "<function> <return value or hang> <pid or 0> <count or 0>", or empty
 *
 * The count starts anew whenever the file changes, and counts within one process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long CK;

/* CK_FUNCTION_LIST of PKCS#11 v2.40, section 4.6: a version, then 68 functions in this order. */
struct function_list {
    unsigned char major, minor;
    void *functions[68];
};
enum { OPEN_SESSION = 12, LOGIN = 18, FIND_OBJECTS_INIT = 26, ENCRYPT_INIT = 29, ENCRYPT = 30,
       SIGN_INIT = 42, SIGN = 43 };

static struct function_list real, shim;

static int fault(const char *function, CK *value) {
    static _Atomic long injected;
    static _Atomic long changed;
    char text[128] = "", name[64] = "", what[32] = "";
    long pid = 0, count = 0;
    struct stat now;
    const char *path = getenv("SHIM_CONTROL");
    int control = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (control < 0) return 0;
    ssize_t length = read(control, text, sizeof text - 1);
    int known = fstat(control, &now) == 0;
    close(control);
    if (length <= 0 || !known) return 0;
    if (sscanf(text, "%63s %31s %ld %ld", name, what, &pid, &count) != 4) return 0;
    if (strcmp(name, function) != 0 || (pid != 0 && pid != getpid())) return 0;
    long stamp = now.st_mtim.tv_sec * 1000000000L + now.st_mtim.tv_nsec;
    if (atomic_exchange(&changed, stamp) != stamp) atomic_store(&injected, 0);
    if (count != 0 && atomic_fetch_add(&injected, 1) >= count) return 0;
    if (strcmp(what, "hang") == 0) for (;;) pause();
    *value = strtoul(what, NULL, 0);
    return 1;
}

#define FORWARD(index, name, parameters, arguments)                        \
    static CK name parameters {                                            \
        CK value;                                                          \
        if (fault(#name, &value)) return value;                            \
        return ((CK(*) parameters)real.functions[index])arguments;         \
    }

FORWARD(OPEN_SESSION, C_OpenSession, (CK a, CK b, void *c, void *d, CK *e), (a, b, c, d, e))
FORWARD(LOGIN, C_Login, (CK a, CK b, void *c, CK d), (a, b, c, d))
FORWARD(FIND_OBJECTS_INIT, C_FindObjectsInit, (CK a, void *b, CK c), (a, b, c))
FORWARD(ENCRYPT_INIT, C_EncryptInit, (CK a, void *b, CK c), (a, b, c))
FORWARD(ENCRYPT, C_Encrypt, (CK a, void *b, CK c, void *d, CK *e), (a, b, c, d, e))
FORWARD(SIGN_INIT, C_SignInit, (CK a, void *b, CK c), (a, b, c))
FORWARD(SIGN, C_Sign, (CK a, void *b, CK c, void *d, CK *e), (a, b, c, d, e))

CK C_GetFunctionList(struct function_list **list) {
    const char *path = getenv("SHIM_MODULE");
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!module) return 0x5; /* CKR_GENERAL_ERROR */
    CK (*get)(struct function_list **) =
        (CK(*)(struct function_list **))dlsym(module, "C_GetFunctionList");
    struct function_list *found;
    if (!get || get(&found) != 0) return 0x5;
    real = shim = *found;
    shim.functions[OPEN_SESSION] = C_OpenSession;
    shim.functions[LOGIN] = C_Login;
    shim.functions[FIND_OBJECTS_INIT] = C_FindObjectsInit;
    shim.functions[ENCRYPT_INIT] = C_EncryptInit;
    shim.functions[ENCRYPT] = C_Encrypt;
    shim.functions[SIGN_INIT] = C_SignInit;
    shim.functions[SIGN] = C_Sign;
    *list = &shim;
    return 0;
}
