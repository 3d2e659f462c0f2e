/* Integer arithmetic that notices overflow. */
#include "calc.h"

static const char overflow[] = "overflow";

const char *checked_negate(number a, number *result)
{
    if (a == INT64_MIN)
        return overflow;
    *result = -a;
    return NULL;
}

const char *checked_add(number a, number b, number *result)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return overflow;
    *result = a + b;
    return NULL;
}

const char *checked_subtract(number a, number b, number *result)
{
    if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b)
        return overflow;
    *result = a - b;
    return NULL;
}

const char *checked_multiply(number a, number b, number *result)
{
    if (a > 0) {
        if (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
            return overflow;
    } else if (a < 0) {
        if (b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a)
            return overflow;
    }
    *result = a * b;
    return NULL;
}

const char *checked_divide(number a, number b, number *result)
{
    if (b == 0)
        return "division by zero";
    if (b == -1)
        return checked_negate(a, result);
    *result = a / b;
    return NULL;
}

/* The result has the sign of the divisor. */
const char *checked_modulo(number a, number b, number *result)
{
    number rest;

    if (b == 0)
        return "division by zero";
    if (b == -1) {
        *result = 0;
        return NULL;
    }
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0))
        rest += b;
    *result = rest;
    return NULL;
}

const char *checked_power(number a, number b, number *result)
{
    const char *problem = NULL;
    number product = 1;

    if (b < 0)
        return "negative exponent";
    while (b > 0 && !problem) {
        if (b % 2 == 1)
            problem = checked_multiply(product, a, &product);
        b /= 2;
        if (b > 0 && !problem)
            problem = checked_multiply(a, a, &a);
    }
    *result = product;
    return problem;
}
