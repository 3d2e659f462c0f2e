/*
 * imghdr - check an image file and print what is in it.
 *
 *   imghdr [-pst] [-m BYTES] FILE
 *
 *   -m   refuse images whose pixels take more than BYTES (default 268435456)
 *   -p   print the palette
 *   -s   print only the size of the pixels in bytes
 *   -t   print texts
 *
 * A file begins with "TILE", 1a, the byte order of all numbers ('B' for high byte
 * first, 'L' for low byte first), the version 1 and a zero byte.  Chunks follow:
 *
 *   tag (4)   length (4)   content (length)   check (2)
 *
 *   HEAD   width (4), height (4), depth, model, flags, packing
 *   PALT   up to 2^depth colours of three bytes: red, green, blue
 *   RESO   horizontal (2) and vertical (2) resolution, unit
 *   DATA   pixels, in one or more chunks
 *   ENDF   the end of the file
 *   gama   gamma (4) of the samples, times 100000
 *   text   keyword, a zero byte, text
 *
 * HEAD comes first.  Unknown chunks are skipped if their tag begins with a small
 * letter.  The exit status is 0 for good files, 2 for bad ones, 3 for other errors.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "TILE\x1a"
#define MAGIC_SIZE 5
#define FILE_HEADER 8
#define CHUNK_OVERHEAD 10 /* tag, length and check */
#define HEAD_SIZE 12
#define MAX_FILE (16u << 20)
#define MAX_TEXTS 8
#define MAX_KEYWORD 20
#define FIELD_ALIGN 16

enum seen { SEEN_HEAD = 1, SEEN_PALT = 2, SEEN_RESO = 4, SEEN_DATA = 8, SEEN_ENDF = 16, SEEN_GAMA = 32 };
enum flags { F_INTERLACED = 1, F_ALIGNED = 2 };
enum model { M_GRAY, M_RGB, M_PALETTE, M_GRAY_ALPHA, M_RGBA };

/* Sets of depths: bit n stands for a depth of 2^n. */
#define D1 1
#define D2 2
#define D4 4
#define D8 8
#define D16 16

static const struct {
    const char *name;
    int samples;
    unsigned depths;
} models[] = {
    [M_GRAY] = {"gray", 1, D1 | D2 | D4 | D8 | D16},
    [M_RGB] = {"rgb", 3, D8 | D16},
    [M_PALETTE] = {"palette", 1, D1 | D2 | D4 | D8},
    [M_GRAY_ALPHA] = {"gray+alpha", 2, D8 | D16},
    [M_RGBA] = {"rgba", 4, D8 | D16},
};
#define MODELS (sizeof models / sizeof models[0])

struct text {
    const char *keyword, *value;
    int length;
};

struct image {
    const uint8_t *file; /* the whole file */
    size_t at;           /* position of the current chunk */
    int little;          /* low byte first */
    unsigned seen;
    uint32_t width, height;
    int depth, model, flags, packing;
    uint64_t limit, size, data;
    unsigned colours;
    uint8_t *palette;
    unsigned x_res, y_res, unit;
    unsigned chunks;
    struct text texts[MAX_TEXTS];
    size_t ntexts;
};

static const char *file_name;
static uint32_t gamma_value; /* times 100000, 0 if not known */

static void bad(const struct image *im, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "imghdr: %s: byte %zu: ", file_name, im->at);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

static void usage(void)
{
    fputs("usage: imghdr [-pst] [-m bytes] file\n", stderr);
    exit(3);
}

