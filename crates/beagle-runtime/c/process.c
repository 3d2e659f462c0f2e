/* Those of the family of exec that take the arguments of the new program one by one. Compiled as it is,
   not instrumented: it only gathers what bgr_exec (src/libc/process.rs) takes as an array. */
#include <stdarg.h>
#include <stddef.h>

enum exec { EXEC_PATH, EXEC_PATH_HERE, EXEC_FILE, EXEC_FILE_HERE };

int bgr_exec(const void *own, enum exec kind, const char *path, const char *const *argv, const char *const *envp);

/* The arguments from `first` to the null pointer, as an array on the stack of the caller. */
#define GATHER(first)                                                                                                  \
    va_list list;                                                                                                      \
    size_t count = 1;                                                                                                  \
    va_start(list, first);                                                                                             \
    for (const char *p = first; p != NULL; p = va_arg(list, const char *))                                             \
        count++;                                                                                                       \
    va_end(list);                                                                                                      \
    const char *argv[count];                                                                                           \
    va_start(list, first);                                                                                             \
    argv[0] = first;                                                                                                   \
    for (size_t i = 1; i < count; i++)                                                                                 \
        argv[i] = va_arg(list, const char *);

int bg_x_execl(const char *path, const char *arg, ...) {
    GATHER(arg)
    va_end(list);
    return bgr_exec((const void *)bg_x_execl, EXEC_PATH_HERE, path, argv, NULL);
}

int bg_x_execlp(const char *file, const char *arg, ...) {
    GATHER(arg)
    va_end(list);
    return bgr_exec((const void *)bg_x_execlp, EXEC_FILE_HERE, file, argv, NULL);
}

int bg_x_execle(const char *path, const char *arg, ...) {
    GATHER(arg)
    const char *const *envp = va_arg(list, const char *const *);
    va_end(list);
    return bgr_exec((const void *)bg_x_execle, EXEC_PATH, path, argv, envp);
}
