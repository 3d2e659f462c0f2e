/* fgets, gets, getline, getdelim, and fscanf among them: two streams of the same content, one read by libc,
   one by the models. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

char *bg_m_fgets(char *, int, FILE *);
char *bg_m_fgets_unlocked(char *, int, FILE *);
char *bg_m___fgets_chk(char *, size_t, int, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
char *gets(char *);
char *bg_m_gets(char *);
char *bg_m___gets_chk(char *, size_t);
char *__gets_chk(char *, size_t);
ssize_t bg_m_getline(char **, size_t *, FILE *);
ssize_t bg_m_getdelim(char **, size_t *, int, FILE *);
ssize_t bg_m___getdelim(char **, size_t *, int, FILE *);
int bg_m_fscanf(FILE *, const char *, ...);

#define ROOM 20000

static char content[40000];
static size_t content_len;
static char buffers[2][ROOM];
static char *lines[2];
static size_t sizes[2];
static FILE *streams[2];

static void make_content(void) {
    static const unsigned lengths[] = {0, 1, 3, 10, 118, 119, 120, 121, 240, 300, 1000, 5000};
    content_len = 0;
    unsigned count = below(12);
    for (unsigned i = 0; i < count; i++) {
        unsigned len = lengths[below(below(3) ? 5 : 12)];
        for (unsigned k = 0; k < len && content_len < sizeof content - 2; k++)
            content[content_len++] = below(200) ? one_of("abc;12 3\xff\xfe-") : '\0';
        if ((i + 1 < count || below(3)) && content_len < sizeof content - 1)
            content[content_len++] = '\n';
    }
}

/* A stream of the content: a file, or a pipe that says "not yet" at its end. */
static void open_streams(void) {
    int kind = (int)below(8);
    int mode = (int)below(4);
    size_t buffer = 1 + below(300);
    for (int i = 0; i < 2; i++) {
        if (kind == 0) {
            int fds[2];
            if (pipe2(fds, O_NONBLOCK) != 0 || write(fds[1], content, content_len) != (ssize_t)content_len)
                differ("pipe");
            streams[i] = fdopen(dup(fds[0]), "r");
            close(fds[0]);
            if (mode & 1)
                close(fds[1]);
            else /* Kept open, so that there is no end; its number does not matter. */
                fcntl(fds[1], F_SETFD, FD_CLOEXEC), dup2(fds[1], 100 + i), close(fds[1]);
        } else if (kind == 1) {
            streams[i] = fopen("/dev/null", "w");
        } else {
            FILE *f = tmpfile();
            fwrite(content, 1, content_len, f);
            rewind(f);
            streams[i] = f;
        }
        if (mode == 0)
            setvbuf(streams[i], NULL, _IONBF, 0);
        else if (mode == 1)
            setvbuf(streams[i], malloc(buffer), _IOFBF, buffer); /* leaks a little */
        free(lines[i]);
        lines[i] = NULL;
        sizes[i] = below(2) ? 0 : sizes[i];
    }
    sizes[1] = sizes[0];
}

struct result {
    long value;
    int error;
    long position;
    int eof, failed;
};

static struct result perform(int who, int operation, unsigned size, int character) {
    FILE *f = streams[who];
    char *buffer = buffers[who];
    struct result r = {0, 0, 0, 0, 0};
    char *p = buffer;
    FILE *kept = stdin;
    errno = 0;
    switch (operation) {
    case 0:
        p = (who ? bg_m_fgets : fgets)(buffer, (int)size, f);
        break;
    case 1:
        p = (who ? bg_m_fgets_unlocked : fgets_unlocked)(buffer, (int)size, f);
        break;
    case 2:
        p = (who ? bg_m___fgets_chk : __fgets_chk)(buffer, ROOM, (int)size, f);
        break;
    case 3:
    case 4:
        stdin = f;
        if (operation == 3)
            p = (who ? bg_m_gets : gets)(buffer);
        else
            p = (who ? bg_m___gets_chk : __gets_chk)(buffer, ROOM);
        stdin = kept;
        break;
    case 5:
    case 6:
    case 7:
        r.value = (who ? bg_m_getline : getline)(&lines[who], &sizes[who], f);
        break;
    case 8:
        r.value = (who ? bg_m_getdelim : getdelim)(&lines[who], &sizes[who], character, f);
        break;
    case 9:
        r.value = (who ? bg_m___getdelim : __getdelim)(&lines[who], &sizes[who], character, f);
        break;
    case 10:
        r.value = getc(f);
        break;
    case 11:
        r.value = ungetc(character, f);
        break;
    case 12:
        clearerr(f);
        break;
    case 13:
        r.value = (who ? bg_m_fscanf : fscanf)(f, "%99s %99[^;]%d", buffer, buffer + 100, (int *)(buffer + 200));
        break;
    default:
        r.value = (who ? bg_m_fscanf : fscanf)(f, " a%n%c%99s", (int *)buffer, buffer + 4, buffer + 8);
        break;
    }
    r.error = errno;
    if (p == NULL)
        r.value = -1;
    r.position = ftell(f);
    r.eof = feof(f);
    r.failed = ferror(f);
    return r;
}

void test_lines(long cases) {
    for (long n = 0; n < cases; n += 20) {
        make_content();
        open_streams();
        memset(buffers, '#', sizeof buffers);
        for (int step = 0; step < 20; step++) {
            int operation = (int)below(15);
            unsigned size = below(4) ? below(130) : below(6000);
            int character = below(10) ? one_of("\nab; \xff") : '\0';
            if (below(4) == 0)
                character = (unsigned char)character;
            struct result a = perform(0, operation, size, character);
            struct result b = perform(1, operation, size, character);
            int same_line = (lines[0] == NULL) == (lines[1] == NULL) && sizes[0] == sizes[1] &&
                            (lines[0] == NULL || a.value < 0 || operation < 5 || operation > 9 ||
                             memcmp(lines[0], lines[1], (size_t)a.value + 1) == 0);
            if (memcmp(&a, &b, sizeof a) != 0 || !same_line || memcmp(buffers[0], buffers[1], ROOM) != 0)
                differ("operation %d, size %u, character %d: result %ld %ld, errno %d %d, position %ld %ld, "
                       "eof %d %d, error %d %d, size %zu %zu, line %s | %s",
                       operation, size, character, a.value, b.value, a.error, b.error, a.position, b.position,
                       a.eof, b.eof, a.failed, b.failed, sizes[0], sizes[1], shown(buffers[0], 60),
                       shown(buffers[1], 60));
        }
        fclose(streams[0]);
        fclose(streams[1]);
    }
}