static void *allocate(size_t n)
{
    void *p = malloc(n);

    if (p == NULL) {
        fputs("imghdr: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

static unsigned get16(const struct image *im, const uint8_t *p)
{
    return im->little ? p[0] | (unsigned)p[1] << 8 : (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const struct image *im, const uint8_t *p)
{
    uint32_t first = get16(im, p), second = get16(im, p + 2);

    return im->little ? first | second << 16 : first << 16 | second;
}

/* The check of a chunk: bytes are added to a sum rotated by one bit each time. */
static unsigned check_sum(const uint8_t *p, size_t n)
{
    unsigned sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum = (sum << 1 | sum >> 15) & 0xffff;
        sum = (sum + p[i]) & 0xffff;
    }
    return sum;
}

static uint64_t pad(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Size of the pixels in bytes, which must not exceed the limit. */
static uint64_t image_size(const struct image *im)
{
    unsigned bits = (unsigned)(models[im->model].samples * im->depth);
    uint64_t row = ((uint64_t)im->width * bits + 7) / 8;
    uint64_t size;

    if (im->width == 0 || im->height == 0)
        bad(im, "empty image");
    if (im->flags & F_ALIGNED)
        row = pad(row, 4);
    if (row > im->limit / im->height)
        bad(im, "image is too large");
    if (im->flags & F_INTERLACED) {
        /* Two fields, each with every second row. */
        uint64_t upper = (im->height + (uint64_t)1) / 2;

        size = pad(row * upper, FIELD_ALIGN) + pad(row * (im->height - upper), FIELD_ALIGN);
        if (size > im->limit)
            bad(im, "image is too large");
    } else {
        size = row * im->height;
    }
    return size;
}

static int depth_bit(int depth)
{
    switch (depth) {
    case 1: return D1;
    case 2: return D2;
    case 4: return D4;
    case 8: return D8;
    case 16: return D16;
    default: return 0;
    }
}

static void parse_head(struct image *im, const uint8_t *p, size_t len)
{
    if (len != HEAD_SIZE)
        bad(im, "bad length of HEAD");
    im->width = get32(im, p);
    im->height = get32(im, p + 4);
    im->depth = p[8];
    im->model = p[9];
    im->flags = p[10];
    im->packing = p[11];
    if ((unsigned)im->model >= MODELS)
        bad(im, "unknown model %d", im->model);
    if ((models[im->model].depths & (unsigned)depth_bit(im->depth)) == 0)
        bad(im, "bad depth %d for model %s", im->depth, models[im->model].name);
    if (im->flags & ~(F_INTERLACED | F_ALIGNED))
        bad(im, "unknown flags");
    if (im->packing > 1)
        bad(im, "unknown packing %d", im->packing);
    if (im->width == 0 || im->height == 0)
        bad(im, "empty image");
    im->size = image_size(im);
}

static void parse_palette(struct image *im, const uint8_t *p, size_t len)
{
    if (im->model != M_PALETTE)
        bad(im, "palette in an image of model %s", models[im->model].name);
    if (im->seen & SEEN_DATA)
        bad(im, "palette after pixels");
    if (len == 0 || len % 3 != 0)
        bad(im, "bad length of PALT");
    im->colours = (unsigned)(len / 3);
    if (im->colours > 1u << im->depth)
        bad(im, "too many colours");
    im->palette = allocate((size_t)3 << im->depth);
    memcpy(im->palette, p, len);
}

static void parse_resolution(struct image *im, const uint8_t *p, size_t len)
{
    if (len != 5)
        bad(im, "bad length of RESO");
    im->x_res = get16(im, p);
    im->y_res = get16(im, p + 2);
    im->unit = p[4];
    if (im->unit > 2 || im->x_res == 0 || im->y_res == 0)
        bad(im, "bad resolution");
}

static void parse_gamma(struct image *im, const uint8_t *p, size_t len)
{
    if (len != 4)
        bad(im, "bad length of gama");
    gamma_value = get32(im, p);
    if (gamma_value == 0 || gamma_value > 1000000)
        bad(im, "bad gamma");
}

static void parse_data(struct image *im, const uint8_t *p, size_t len)
{
    (void)p;
    if (im->model == M_PALETTE && !(im->seen & SEEN_PALT))
        bad(im, "pixels without a palette");
    im->data += len;
    im->chunks++;
}

static void parse_end(struct image *im, const uint8_t *p, size_t len)
{
    (void)p;
    if (len != 0)
        bad(im, "bad length of ENDF");
    if (!(im->seen & SEEN_DATA))
        bad(im, "no pixels");
    if (im->packing == 0 && im->data != im->size)
        bad(im, "%llu bytes of pixels instead of %llu", (unsigned long long)im->data,
            (unsigned long long)im->size);
}

static void parse_text(struct image *im, const uint8_t *p, size_t len)
{
    const uint8_t *end = memchr(p, '\0', len);
    size_t keyword;

    if (end == NULL || end == p || end - p > MAX_KEYWORD)
        bad(im, "bad keyword");
    keyword = (size_t)(end - p);
    for (size_t i = 0; i < len; i++)
        if (i != keyword && !isprint(p[i]))
            bad(im, "bad character in a text");
    if (im->ntexts == MAX_TEXTS)
        bad(im, "more than %d texts", MAX_TEXTS);
    im->texts[im->ntexts].keyword = (const char *)p;
    im->texts[im->ntexts].value = (const char *)end + 1;
    im->texts[im->ntexts].length = (int)(len - keyword - 1);
    im->ntexts++;
}

/* Marks a kind of chunk that may occur only once. */
static void once(struct image *im, unsigned bit, const char *tag)
{
    if (im->seen & bit)
        bad(im, "second %s", tag);
    im->seen |= bit;
}

static void parse_chunk(struct image *im, const char *tag, const uint8_t *p, size_t len)
{
    if (im->seen == 0 && strcmp(tag, "HEAD") != 0)
        bad(im, "%s instead of HEAD", tag);
    if (strcmp(tag, "HEAD") == 0) {
        once(im, SEEN_HEAD, tag);
        parse_head(im, p, len);
    } else if (strcmp(tag, "PALT") == 0) {
        once(im, SEEN_PALT, tag);
        parse_palette(im, p, len);
    } else if (strcmp(tag, "RESO") == 0) {
        once(im, SEEN_RESO, tag);
        parse_resolution(im, p, len);
    } else if (strcmp(tag, "gama") == 0) {
        once(im, SEEN_GAMA, tag);
        parse_gamma(im, p, len);
    } else if (strcmp(tag, "DATA") == 0) {
        im->seen |= SEEN_DATA;
        parse_data(im, p, len);
    } else if (strcmp(tag, "ENDF") == 0) {
        once(im, SEEN_ENDF, tag);
        parse_end(im, p, len);
    } else if (strcmp(tag, "text") == 0) {
        parse_text(im, p, len);
    } else if (!islower((unsigned char)tag[0])) {
        bad(im, "unknown chunk %s", tag);
    }
}

static void parse_file(struct image *im, size_t size)
{
    if (size < FILE_HEADER || memcmp(im->file, MAGIC, MAGIC_SIZE) != 0)
        bad(im, "not an image file");
    if (im->file[5] != 'B' && im->file[5] != 'L')
        bad(im, "unknown byte order");
    im->little = im->file[5] == 'L';
    if (im->file[6] != 1 || im->file[7] != 0)
        bad(im, "unknown version");
    im->at = FILE_HEADER;
    while (!(im->seen & SEEN_ENDF)) {
        const uint8_t *p = im->file + im->at;
        char tag[5] = "";
        size_t left = size - im->at;
        uint32_t len;

        if (left < CHUNK_OVERHEAD)
            bad(im, "truncated chunk");
        for (int i = 0; i < 4; i++) {
            if (!isalpha(p[i]))
                bad(im, "bad tag");
            tag[i] = (char)p[i];
        }
        len = get32(im, p + 4);
        if (len > left - CHUNK_OVERHEAD)
            bad(im, "truncated chunk");
        if (check_sum(p, 8 + (size_t)len) != get16(im, p + 8 + len))
            bad(im, "wrong check sum");
        parse_chunk(im, tag, p + 8, len);
        im->at += CHUNK_OVERHEAD + (size_t)len;
    }
    if (im->at != size)
        bad(im, "junk after the end");
}

static void report(const struct image *im, int show_palette, int show_texts)
{
    static const char *const units[] = {"", " per inch", " per cm"};

    printf("%lux%lu, %d-bit %s%s%s, %s\n", (unsigned long)im->width, (unsigned long)im->height,
           im->depth, models[im->model].name, im->flags & F_INTERLACED ? ", interlaced" : "",
           im->flags & F_ALIGNED ? ", aligned" : "", im->packing ? "packed" : "raw");
    printf("pixels: %llu bytes, stored as %llu in %u chunks\n", (unsigned long long)im->size,
           (unsigned long long)im->data, im->chunks);
    if (im->x_res != 0)
        printf("resolution: %ux%u%s\n", im->x_res, im->y_res, units[im->unit]);
    if (gamma_value != 0)
        printf("gamma: %lu.%05lu\n", (unsigned long)gamma_value / 100000, (unsigned long)gamma_value % 100000);
    if (im->seen & SEEN_PALT)
        printf("palette: %u colours\n", im->colours);
    for (unsigned i = 0; show_palette && i < im->colours; i++) {
        const uint8_t *c = im->palette + 3 * i;

        printf("  %3u #%02x%02x%02x\n", i, c[0], c[1], c[2]);
    }
    for (size_t i = 0; show_texts && i < im->ntexts; i++)
        printf("%s: %.*s\n", im->texts[i].keyword, im->texts[i].length, im->texts[i].value);
}

static uint8_t *read_file(const char *name, size_t *size)
{
    uint8_t *buf = NULL;
    size_t room = 0, n;
    FILE *f = fopen(name, "rb");

    if (f == NULL) {
        fprintf(stderr, "imghdr: %s: %s\n", name, strerror(errno));
        exit(3);
    }
    *size = 0;
    do {
        if (*size == room) {
            uint8_t *larger;

            room = room == 0 ? 4096 : 2 * room;
            larger = room <= MAX_FILE ? realloc(buf, room) : NULL;
            if (larger == NULL) {
                fprintf(stderr, "imghdr: %s: file is too large\n", name);
                exit(3);
            }
            buf = larger;
        }
        n = fread(buf + *size, 1, room - *size, f);
        *size += n;
    } while (n > 0);
    if (ferror(f)) {
        fprintf(stderr, "imghdr: %s: read error\n", name);
        exit(3);
    }
    fclose(f);
    return buf;
}

int main(int argc, char **argv)
{
    int c, show_palette = 0, show_texts = 0, size_only = 0;
    struct image im;
    uint8_t *file;
    size_t size;
    char *end;

    memset(&im, 0, sizeof im);
    im.limit = (uint64_t)1 << 28;
    while ((c = getopt(argc, argv, "m:pst")) != -1) {
        switch (c) {
        case 'm':
            errno = 0;
            im.limit = strtoull(optarg, &end, 10);
            if (!isdigit((unsigned char)optarg[0]) || *end != '\0' || errno != 0 || im.limit >> 62 != 0) {
                fprintf(stderr, "imghdr: bad limit '%s'\n", optarg);
                return 3;
            }
            break;
        case 'p': show_palette = 1; break;
        case 's': size_only = 1; break;
        case 't': show_texts = 1; break;
        default: usage();
        }
    }
    if (optind + 1 != argc)
        usage();
    file_name = argv[optind];
    im.file = file = read_file(file_name, &size);
    parse_file(&im, size);
    if (size_only)
        printf("%llu\n", (unsigned long long)im.size);
    else
        report(&im, show_palette, show_texts);
    free(im.palette);
    free(file);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("imghdr: write error\n", stderr);
        return 3;
    }
    return 0;
}
