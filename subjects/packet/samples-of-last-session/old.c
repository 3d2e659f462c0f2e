/*
 * packet - decode a stream of telemetry packets from standard input.
 *
 *   packet [-k] [-q]
 *
 *   -k   keep going after a bad packet (default: stop)
 *   -q   print only the summary
 *
 * A packet is
 *
 *   a5 5a   flags   type   length (2)   payload (length)   check (2)
 *
 * with numbers in network byte order.  The check sum covers everything between
 * the sync bytes and itself; it is a CRC-16 if FLAG_CRC is set in the flags, a
 * Fletcher-16 otherwise.  A session begins with HELLO and ends with BYE.
 *
 * The payload of DATA is a sequence number and a list of elements, each made of
 * a tag, a length and a value.  Lengths below 128 take one byte; others take two
 * bytes, the first of which has its top bit set.  The value of a container is a
 * list of elements again.
 *
 * The exit status is 0 if all packets were good, 2 if some were not, 3 on errors.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYNC_1 0xa5
#define SYNC_2 0x5a
#define HEADER_SIZE 6
#define CHECK_SIZE 2
#define MAX_INPUT (1u << 20)
#define MAX_NAME 16
#define MAX_CHANNEL 8
#define MAX_NESTING 4

#define FLAG_CRC 0x01
#define FLAG_URGENT 0x80

#define TAG_OPTIONAL 0x40 /* may be skipped if not known */
#define TAG_CONTAINER 0x80

enum type { T_HELLO = 1, T_DATA, T_SENSOR, T_BYE };

/* How nodes send samples, from a version and a channel on. */
struct layout {
    int version;
    int channel;
    int high_first; /* order of the bytes of a sample */
};

/* The first one that fits counts. */
static const struct layout layouts[] = {
    {3, 0, 1},
    {2, 4, 1},
    {1, 0, 0},
};

struct decoder {
    const uint8_t *payload, *end; /* of the current packet */
    const struct layout *layout[MAX_CHANNEL]; /* NULL if not known */
    uint32_t next_seq;
    int version; /* of the node */
    int depth; /* of the current element */
    int in_session;
    int have_seq;
    int quiet;
    unsigned long good, bad, lost;
};

/* Reports an error at a place in the payload. */
static int fail(const struct decoder *dec, const uint8_t *at, const char *fmt, ...)
{
    va_list ap;

    printf("error at byte %ld: ", (long)(at - dec->payload));
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    return -1;
}

static void say(const struct decoder *dec, const char *fmt, ...)
{
    va_list ap;

    if (dec->quiet)
        return;
    printf("%*s", 2 + 2 * dec->depth, "");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static unsigned fletcher16(const uint8_t *p, size_t n)
{
    unsigned a = 0, b = 0;

    while (n-- > 0) {
        a = (a + *p++) % 255;
        b = (b + a) % 255;
    }
    return b << 8 | a;
}

static unsigned crc16(const uint8_t *p, size_t n)
{
    unsigned crc = 0xffff;

    while (n-- > 0) {
        crc ^= (unsigned)*p++ << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
        crc &= 0xffff;
    }
    return crc;
}

static int is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] > 0x7e)
            return 0;
    return 1;
}

static int decode_hello(struct decoder *dec)
{
    const uint8_t *p = dec->payload;
    size_t size = (size_t)(dec->end - p), len;

    if (dec->in_session)
        return fail(dec, p, "session is open already");
    if (size < 2)
        return fail(dec, p, "short hello");
    if (p[0] < 1 || p[0] > 3)
        return fail(dec, p, "unsupported version %d", p[0]);
    len = p[1];
    if (len < 1 || len > MAX_NAME)
        return fail(dec, p + 1, "bad length of a name");
    if (size != 2 + len + 4)
        return fail(dec, p + 1, "length of the name does not fit");
    if (!is_text(p + 2, len) || memchr(p + 2, ' ', len) != NULL)
        return fail(dec, p + 2, "bad name");
    say(dec, "hello '%.*s' node %lu version %d", (int)len, (const char *)p + 2,
        (unsigned long)get32(p + 2 + len), p[0]);
    if (p[0] != dec->version)
        memset(dec->layout, 0, sizeof dec->layout);
    dec->version = p[0];
    dec->in_session = 1;
    dec->have_seq = 0;
    return 0;
}

/* Reads the length of an element, which must fit between *p and end. */
static int get_length(struct decoder *dec, const uint8_t **p, const uint8_t *end, size_t *len)
{
    const uint8_t *start = *p;
    size_t n;

    if (*p == end)
        return fail(dec, start, "missing length");
    n = *(*p)++;
    if (n & 0x80) {
        if (*p == end)
            return fail(dec, start, "missing length");
        n = (n & 0x7f) << 8 | *(*p)++;
        if (n < 0x80)
            return fail(dec, start, "long form of a short length");
    }
    if (n > (size_t)(end - *p))
        return fail(dec, start, "length %zu does not fit", n);
    *len = n;
    return 0;
}

