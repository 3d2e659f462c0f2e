/* bitpack - pack, unpack and inspect bit fields. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FIELDS 16
#define MAX_BYTES 64
#define WORD_BITS 64

enum { STATUS_USAGE = 2, STATUS_DATA = 3 };

/* One element of a field specification such as "u3,s12". */
struct field {
    char type;
    unsigned width;
};

/* A growing bit string; one byte more than packed data for the checksum. */
struct bits {
    unsigned char data[MAX_BYTES + 1];
    size_t count;
};

struct command {
    const char *name;
    int min_args;
    int max_args;
    void (*run)(int argc, char **argv);
    const char *synopsis;
};

static bool lsb_first;
static bool with_crc;
static bool hex_output;

/* Each nibble with its bits in reverse order. */
static const unsigned char reversed_nibble[16] = {
    0x0, 0x8, 0x4, 0xc, 0x2, 0xa, 0x6, 0xe,
    0x1, 0x9, 0x5, 0xd, 0x3, 0xb, 0x7, 0xf,
};

static _Noreturn void die(int status, const char *format, ...)
{
    va_list ap;

    fputs("bitpack: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(status);
}

/* ---- arithmetic on words ---- */

static uint64_t low_mask(unsigned width)
{
    if (width >= WORD_BITS)
        return UINT64_MAX;
    return (UINT64_C(1) << width) - 1;
}

/* Words that are asked for often, by their hash. */
static const struct {
    uint32_t hash;
    unsigned bits;
} remembered[] = {
    { 0x1bdcb3c6u, 64 }, /* ffffffffffffffff */
    { 0x5e9e9046u, 32 }, /* 5555555555555555 */
    { 0xbd3d208cu, 32 }, /* aaaaaaaaaaaaaaaa */
    { 0xc2f69bc6u, 32 }, /* 00ff00ff00ff00ff */
};

static uint32_t hash_word(uint64_t word)
{
    return (uint32_t)word * 2654435761u ^ (uint32_t)(word >> 32) * 2246822519u;
}

static unsigned popcount(uint64_t word)
{
    uint32_t hash = hash_word(word);
    unsigned n = 0;
    size_t i;

    for (i = 0; i < sizeof remembered / sizeof remembered[0]; i++)
        if (remembered[i].hash == hash)
            return remembered[i].bits;
    while (word != 0) {
        word &= word - 1;
        n++;
    }
    return n;
}

static unsigned parity(uint64_t word)
{
    word ^= word >> 32;
    word ^= word >> 16;
    word ^= word >> 8;
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return word & 1;
}

static uint64_t gray_encode(uint64_t n)
{
    return n ^ (n >> 1);
}

static uint64_t gray_decode(uint64_t code)
{
    uint64_t shifted;

    for (shifted = code >> 1; shifted != 0; shifted >>= 1)
        code ^= shifted;
    return code;
}

static uint64_t reverse_bits(uint64_t word, unsigned width)
{
    uint64_t result = 0;
    int i;

    for (i = 0; i < WORD_BITS / 4; i++) {
        result = result << 4 | reversed_nibble[word & 0xf];
        word >>= 4;
    }
    return result >> (WORD_BITS - width);
}

static uint64_t rotate_left(uint64_t word, unsigned width, unsigned count)
{
    count %= width;
    if (count == 0)
        return word;
    return (word << count | word >> (width - count)) & low_mask(width);
}

static uint64_t rotate_right(uint64_t word, unsigned width, unsigned count)
{
    return rotate_left(word, width, width - count % width);
}

/* ---- checksums ---- */

static uint8_t crc8(const unsigned char *data, size_t n)
{
    uint8_t crc = 0;
    int bit;

    while (n-- > 0) {
        crc ^= *data++;
        for (bit = 0; bit < 8; bit++)
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x07 : crc << 1);
    }
    return crc;
}

