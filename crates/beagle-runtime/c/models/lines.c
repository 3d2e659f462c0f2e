/* Models of functions that read lines: on top of getc, so each character that ends a line or does not is a
   decision. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

/* Says that a buffer of known size is too small, and ends the program. */
void __chk_fail(void) __attribute__((noreturn));

/* Characters up to `most`, or to the end of a line, which is stored too. */
static int read_line(char *to, int most, FILE *stream) {
    int count = 0;
    while (count < most) {
        int c = getc(stream);
        if (c == EOF)
            break;
        to[count++] = (char)c;
        if (c == '\n')
            break;
    }
    return count;
}

/* The error flag is that of this call alone while it runs: an old error does not spoil a new line. */
static int take_error(FILE *stream) {
    int old = stream->_flags & _IO_ERR_SEEN;
    stream->_flags &= ~_IO_ERR_SEEN;
    return old;
}

static char *fgets_any(char *to, int size, FILE *stream) {
    if (size <= 0)
        return NULL;
    if (size == 1) {
        to[0] = '\0';
        return to;
    }
    int old = take_error(stream);
    int count = read_line(to, size - 1, stream);
    char *result = NULL;
    if (count != 0 && !((stream->_flags & _IO_ERR_SEEN) != 0 && errno != EAGAIN)) {
        to[count] = '\0';
        result = to;
    }
    stream->_flags |= old;
    return result;
}

char *bg_m_fgets(char *restrict to, int size, FILE *restrict stream) {
    flockfile(stream);
    char *result = fgets_any(to, size, stream);
    funlockfile(stream);
    return result;
}

char *bg_m_fgets_unlocked(char *restrict to, int size, FILE *restrict stream) {
    return fgets_any(to, size, stream);
}

char *bg_m___fgets_chk(char *to, size_t room, int size, FILE *stream) {
    if (size <= 0)
        return NULL;
    flockfile(stream);
    /* Only what does not fit is an error, not what could be too much. */
    int old = take_error(stream);
    size_t most = (size_t)size - 1;
    int count = read_line(to, (int)(most < room ? most : room), stream);
    char *result = NULL;
    if (count != 0 && !((stream->_flags & _IO_ERR_SEEN) != 0 && errno != EAGAIN)) {
        if ((size_t)count >= room)
            __chk_fail();
        to[count] = '\0';
        result = to;
    }
    stream->_flags |= old;
    funlockfile(stream);
    return result;
}

char *bg_m___fgets_unlocked_chk(char *to, size_t room, int size, FILE *stream) {
    return bg_m___fgets_chk(to, room, size, stream);
}

static char *gets_any(char *to, size_t room) {
    int c = getc(stdin);
    if (c == EOF)
        return NULL;
    size_t count = 0;
    int old = take_error(stdin);
    while (c != '\n' && c != EOF) {
        if (count >= room)
            __chk_fail();
        to[count++] = (char)c;
        c = getc(stdin);
    }
    if ((stdin->_flags & _IO_ERR_SEEN) != 0)
        return NULL;
    stdin->_flags |= old;
    if (count >= room)
        __chk_fail();
    to[count] = '\0';
    return to;
}

char *bg_m_gets(char *to) {
    flockfile(stdin);
    char *result = gets_any(to, SIZE_MAX);
    funlockfile(stdin);
    return result;
}

char *bg_m___gets_chk(char *to, size_t room) {
    if (room == 0)
        __chk_fail();
    flockfile(stdin);
    char *result = gets_any(to, room);
    funlockfile(stdin);
    return result;
}

/* Makes room for so many bytes more and the end: to just what is needed, but at least double. */
static int make_room(char **line, size_t *size, size_t needed) {
    if (needed <= *size)
        return 0;
    if (needed < 2 * *size)
        needed = 2 * *size;
    char *grown = realloc(*line, needed);
    if (grown == NULL)
        return -1;
    *line = grown;
    *size = needed;
    return 0;
}

static ssize_t getdelim_any(char **line, size_t *size, int delimiter, FILE *stream) {
    if (ferror_unlocked(stream))
        return -1;
    if (*line == NULL || *size == 0) {
        *size = 120;
        *line = malloc(*size);
        if (*line == NULL)
            return -1;
    }
    int c = getc(stream);
    if (c == EOF)
        return -1;
    ssize_t count = 0;
    while (c != EOF) {
        /* One piece: what lies in the buffer, this character included. */
        size_t piece = 1;
        int last = c == (unsigned char)delimiter;
        if (!last)
            piece += bg_model_buffered(stream, delimiter);
        if ((ssize_t)piece >= SSIZE_MAX - count) {
            ungetc(c, stream);
            errno = EOVERFLOW;
            return -1;
        }
        if (make_room(line, size, (size_t)count + piece + 1) != 0) {
            ungetc(c, stream);
            return -1;
        }
        (*line)[count++] = (char)c;
        for (size_t i = 1; i < piece && !last; i++) {
            c = getc(stream);
            if (c == EOF)
                break;
            (*line)[count++] = (char)c;
            last = c == (unsigned char)delimiter;
        }
        if (last || c == EOF)
            break;
        c = getc(stream);
    }
    (*line)[count] = '\0';
    return count;
}

ssize_t bg_m_getdelim(char **restrict line, size_t *restrict size, int delimiter, FILE *restrict stream) {
    if (line == NULL || size == NULL) {
        errno = EINVAL;
        return -1;
    }
    flockfile(stream);
    ssize_t result = getdelim_any(line, size, delimiter, stream);
    funlockfile(stream);
    return result;
}

ssize_t bg_m___getdelim(char **restrict line, size_t *restrict size, int delimiter, FILE *restrict stream) {
    return bg_m_getdelim(line, size, delimiter, stream);
}

ssize_t bg_m_getline(char **restrict line, size_t *restrict size, FILE *restrict stream) {
    return bg_m_getdelim(line, size, '\n', stream);
}
