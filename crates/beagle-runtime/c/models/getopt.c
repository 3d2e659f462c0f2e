/* Models of getopt, getopt_long and getopt_long_only, as in glibc. The variables are libc's own. */
#include <getopt.h>
#include <libintl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* What is left of one call to the next. */
static struct {
    int started;
    /* What to do with an argument that is no option. */
    enum { PERMUTE, REQUIRE_ORDER, RETURN_IN_ORDER } ordering;
    /* The rest of a group of short options; null or empty if there is none. */
    char *rest;
    /* Arguments that are no options and were passed over: from the first, up to before the second. */
    int first, last;
    /* What the variables of these names become again with every call, whatever the program put there. */
    char *optarg;
    int optopt;
} now;

/* Messages are in the user's language, as far as libc knows it. */
static const char *words(const char *message) {
    return dcgettext("libc", message, LC_MESSAGES);
}

static void reverse(char **from, char **to) {
    while (from < to) {
        char *kept = *from;
        *from++ = *--to;
        *to = kept;
    }
}

/* Moves the options that were found behind passed-over arguments in front of these. */
static void exchange(char **argv) {
    reverse(argv + now.first, argv + now.last);
    reverse(argv + now.last, argv + optind);
    reverse(argv + now.first, argv + optind);
    now.first += optind - now.last;
    now.last = optind;
}

static const char *start(const char *options, int posix) {
    if (optind == 0)
        optind = 1;
    now.first = now.last = optind;
    now.rest = NULL;
    now.started = 1;
    if (options[0] == '-') {
        now.ordering = RETURN_IN_ORDER;
        return options + 1;
    }
    if (options[0] == '+') {
        now.ordering = REQUIRE_ORDER;
        return options + 1;
    }
    now.ordering = posix || getenv("POSIXLY_CORRECT") != NULL ? REQUIRE_ORDER : PERMUTE;
    return options;
}

/* Whether the text starts with the whole name, and the name ends there. Decided at once for the whole name,
   so that a solver can put another name in its place. */
static int is_name(const char *text, const char *name, size_t len) {
    if (strncmp(text, name, len) != 0)
        return 0;
    char after = text[len];
    return (after == '\0') | (after == '=');
}

static int has_equals(const char *name) {
    for (; *name != '\0'; name++)
        if (*name == '=')
            return 1;
    return 0;
}