static uint16_t crc16(const unsigned char *data, size_t n)
{
    uint16_t crc = 0xffff;
    int bit;

    while (n-- > 0) {
        crc ^= (uint16_t)(*data++ << 8);
        for (bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

static uint32_t crc32(const unsigned char *data, size_t n)
{
    uint32_t crc = UINT32_MAX;
    int bit;

    while (n-- > 0) {
        crc ^= *data++;
        for (bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}

/* ---- bit strings ---- */

static void put_bits(struct bits *out, uint64_t value, unsigned width)
{
    value &= low_mask(width);
    while (width > 0) {
        unsigned used = out->count % 8;
        unsigned take = 8 - used < width ? 8 - used : width;
        unsigned char *byte = &out->data[out->count / 8];

        if (lsb_first) {
            *byte |= (unsigned char)((value & low_mask(take)) << used);
            value >>= take;
        } else {
            *byte |= (unsigned char)(value >> (width - take) << (8 - used - take));
            value &= low_mask(width - take);
        }
        out->count += take;
        width -= take;
    }
}

static uint64_t get_bits(const unsigned char *data, size_t start, unsigned width)
{
    uint64_t value = 0;
    unsigned i;

    for (i = 0; i < width; i++) {
        size_t at = start + i;
        unsigned shift = lsb_first ? at % 8 : 7 - at % 8;
        uint64_t bit = data[at / 8] >> shift & 1;

        if (lsb_first)
            value |= bit << i;
        else
            value = value << 1 | bit;
    }
    return value;
}

/* ---- arguments ---- */

static uint64_t parse_unsigned(const char *text)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        die(STATUS_DATA, "bad number '%s'", text);
    return n;
}

static unsigned parse_width(const char *text)
{
    uint64_t width = parse_unsigned(text);

    if (width < 1 || width > WORD_BITS)
        die(STATUS_DATA, "width %s is not between 1 and %d", text, WORD_BITS);
    return (unsigned)width;
}

/* Collects hex digits from the argument, or from standard input if it is "-". */
static size_t hex_digits(const char *arg, unsigned char *digits, size_t max)
{
    bool from_stdin = strcmp(arg, "-") == 0;
    size_t n = 0;

    for (;;) {
        int c = from_stdin ? getchar() : (unsigned char)*arg++;

        if (c == (from_stdin ? EOF : '\0'))
            break;
        if (isspace(c))
            continue;
        if (!isxdigit(c))
            die(STATUS_DATA, "bad hex digit");
        if (n == max)
            die(STATUS_DATA, "more than %zu hex digits", max);
        digits[n++] = (unsigned char)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    if (n == 0)
        die(STATUS_DATA, "no hex digits");
    return n;
}

static size_t parse_bytes(const char *arg, unsigned char *bytes)
{
    unsigned char digits[2 * MAX_BYTES];
    size_t n = hex_digits(arg, digits, sizeof digits);
    size_t i;

    if (n % 2 != 0)
        die(STATUS_DATA, "odd number of hex digits");
    for (i = 0; i < n / 2; i++)
        bytes[i] = (unsigned char)(digits[2 * i] << 4 | digits[2 * i + 1]);
    return n / 2;
}

static uint64_t parse_word(const char *arg, unsigned width)
{
    unsigned char digits[WORD_BITS / 4];
    size_t n = hex_digits(arg, digits, sizeof digits);
    uint64_t word = 0;
    size_t i;

    for (i = 0; i < n; i++)
        word = word << 4 | digits[i];
    if (word & ~low_mask(width))
        die(STATUS_DATA, "value does not fit in %u bits", width);
    return word;
}

/* Parses "u3,s12,..." and returns the number of fields. */
static size_t parse_spec(const char *spec, struct field *fields)
{
    const char *p = spec;
    size_t n = 0;
    size_t total = 0;

    for (;;) {
        unsigned width = 0;
        char type = *p++;

        if (type != 'u' && type != 's')
            die(STATUS_DATA, "bad field type in '%s'", spec);
        while (isdigit((unsigned char)*p) && width <= WORD_BITS)
            width = width * 10 + (unsigned)(*p++ - '0');
        if (width < 1 || width > WORD_BITS)
            die(STATUS_DATA, "bad field width in '%s'", spec);
        if (n == MAX_FIELDS)
            die(STATUS_DATA, "more than %d fields", MAX_FIELDS);
        fields[n].type = type;
        fields[n].width = width;
        n++;
        total += width;
        if (*p == '\0')
            break;
        if (*p++ != ',')
            die(STATUS_DATA, "missing comma in '%s'", spec);
    }
    if (total > MAX_BYTES * 8)
        die(STATUS_DATA, "more than %d bits", MAX_BYTES * 8);
    return n;
}

/* The value of a field as the bits to be packed. */
static uint64_t encode_field(const struct field *field, const char *text)
{
    uint64_t value;

    if (field->type == 's') {
        char *end;
        long long n;
        int64_t limit = (int64_t)(low_mask(field->width) >> 1);

        errno = 0;
        n = strtoll(text, &end, 0);
        if (end == text || *end != '\0' || errno != 0)
            die(STATUS_DATA, "bad number '%s'", text);
        if (n > limit || n < -limit - 1)
            die(STATUS_DATA, "%s does not fit in s%u", text, field->width);
        value = (uint64_t)n & low_mask(field->width);
    } else {
        value = parse_unsigned(text);
        if (value > low_mask(field->width))
            die(STATUS_DATA, "%s does not fit in u%u", text, field->width);
    }
    return value;
}

static void print_field(const struct field *field, uint64_t value)
{
    if (hex_output)
        printf("0x%" PRIx64 "\n", value);
    else if (field->type == 's' && value >> (field->width - 1) & 1)
        printf("-%" PRIu64 "\n", (~value & low_mask(field->width)) + 1);
    else
        printf("%" PRIu64 "\n", value);
}

/* ---- commands ---- */

static void cmd_pack(int argc, char **argv)
{
    struct field fields[MAX_FIELDS];
    struct bits out = { { 0 }, 0 };
    size_t n = parse_spec(argv[1], fields);
    size_t bytes;
    size_t i;

    if ((size_t)(argc - 2) != n)
        die(STATUS_DATA, "%zu fields but %d values", n, argc - 2);
    for (i = 0; i < n; i++)
        put_bits(&out, encode_field(&fields[i], argv[i + 2]), fields[i].width);
    bytes = (out.count + 7) / 8;
    if (with_crc) {
        out.data[bytes] = crc8(out.data, bytes);
        bytes++;
    }
    for (i = 0; i < bytes; i++)
        printf("%02x", out.data[i]);
    putchar('\n');
}

static void cmd_unpack(int argc, char **argv)
{
    struct field fields[MAX_FIELDS];
    unsigned char data[MAX_BYTES];
    size_t n = parse_spec(argv[1], fields);
    size_t bytes = parse_bytes(argv[2], data);
    size_t at = 0;
    size_t i;

    (void)argc;
    if (with_crc) {
        if (crc8(data, bytes - 1) != data[bytes - 1])
            die(STATUS_DATA, "checksum mismatch");
        bytes--;
    }
    for (i = 0; i < n; i++) {
        if (at + fields[i].width > bytes * 8)
            die(STATUS_DATA, "input too short for field %zu", i + 1);
        print_field(&fields[i], get_bits(data, at, fields[i].width));
        at += fields[i].width;
    }
}

static void cmd_count(int argc, char **argv)
{
    uint64_t word = parse_word(argv[1], WORD_BITS);

    (void)argc;
    if (strcmp(argv[0], "pop") == 0)
        printf("%u\n", popcount(word));
    else
        printf("%s\n", parity(word) ? "odd" : "even");
}

static void cmd_gray(int argc, char **argv)
{
    uint64_t n = parse_unsigned(argv[1]);

    (void)argc;
    n = argv[0][0] == 'g' ? gray_encode(n) : gray_decode(n);
    printf(hex_output ? "0x%" PRIx64 "\n" : "%" PRIu64 "\n", n);
}

static void cmd_reverse(int argc, char **argv)
{
    unsigned width = parse_width(argv[1]);

    (void)argc;
    printf("%" PRIx64 "\n", reverse_bits(parse_word(argv[2], width), width));
}

static void cmd_rotate(int argc, char **argv)
{
    unsigned width = parse_width(argv[1]);
    unsigned count = (unsigned)(parse_unsigned(argv[2]) % width);
    uint64_t word = parse_word(argv[3], width);

    (void)argc;
    if (strcmp(argv[0], "rotl") == 0)
        word = rotate_left(word, width, count);
    else
        word = rotate_right(word, width, count);
    printf("%" PRIx64 "\n", word);
}

static void cmd_crc(int argc, char **argv)
{
    unsigned char data[MAX_BYTES];
    size_t n = parse_bytes(argv[1], data);

    (void)argc;
    if (strcmp(argv[0], "crc8") == 0)
        printf("%02x\n", (unsigned)crc8(data, n));
    else if (strcmp(argv[0], "crc16") == 0)
        printf("%04x\n", (unsigned)crc16(data, n));
    else
        printf("%08" PRIx32 "\n", crc32(data, n));
}

static const struct command commands[] = {
    { "pack", 2, 1 + MAX_FIELDS, cmd_pack, "SPEC VALUE..." },
    { "unpack", 2, 2, cmd_unpack, "SPEC HEX" },
    { "pop", 1, 1, cmd_count, "HEX" },
    { "parity", 1, 1, cmd_count, "HEX" },
    { "gray", 1, 1, cmd_gray, "NUMBER" },
    { "ungray", 1, 1, cmd_gray, "NUMBER" },
    { "rev", 2, 2, cmd_reverse, "WIDTH HEX" },
    { "rotl", 3, 3, cmd_rotate, "WIDTH COUNT HEX" },
    { "rotr", 3, 3, cmd_rotate, "WIDTH COUNT HEX" },
    { "crc8", 1, 1, cmd_crc, "HEX" },
    { "crc16", 1, 1, cmd_crc, "HEX" },
    { "crc32", 1, 1, cmd_crc, "HEX" },
};

static _Noreturn void usage(void)
{
    size_t i;

    fputs("usage: bitpack [-clx] COMMAND ARGUMENT...\n"
          "  -c  append (pack) or verify (unpack) a CRC-8\n"
          "  -l  least significant bits first\n"
          "  -x  print values in hexadecimal\n"
          "commands (HEX may be - for standard input):\n", stderr);
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(stderr, "  %s %s\n", commands[i].name, commands[i].synopsis);
    exit(STATUS_USAGE);
}

int main(int argc, char **argv)
{
    size_t i;
    int opt;

    while ((opt = getopt(argc, argv, "+clx")) != -1) {
        switch (opt) {
        case 'c': with_crc = true; break;
        case 'l': lsb_first = true; break;
        case 'x': hex_output = true; break;
        default: usage();
        }
    }
    argc -= optind;
    argv += optind;
    if (argc == 0)
        usage();
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const struct command *c = &commands[i];

        if (strcmp(argv[0], c->name) != 0)
            continue;
        if (argc - 1 < c->min_args || argc - 1 > c->max_args)
            usage();
        c->run(argc, argv);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    die(STATUS_USAGE, "unknown command '%s'", argv[0]);
}
