/* lookup.c - typed values. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ini.h"

/* Decimal, or hexadecimal with 0x. */
int to_integer(const char *value, long *result)
{
    const char *digits = value + (*value == '-' || *value == '+');
    int hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    char *end;

    if (!isdigit((unsigned char)*digits))
        return -1;
    errno = 0;
    *result = strtol(value, &end, hex ? 16 : 10);
    return *end != '\0' || errno != 0 ? -1 : 0;
}

int to_boolean(const char *value, int *result)
{
    if (strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0 ||
        strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0) {
        *result = 1;
        return 0;
    }
    if (strcasecmp(value, "no") == 0 || strcasecmp(value, "false") == 0 ||
        strcasecmp(value, "off") == 0 || strcmp(value, "0") == 0) {
        *result = 0;
        return 0;
    }
    return -1;
}

/* A number of bytes, which may end in k, M, G or T. */
int to_size(const char *value, uint64_t *result)
{
    static const char suffixes[] = "kmgt";
    const char *suffix;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)*value))
        return -1;
    errno = 0;
    *result = strtoull(value, &end, 10);
    if (errno != 0)
        return -1;
    if (*end != '\0') {
        suffix = strchr(suffixes, tolower((unsigned char)*end));
        if (suffix == NULL || end[1] != '\0')
            return -1;
        shift = 10 * (unsigned)(suffix - suffixes + 1);
    }
    if (*result > UINT64_MAX >> shift)
        return -1;
    *result <<= shift;
    return 0;
}

/* Items are separated by commas; empty ones are left out. */
void print_list(const char *value)
{
    while (*value != '\0') {
        size_t n = strcspn(value, ",");
        const char *next = value + n + (value[n] == ',');

        while (n > 0 && isspace((unsigned char)*value)) {
            value++;
            n--;
        }
        while (n > 0 && isspace((unsigned char)value[n - 1]))
            n--;
        if (n > 0)
            printf("%.*s\n", (int)n, value);
        value = next;
    }
}

void print_quoted(const char *value)
{
    putchar('"');
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;

        if (c == '\n')
            fputs("\\n", stdout);
        else if (c == '\t')
            fputs("\\t", stdout);
        else if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}
