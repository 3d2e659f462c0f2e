/* The functions that expressions can call. */
#include <string.h>

#include "calc.h"

static const char *call_abs(const number *arg, int args, number *result)
{
    (void)args;
    if (arg[0] < 0)
        return checked_negate(arg[0], result);
    *result = arg[0];
    return NULL;
}

static const char *call_sgn(const number *arg, int args, number *result)
{
    (void)args;
    *result = (arg[0] > 0) - (arg[0] < 0);
    return NULL;
}

static const char *call_min(const number *arg, int args, number *result)
{
    (void)args;
    *result = arg[0] < arg[1] ? arg[0] : arg[1];
    return NULL;
}

static const char *call_max(const number *arg, int args, number *result)
{
    (void)args;
    *result = arg[0] > arg[1] ? arg[0] : arg[1];
    return NULL;
}

static const char *call_clamp(const number *arg, int args, number *result)
{
    number low = args == 3 ? arg[1] : 0;
    number high = arg[args - 1];

    if (low > high)
        return "empty range";
    *result = arg[0] < low ? low : arg[0] > high ? high : arg[0];
    return NULL;
}

static const char *call_gcd(const number *arg, int args, number *result)
{
    uint64_t a = arg[0] < 0 ? 0 - (uint64_t)arg[0] : (uint64_t)arg[0];
    uint64_t b = arg[1] < 0 ? 0 - (uint64_t)arg[1] : (uint64_t)arg[1];

    (void)args;
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    if (a > INT64_MAX)
        return "overflow";
    *result = (number)a;
    return NULL;
}

static const char *call_isqrt(const number *arg, int args, number *result)
{
    uint64_t rest = (uint64_t)arg[0];
    uint64_t root = 0;
    uint64_t bit = (uint64_t)1 << 62;

    (void)args;
    if (arg[0] < 0)
        return "root of a negative number";
    for (; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    *result = (number)root;
    return NULL;
}

/* The number of ways to choose arg[1] of arg[0] things. */
static const char *call_choose(const number *arg, int args, number *result)
{
    number n = arg[0];
    number k = arg[1];
    number ways = 1;
    number i;

    (void)args;
    if (n < 0 || k < 0)
        return "negative argument";
    if (k > n) {
        *result = 0;
        return NULL;
    }
    if (k > n - k)
        k = n - k;
    for (i = 1; i <= k; i++) {
        const char *problem = checked_multiply(ways, n - k + i, &ways);

        if (problem)
            return problem;
        ways /= i;
    }
    *result = ways;
    return NULL;
}

static const struct function functions[] = {
    { "abs", 1, 1, call_abs },
    { "choose", 2, 2, call_choose },
    { "clamp", 2, 3, call_clamp },
    { "gcd", 2, 2, call_gcd },
    { "isqrt", 1, 1, call_isqrt },
    { "max", 2, 2, call_max },
    { "min", 2, 2, call_min },
    { "sgn", 1, 1, call_sgn },
};

const struct function *find_function(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    }
    return NULL;
}
