/* strtok, strsep, basename, dirname. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

char *bg_m_strtok(char *, const char *);
char *bg_m_strtok_r(char *, const char *, char **);
char *bg_m_strsep(char **, const char *);
char *bg_m_basename(const char *);
char *bg_m___xpg_basename(char *);
char *bg_m_dirname(char *);
int bg_m_getsubopt(char **, char *const *, char **);
char *__xpg_basename(char *);
char *dirname(char *);

static void random_text(char *to, unsigned most, const char *alphabet) {
    unsigned len = below(most);
    for (unsigned i = 0; i < len; i++)
        to[i] = one_of(alphabet);
    to[len] = '\0';
}

/* Where a result lies: an offset, or -1 for null, -2 for elsewhere. */
static long place(const char *p, const char *base) {
    return p == NULL ? -1 : p >= base && p < base + 64 ? p - base : -2;
}

static void tokens(void) {
    char a[64], b[64], set[8];
    char *ra = NULL, *rb = NULL;
    memset(a, '#', sizeof a);
    random_text(a, 40, "ab,; \xff");
    memcpy(b, a, sizeof a);
    int kind = (int)below(3);
    ra = a, rb = b;
    for (int i = 0; i < 12; i++) {
        random_text(set, below(4) ? 3 : 6, ",; a\xff");
        char *x, *y;
        if (kind == 0) {
            x = strtok(i ? NULL : a, set);
            y = bg_m_strtok(i ? NULL : b, set);
        } else if (kind == 1) {
            x = strtok_r(i ? NULL : a, set, &ra);
            y = bg_m_strtok_r(i ? NULL : b, set, &rb);
        } else {
            x = strsep(&ra, set);
            y = bg_m_strsep(&rb, set);
        }
        if (place(x, a) != place(y, b) || (kind > 0 && place(ra, a) != place(rb, b)) || memcmp(a, b, sizeof a) != 0)
            differ("kind %d, step %d: %s | %s, set %s", kind, i, shown(a, 40), shown(b, 40), shown(set, strlen(set)));
    }
}

static void paths(void) {
    char a[64], b[64], kept[64];
    memset(a, '#', sizeof a);
    random_text(a, below(2) ? 6 : 16, "a//b.");
    memcpy(b, a, sizeof a);
    memcpy(kept, a, sizeof a);
    char *x, *y;
    int kind = (int)below(3);
    int null = kind > 0 && below(100) == 0;
    if (kind == 0) {
        x = basename(a);
        y = bg_m_basename(b);
    } else if (kind == 1) {
        x = __xpg_basename(null ? NULL : a);
        y = bg_m___xpg_basename(null ? NULL : b);
    } else {
        x = dirname(null ? NULL : a);
        y = bg_m_dirname(null ? NULL : b);
    }
    if (place(x, a) != place(y, b) || strcmp(x, y) != 0 || memcmp(a, b, sizeof a) != 0)
        differ("kind %d: %s gives %s and %s", kind, kept, x, y);
}

static void suboptions(void) {
    static char *const tokens[] = {"a", "ab", "b", "", "ba", NULL};
    char a[64], b[64];
    char *ra = a, *rb = b;
    memset(a, '#', sizeof a);
    random_text(a, 16, "aab,==");
    memcpy(b, a, sizeof a);
    for (int i = 0; i < 8; i++) {
        char *va = NULL, *vb = NULL;
        int x = getsubopt(&ra, tokens, &va);
        int y = bg_m_getsubopt(&rb, tokens, &vb);
        if (x != y || place(ra, a) != place(rb, b) || place(va, a) != place(vb, b) || memcmp(a, b, sizeof a) != 0)
            differ("getsubopt, step %d: %d %d, %s", i, x, y, shown(a, 20));
    }
}

void test_strings(long cases) {
    for (long n = 0; n < cases; n++) {
        tokens();
        paths();
        suboptions();
    }
}