static int decode_integer(struct decoder *dec, const uint8_t *p, size_t len, int is_signed)
{
    uint32_t value = 0;

    if (len != 1 && len != 2 && len != 4)
        return fail(dec, p, "bad size of an integer");
    for (size_t i = 0; i < len; i++)
        value = value << 8 | p[i];
    if (is_signed && p[0] & 0x80) {
        uint32_t magnitude = (len == 4 ? 0 : (uint32_t)1 << 8 * len) - value;

        say(dec, "integer -%lu", (unsigned long)magnitude);
    } else {
        say(dec, "integer %lu", (unsigned long)value);
    }
    return 0;
}

static int decode_value(struct decoder *dec, int tag, const uint8_t *p, size_t len)
{
    switch (tag) {
    case 0x01:
        if (!is_text(p, len))
            return fail(dec, p, "bad character in a string");
        say(dec, "string '%.*s'", (int)len, (const char *)p);
        return 0;
    case 0x02:
        return decode_integer(dec, p, len, 0);
    case 0x03:
        return decode_integer(dec, p, len, 1);
    case 0x04:
        if (len != 1 || p[0] > 1)
            return fail(dec, p, "bad boolean");
        say(dec, "boolean %s", p[0] ? "true" : "false");
        return 0;
    case 0x05:
        say(dec, "blob of %zu bytes, check %04x", len, fletcher16(p, len));
        return 0;
    default:
        if (!(tag & TAG_OPTIONAL))
            return fail(dec, p, "unknown tag %02x", (unsigned)tag);
        say(dec, "skipped tag %02x", (unsigned)tag);
        return 0;
    }
}

static int decode_elements(struct decoder *dec, const uint8_t *p, const uint8_t *end);

static int decode_container(struct decoder *dec, int tag, const uint8_t *p, size_t len)
{
    int result;

    if (dec->depth == MAX_NESTING)
        return fail(dec, p, "containers nested too deeply");
    say(dec, "container %02x", (unsigned)tag & 0x7f);
    dec->depth++;
    result = decode_elements(dec, p, p + len);
    dec->depth--;
    return result;
}

static int decode_elements(struct decoder *dec, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        int tag = *p++;
        size_t len;

        if (get_length(dec, &p, end, &len) < 0)
            return -1;
        if (tag & TAG_CONTAINER) {
            if (decode_container(dec, tag, p, len) < 0)
                return -1;
        } else if (decode_value(dec, tag, p, len) < 0) {
            return -1;
        }
        p += len;
    }
    return 0;
}

static int decode_data(struct decoder *dec)
{
    const uint8_t *p = dec->payload;
    uint32_t seq, ahead;

    if (dec->end - p < 4)
        return fail(dec, p, "missing sequence number");
    seq = get32(p);
    ahead = seq - dec->next_seq;
    if (dec->have_seq && ahead >= 0x80000000)
        return fail(dec, p, "stale sequence number %lu", (unsigned long)seq);
    say(dec, "data %lu", (unsigned long)seq);
    if (dec->have_seq && ahead > 0) {
        say(dec, "%lu packets lost", (unsigned long)ahead);
        dec->lost += ahead;
    }
    dec->have_seq = 1;
    dec->next_seq = seq + 1;
    return decode_elements(dec, p + 4, dec->end);
}

static const struct layout *find_layout(int version, int channel)
{
    const struct layout *l = layouts;

    while (l->version > version || l->channel > channel)
        l++;
    return l;
}

static int get_sample(const struct decoder *dec, int channel, const uint8_t *p)
{
    int sample = dec->layout[channel]->high_first ? p[0] << 8 | p[1] : p[0] | p[1] << 8;

    return sample > INT16_MAX ? sample - 0x10000 : sample;
}

static int decode_sensor(struct decoder *dec)
{
    const uint8_t *p = dec->payload;
    int min = INT16_MAX, max = INT16_MIN, sum = 0;
    int count;

    if (dec->end - p < 2)
        return fail(dec, p, "short sensor record");
    if (p[0] >= MAX_CHANNEL)
        return fail(dec, p, "no channel %d", p[0]);
    count = p[1];
    if (count == 0 || dec->end - p != 2 + 2 * count)
        return fail(dec, p + 1, "bad number of samples");
    dec->layout[p[0]] = find_layout(dec->version, p[0]);
    for (int i = 0; i < count; i++) {
        int sample = get_sample(dec, p[0], p + 2 + 2 * i);

        if (sample < min)
            min = sample;
        if (sample > max)
            max = sample;
        sum += sample;
    }
    say(dec, "sensor %d: %d samples from %d to %d, mean %d", p[0], count, min, max, sum / count);
    return 0;
}

