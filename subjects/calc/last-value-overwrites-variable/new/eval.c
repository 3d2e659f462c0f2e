/* Trees to numbers. */
#include "calc.h"

static const char *apply_unary(enum token_kind op, number a, number *result)
{
    switch (op) {
    case T_MINUS:
        return checked_negate(a, result);
    case T_NOT:
        *result = a == 0;
        return NULL;
    default:
        *result = a;
        return NULL;
    }
}

static const char *apply_binary(enum token_kind op, number a, number b, number *result)
{
    switch (op) {
    case T_PLUS:
        return checked_add(a, b, result);
    case T_MINUS:
        return checked_subtract(a, b, result);
    case T_TIMES:
        return checked_multiply(a, b, result);
    case T_DIVIDE:
        return checked_divide(a, b, result);
    case T_MODULO:
        return checked_modulo(a, b, result);
    case T_POWER:
        return checked_power(a, b, result);
    case T_EQ:
        *result = a == b;
        return NULL;
    case T_NE:
        *result = a != b;
        return NULL;
    case T_LT:
        *result = a < b;
        return NULL;
    case T_LE:
        *result = a <= b;
        return NULL;
    case T_GT:
        *result = a > b;
        return NULL;
    case T_GE:
        *result = a >= b;
        return NULL;
    default:
        return "unknown operator";
    }
}

bool evaluate(const struct node *node, number *result, struct fault *fault)
{
    const char *problem = NULL;
    number value[MAX_ARGS] = { 0 };
    int i;

    /* These do not need all their operands. */
    if (node->kind == N_CHOICE || node->op == T_AND || node->op == T_OR) {
        if (!evaluate(node->arg[0], &value[0], fault))
            return false;
        if (node->kind == N_CHOICE)
            return evaluate(node->arg[value[0] != 0 ? 1 : 2], result, fault);
        *result = value[0] != 0;
        if (*result == (node->op == T_OR))
            return true;
        if (!evaluate(node->arg[1], &value[1], fault))
            return false;
        *result = value[1] != 0;
        return true;
    }
    for (i = 0; i < node->args; i++) {
        if (!evaluate(node->arg[i], &value[i], fault))
            return false;
    }
    switch (node->kind) {
    case N_NUMBER:
        *result = node->value;
        break;
    case N_VARIABLE:
        if (!get_variable(node->name, result))
            problem = "undefined variable";
        break;
    case N_CALL:
        problem = node->function->call(value, node->args, result);
        break;
    case N_UNARY:
        problem = apply_unary(node->op, value[0], result);
        break;
    default:
        problem = apply_binary(node->op, value[0], value[1], result);
        break;
    }
    if (problem) {
        fault->message = problem;
        fault->column = node->column;
    }
    return !problem;
}