static int alike(const struct option *a, const struct option *b) {
    return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

static void tell_ambiguous(char **argv, const struct option *options, int count, const unsigned char *candidate,
                           const char *prefix) {
    flockfile(stderr);
    fprintf(stderr, words("%s: option '%s%s' is ambiguous; possibilities:"), argv[0], prefix, now.rest);
    for (int i = 0; i < count; i++)
        if (candidate[i])
            fprintf(stderr, " '%s%s'", prefix, options[i].name);
    fprintf(stderr, "\n");
    funlockfile(stderr);
}

/* The only option that the text, of so many characters, is the start of. -1 if there is none, -2 if there
   are several. */
static int abbreviated(char **argv, const struct option *options, size_t len, int only_long, int tell,
                       const char *prefix) {
    int count = 0;
    while (options[count].name != NULL)
        count++;
    unsigned char candidate[count + 1];
    memset(candidate, 0, sizeof candidate);
    int found = -1;
    int several = 0;
    for (int i = 0; i < count; i++) {
        if (strncmp(options[i].name, now.rest, len) != 0)
            continue;
        if (found < 0) {
            found = i;
            candidate[i] = 1;
        } else if (only_long || !alike(&options[found], &options[i])) {
            candidate[i] = 1;
            several = 1;
        }
    }
    if (!several)
        return found;
    if (tell)
        tell_ambiguous(argv, options, count, candidate, prefix);
    return -2;
}

/* What long_option returns if the argument is to be taken as short options instead. */
#define NOT_LONG (-1)

static int long_option(int argc, char **argv, const char *short_options, const struct option *options, int *index,
                       int only_long, int tell, const char *prefix) {
    int found = -1;
    size_t len = 0;
    for (int i = 0; options[i].name != NULL && found < 0; i++) {
        if (has_equals(options[i].name))
            continue;
        len = strlen(options[i].name);
        if (is_name(now.rest, options[i].name, len))
            found = i;
    }
    if (found < 0) {
        for (len = 0; now.rest[len] != '\0' && now.rest[len] != '='; len++)
            ;
        found = abbreviated(argv, options, len, only_long, tell, prefix);
        if (found == -2) {
            now.rest += strlen(now.rest);
            optind++;
            optopt = 0;
            return '?';
        }
    }
    if (found < 0) {
        if (only_long && argv[optind][1] != '-' && strchr(short_options, *now.rest) != NULL)
            return NOT_LONG;
        if (tell)
            fprintf(stderr, words("%s: unrecognized option '%s%s'\n"), argv[0], prefix, now.rest);
        now.rest = NULL;
        optind++;
        optopt = 0;
        return '?';
    }
    const struct option *option = &options[found];
    char *end = now.rest + len;
    optind++;
    now.rest = NULL;
    if (*end != '\0') {
        if (option->has_arg == no_argument) {
            if (tell)
                fprintf(stderr, words("%s: option '%s%s' doesn't allow an argument\n"), argv[0], prefix,
                        option->name);
            optopt = option->val;
            return '?';
        }
        optarg = end + 1;
    } else if (option->has_arg == required_argument) {
        if (optind >= argc) {
            if (tell)
                fprintf(stderr, words("%s: option '%s%s' requires an argument\n"), argv[0], prefix, option->name);
            optopt = option->val;
            return short_options[0] == ':' ? ':' : '?';
        }
        optarg = argv[optind++];
    }
    if (index != NULL)
        *index = found;
    if (option->flag != NULL) {
        *option->flag = option->val;
        return 0;
    }
    return option->val;
}

/* Takes the argument of a short option: the rest of this argument, or the next one. */
static int short_argument(int argc, char **argv, const char *short_options, int c, int tell) {
    if (*now.rest != '\0') {
        optarg = now.rest;
        optind++;
    } else if (optind == argc) {
        if (tell)
            fprintf(stderr, words("%s: option requires an argument -- '%c'\n"), argv[0], c);
        optopt = c;
        c = short_options[0] == ':' ? ':' : '?';
    } else {
        optarg = argv[optind++];
    }
    now.rest = NULL;
    return c;
}

static int short_option(int argc, char **argv, const char *short_options, const struct option *options, int *index,
                        int tell) {
    char c = *now.rest++;
    const char *at = short_options;
    while (*at != '\0' && *at != c)
        at++;
    /* The next argument's turn comes once this one is used up. */
    if (*now.rest == '\0')
        optind++;
    if (*at == '\0' || (c == ':') | (c == ';')) {
        if (tell)
            fprintf(stderr, words("%s: invalid option -- '%c'\n"), argv[0], c);
        optopt = c;
        return '?';
    }
    if (at[0] == 'W' && at[1] == ';' && options != NULL) {
        /* -W name is --name. */
        if (*now.rest != '\0') {
            optarg = now.rest;
        } else if (optind == argc) {
            if (tell)
                fprintf(stderr, words("%s: option requires an argument -- '%c'\n"), argv[0], c);
            optopt = c;
            return short_options[0] == ':' ? ':' : '?';
        } else {
            optarg = argv[optind];
        }
        now.rest = optarg;
        optarg = NULL;
        return long_option(argc, argv, short_options, options, index, 0, tell, "-W ");
    }
    if (at[1] != ':')
        return c;
    if (at[2] == ':') {
        if (*now.rest != '\0') {
            optarg = now.rest;
            optind++;
        } else {
            optarg = NULL;
        }
        now.rest = NULL;
        return c;
    }
    return short_argument(argc, argv, short_options, c, tell);
}

static int is_option(const char *argument) {
    return argument[0] == '-' && argument[1] != '\0';
}

/* Finds the next argument that is an option. -1 if there is none, 1 if what comes is no option and wanted;
   0 if now.rest is set, or the argument at optind is to be looked at. */
static int next_argument(int argc, char **argv) {
    if (now.last > optind)
        now.last = optind;
    if (now.first > optind)
        now.first = optind;
    if (now.ordering == PERMUTE) {
        if (now.first != now.last && now.last != optind)
            exchange(argv);
        else if (now.last != optind)
            now.first = optind;
        while (optind < argc && !is_option(argv[optind]))
            optind++;
        now.last = optind;
    }
    if (optind != argc && strcmp(argv[optind], "--") == 0) {
        optind++;
        if (now.first != now.last && now.last != optind)
            exchange(argv);
        else if (now.first == now.last)
            now.first = optind;
        now.last = argc;
        optind = argc;
    }
    if (optind == argc) {
        if (now.first != now.last)
            optind = now.first;
        return -1;
    }
    if (!is_option(argv[optind])) {
        if (now.ordering == REQUIRE_ORDER)
            return -1;
        optarg = argv[optind++];
        return 1;
    }
    return 0;
}

static int take_option(int argc, char *const *arguments, const char *short_options, const struct option *options,
                       int *index, int only_long, int posix) {
    char **argv = (char **)arguments;
    int tell = opterr;
    if (argc < 1)
        return -1;
    optarg = NULL;
    if (optind == 0 || !now.started)
        short_options = start(short_options, posix);
    else if ((short_options[0] == '-') | (short_options[0] == '+'))
        short_options++;
    if (short_options[0] == ':')
        tell = 0;
    if (now.rest == NULL || *now.rest == '\0') {
        int found = next_argument(argc, argv);
        if (found != 0)
            return found;
        char *argument = argv[optind];
        if (options != NULL) {
            if (argument[1] == '-') {
                now.rest = argument + 2;
                return long_option(argc, argv, short_options, options, index, only_long, tell, "--");
            }
            /* One letter that is a short option is that, also where one dash starts long ones. */
            if (only_long && (argument[2] != '\0' || strchr(short_options, argument[1]) == NULL)) {
                now.rest = argument + 1;
                int code = long_option(argc, argv, short_options, options, index, only_long, tell, "-");
                if (code != NOT_LONG)
                    return code;
            }
        }
        now.rest = argument + 1;
    }
    return short_option(argc, argv, short_options, options, index, tell);
}

static int next_option(int argc, char *const *argv, const char *short_options, const struct option *options,
                       int *index, int only_long, int posix) {
    optarg = now.optarg;
    optopt = now.optopt;
    int result = take_option(argc, argv, short_options, options, index, only_long, posix);
    now.optarg = optarg;
    now.optopt = optopt;
    return result;
}

int bg_m_getopt(int argc, char *const *argv, const char *options) {
    return next_option(argc, argv, options, NULL, NULL, 0, 0);
}

int bg_m___posix_getopt(int argc, char *const *argv, const char *options) {
    return next_option(argc, argv, options, NULL, NULL, 0, 1);
}

int bg_m_getopt_long(int argc, char *const *argv, const char *short_options, const struct option *options, int *index) {
    return next_option(argc, argv, short_options, options, index, 0, 0);
}

int bg_m_getopt_long_only(int argc, char *const *argv, const char *short_options, const struct option *options,
                          int *index) {
    return next_option(argc, argv, short_options, options, index, 1, 0);
}
