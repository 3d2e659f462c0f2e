/*
 * ini - look up values in configuration files.
 *
 *   ini [-iu] FILE COMMAND ARGUMENT...
 *
 *   -i   do not distinguish small and capital letters in names
 *   -u   refuse keys that are set twice (default: the last one counts), inherited ones too
 *
 *   check                  print all errors, or a summary if there are none
 *   dump                   print everything in a normal form
 *   sections               print the names of the sections
 *   keys SECTION           print the names of the keys of a section
 *   get SECTION KEY        print a value
 *   int|bool|size|list SECTION KEY
 *                          print a value of a type
 *
 * FILE may be "-" for standard input.  The section of keys before the first
 * section has an empty name.  The exit status is 1 for errors in a file or value, 2
 * if there is no such section or key, 3 for other errors.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ini.h"

static void usage(void)
{
    fputs("usage: ini [-iu] file check|dump|sections|keys|get|int|bool|size|list [section [key]]\n", stderr);
    exit(3);
}

static int check(const struct config *cfg)
{
    unsigned sections = 0, keys = 0;

    for (const struct section *s = cfg->first; s != NULL; s = s->next) {
        sections++;
        for (const struct entry *e = s->first; e != NULL; e = e->next)
            keys++;
    }
    if (cfg->errors > 0)
        printf("%d errors\n", cfg->errors);
    else
        printf("%u sections, %u keys\n", sections, keys);
    return cfg->errors > 0;
}

static void dump(const struct config *cfg)
{
    for (const struct section *s = cfg->first; s != NULL; s = s->next) {
        if (s->name[0] != '\0')
            printf("%s[%s]\n", s == cfg->first ? "" : "\n", s->name);
        for (const struct entry *e = s->first; e != NULL; e = e->next) {
            printf("%s = ", e->key);
            print_quoted(e->value);
            putchar('\n');
        }
    }
}

static int print_typed(const char *type, const struct entry *e)
{
    uint64_t size;
    long number;
    int truth, result = 0;

    if (strcmp(type, "get") == 0)
        puts(e->value);
    else if (strcmp(type, "list") == 0)
        print_list(e->value);
    else if (strcmp(type, "int") == 0 && (result = to_integer(e->value, &number)) == 0)
        printf("%ld\n", number);
    else if (strcmp(type, "bool") == 0 && (result = to_boolean(e->value, &truth)) == 0)
        puts(truth ? "true" : "false");
    else if (strcmp(type, "size") == 0 && (result = to_size(e->value, &size)) == 0)
        printf("%llu\n", (unsigned long long)size);
    if (result < 0)
        fprintf(stderr, "ini: %s:%d: value of %s is not of type %s\n", e->file, e->line, e->key, type);
    return result < 0;
}

static int is_type(const char *s)
{
    static const char *const types[] = {"get", "int", "bool", "size", "list"};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(s, types[i]) == 0)
            return 1;
    return 0;
}

static int run(struct config *cfg, const char *command, char **args, int nargs)
{
    struct section *section;
    struct entry *e;

    if (strcmp(command, "dump") == 0 && nargs == 0) {
        dump(cfg);
        return 0;
    }
    if (strcmp(command, "sections") == 0 && nargs == 0) {
        for (section = cfg->first; section != NULL; section = section->next)
            puts(section->name);
        return 0;
    }
    if (nargs != (strcmp(command, "keys") == 0 ? 1 : 2))
        usage();
    section = find_section(cfg, args[0]);
    if (section == NULL) {
        fprintf(stderr, "ini: no section '%s'\n", args[0]);
        return 2;
    }
    if (nargs == 1) {
        for (e = section->first; e != NULL; e = e->next)
            puts(e->key);
        return 0;
    }
    if (!is_type(command))
        usage();
    e = find_entry(cfg, section, args[1]);
    if (e == NULL) {
        fprintf(stderr, "ini: no key '%s' in section '%s'\n", args[1], args[0]);
        return 2;
    }
    return print_typed(command, e);
}

int main(int argc, char **argv)
{
    struct config cfg;
    const char *command;
    int c, status;

    config_init(&cfg);
    while ((c = getopt(argc, argv, "+iu")) != -1) {
        switch (c) {
        case 'i': cfg.fold_case = 1; break;
        case 'u': cfg.unique = 1; break;
        default: usage();
        }
    }
    argc -= optind;
    argv += optind;
    if (argc < 2)
        usage();
    command = argv[1];
    if (strcmp(command, "check") == 0 && argc == 2)
        cfg.diagnostics = stdout;
    if (parse_file(&cfg, argv[0]) < 0) {
        fprintf(stderr, "ini: cannot read %s\n", argv[0]);
        config_free(&cfg);
        return 3;
    }
    if (cfg.diagnostics == stdout)
        status = check(&cfg);
    else if (cfg.errors > 0)
        status = 1;
    else
        status = run(&cfg, command, argv + 2, argc - 2);
    config_free(&cfg);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("ini: write error\n", stderr);
        return 3;
    }
    return status;
}