static int decode_bye(struct decoder *dec)
{
    static const char *const reasons[] = {"done", "timeout", "restart", "fault"};
    const uint8_t *p = dec->payload;
    size_t size = (size_t)(dec->end - p);

    if (size < 1 || p[0] >= sizeof reasons / sizeof reasons[0])
        return fail(dec, p, "bad reason");
    if (!is_text(p + 1, size - 1))
        return fail(dec, p + 1, "bad character in a message");
    say(dec, "bye: %s%s%.*s", reasons[p[0]], size > 1 ? ", " : "", (int)size - 1, (const char *)p + 1);
    memset(dec->layout, 0, sizeof dec->layout);
    dec->in_session = 0;
    return 0;
}

static int decode_packet(struct decoder *dec, const uint8_t *header, size_t length)
{
    int flags = header[2], type = header[3];
    size_t covered = HEADER_SIZE - 2 + length;
    unsigned check = get16(header + HEADER_SIZE + length);
    unsigned sum;

    dec->payload = header + HEADER_SIZE;
    dec->end = dec->payload + length;
    dec->depth = 0;
    sum = flags & FLAG_CRC ? crc16(header + 2, covered) : fletcher16(header + 2, covered);
    if (sum != check)
        return fail(dec, dec->end, "check sum is %04x instead of %04x", check, sum);
    if (flags & ~(FLAG_CRC | FLAG_URGENT))
        return fail(dec, dec->payload, "unknown flags %02x", (unsigned)flags);
    if (flags & FLAG_URGENT)
        say(dec, "urgent");
    if (type != T_HELLO && !dec->in_session)
        return fail(dec, dec->payload, "no session");
    switch (type) {
    case T_HELLO: return decode_hello(dec);
    case T_DATA: return decode_data(dec);
    case T_SENSOR: return decode_sensor(dec);
    case T_BYE: return decode_bye(dec);
    default: return fail(dec, dec->payload, "unknown type %d", type);
    }
}

static void decode_stream(struct decoder *dec, const uint8_t *buf, size_t size, int keep_going)
{
    size_t at = 0;

    while (at < size) {
        size_t left = size - at, length;

        if (left < 2 || buf[at] != SYNC_1 || buf[at + 1] != SYNC_2) {
            printf("offset %zu: not a packet\n", at);
            dec->bad++;
            if (!keep_going)
                return;
            /* Find the next sync bytes. */
            do
                at++;
            while (at < size && (size - at < 2 || buf[at] != SYNC_1 || buf[at + 1] != SYNC_2));
            continue;
        }
        if (left < HEADER_SIZE + CHECK_SIZE || (length = get16(buf + at + 4)) > left - HEADER_SIZE - CHECK_SIZE) {
            printf("offset %zu: truncated packet\n", at);
            dec->bad++;
            return;
        }
        if (!dec->quiet)
            printf("packet at %zu, %zu bytes\n", at, length);
        if (decode_packet(dec, buf + at, length) == 0) {
            dec->good++;
        } else {
            dec->bad++;
            if (!keep_going)
                return;
        }
        at += HEADER_SIZE + length + CHECK_SIZE;
    }
}

static uint8_t *read_input(size_t *size)
{
    uint8_t *buf = NULL;
    size_t room = 0, n;

    *size = 0;
    do {
        if (*size == room) {
            uint8_t *larger;

            room = room == 0 ? 4096 : room * 2;
            if (room > MAX_INPUT) {
                fputs("packet: input is too large\n", stderr);
                exit(3);
            }
            larger = realloc(buf, room);
            if (larger == NULL) {
                fputs("packet: out of memory\n", stderr);
                exit(3);
            }
            buf = larger;
        }
        n = fread(buf + *size, 1, room - *size, stdin);
        *size += n;
    } while (n > 0);
    if (ferror(stdin)) {
        perror("packet: standard input");
        exit(3);
    }
    return buf;
}

int main(int argc, char **argv)
{
    struct decoder dec;
    int c, keep_going = 0;
    uint8_t *buf;
    size_t size;

    memset(&dec, 0, sizeof dec);
    while ((c = getopt(argc, argv, "kq")) != -1) {
        switch (c) {
        case 'k': keep_going = 1; break;
        case 'q': dec.quiet = 1; break;
        default:
            fputs("usage: packet [-kq] < stream\n", stderr);
            return 3;
        }
    }
    if (optind < argc) {
        fputs("usage: packet [-kq] < stream\n", stderr);
        return 3;
    }
    buf = read_input(&size);
    decode_stream(&dec, buf, size, keep_going);
    printf("%lu good, %lu bad, %lu lost\n", dec.good, dec.bad, dec.lost);
    if (dec.in_session && dec.bad == 0)
        puts("session is still open");
    free(buf);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("packet: write error\n", stderr);
        return 3;
    }
    return dec.bad == 0 ? 0 : 2;
}
