/* Models of functions that take strings apart. */
#include <string.h>

#include "model.h"

char *bg_m_strtok_r(char *restrict s, const char *restrict delimiters, char **restrict rest) {
    char *start = s != NULL ? s : *rest;
    while (*start != '\0' && bg_one_of(*start, delimiters))
        start++;
    if (*start == '\0') {
        *rest = start;
        return NULL;
    }
    char *end = start;
    while (*end != '\0' && !bg_one_of(*end, delimiters))
        end++;
    if (*end == '\0') {
        *rest = end;
        return start;
    }
    *end = '\0';
    *rest = end + 1;
    return start;
}

char *bg_m_strtok(char *restrict s, const char *restrict delimiters) {
    static char *rest;
    return bg_m_strtok_r(s, delimiters, &rest);
}

char *bg_m_strsep(char **restrict rest, const char *restrict delimiters) {
    char *start = *rest;
    if (start == NULL)
        return NULL;
    char *end = start;
    while (*end != '\0' && !bg_one_of(*end, delimiters))
        end++;
    if (*end == '\0') {
        *rest = NULL;
    } else {
        *end = '\0';
        *rest = end + 1;
    }
    return start;
}

/* The basename of <string.h>. */
char *bg_m_basename(const char *path) {
    const char *name = path;
    for (const char *p = path; *p != '\0'; p++)
        if (*p == '/')
            name = p + 1;
    return (char *)name;
}

/* The basename of <libgen.h>: it ignores slashes at the end, and cuts them off. */
char *bg_m___xpg_basename(char *path) {
    if (path == NULL || path[0] == '\0')
        return (char *)".";
    char *end = path;
    while (*end != '\0')
        end++;
    char *last = end;
    while (last > path && last[-1] == '/')
        last--;
    if (last == path) /* Nothing but slashes: the last of them. */
        return end - 1;
    char *name = last;
    while (name > path && name[-1] != '/')
        name--;
    if (*last == '/')
        *last = '\0';
    return name;
}

char *bg_m_dirname(char *path) {
    static const char here[] = ".";
    if (path == NULL)
        return (char *)here;
    char *end = path;
    while (*end != '\0')
        end++;
    /* The name itself, with slashes after it. */
    char *last = end;
    while (last > path && last[-1] == '/')
        last--;
    if (last > path)
        while (last > path && last[-1] != '/')
            last--;
    else if (end == path)
        return (char *)here;
    else
        last = end;
    if (last == path)
        return (char *)here;
    /* The slashes before it; the root keeps one, or two if it has just two. */
    char *cut = last;
    while (cut > path && cut[-1] == '/')
        cut--;
    if (cut == path)
        cut = last == path + 2 ? path + 2 : path + 1;
    *cut = '\0';
    return path;
}

/* One suboption of a list, such as "rw,size=3": the number of its name among the tokens, or -1. */
int bg_m_getsubopt(char **restrict list, char *const *restrict tokens, char **restrict value) {
    char *start = *list;
    if (*start == '\0')
        return -1;
    char *end = start;
    char *equals = NULL;
    for (; *end != '\0' && *end != ','; end++)
        if (equals == NULL && *end == '=')
            equals = end;
    size_t len = (size_t)((equals != NULL ? equals : end) - start);
    int found = -1;
    for (int i = 0; tokens[i] != NULL && found < 0; i++)
        if (strncmp(start, tokens[i], len) == 0 && tokens[i][len] == '\0')
            found = i;
    if (found < 0)
        *value = start;
    else
        *value = equals != NULL ? equals + 1 : NULL;
    if (*end != '\0')
        *end++ = '\0';
    *list = end;
    return found;
}
