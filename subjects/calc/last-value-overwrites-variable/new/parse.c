/* Tokens to trees. */
#include <string.h>

#include "calc.h"

static const struct node *parse_expression(struct parser *p);

static const struct node *fail(struct parser *p, int column, const char *message)
{
    if (!p->fault.message) {
        p->fault.message = message;
        p->fault.column = column;
    }
    return NULL;
}

static void advance(struct parser *p)
{
    p->token = p->ahead;
    if (p->token.kind != T_END && p->token.kind != T_BAD)
        lex_next(&p->lexer, &p->ahead);
}

static const struct node *unexpected(struct parser *p)
{
    const char *message = "syntax error";

    if (p->token.kind == T_BAD)
        message = p->token.problem;
    else if (p->token.kind == T_END)
        message = "unexpected end";
    return fail(p, p->token.column, message);
}

static bool expect(struct parser *p, enum token_kind kind)
{
    if (p->token.kind != kind) {
        unexpected(p);
        return false;
    }
    advance(p);
    return true;
}

static struct node *new_node(struct parser *p, enum node_kind kind, int column)
{
    struct node *node;

    if (p->nodes == MAX_NODES) {
        fail(p, column, "expression too long");
        return NULL;
    }
    node = &p->node[p->nodes++];
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->column = column;
    return node;
}

static const struct node *new_operation(struct parser *p, const struct token *op,
                                        const struct node *left, const struct node *right)
{
    struct node *node = new_node(p, right ? N_BINARY : N_UNARY, op->column);

    if (!node)
        return NULL;
    node->op = op->kind;
    node->args = right ? 2 : 1;
    node->arg[0] = left;
    node->arg[1] = right;
    return node;
}

/* NAME '(' EXPRESSION {',' EXPRESSION} ')', at the parenthesis */
static const struct node *parse_call(struct parser *p, const struct token *name)
{
    struct node *node = new_node(p, N_CALL, name->column);

    if (!node)
        return NULL;
    node->function = find_function(name->name);
    if (!node->function)
        return fail(p, name->column, "unknown function");
    do {
        const struct node *arg;

        advance(p);
        arg = parse_expression(p);
        if (!arg)
            return NULL;
        if (node->args == node->function->max_args)
            return fail(p, arg->column, "too many arguments");
        node->arg[node->args++] = arg;
    } while (p->token.kind == T_COMMA);
    if (!expect(p, T_CLOSE))
        return NULL;
    if (node->args < node->function->min_args)
        return fail(p, name->column, "too few arguments");
    return node;
}

static const struct node *parse_primary(struct parser *p)
{
    struct token token = p->token;
    struct node *node;

    switch (token.kind) {
    case T_NUMBER:
        advance(p);
        node = new_node(p, N_NUMBER, token.column);
        if (node)
            node->value = token.value;
        return node;
    case T_NAME:
        advance(p);
        if (p->token.kind == T_OPEN)
            return parse_call(p, &token);
        node = new_node(p, N_VARIABLE, token.column);
        if (node)
            strcpy(node->name, token.name);
        return node;
    case T_OPEN: {
        const struct node *inner;

        advance(p);
        inner = parse_expression(p);
        if (!inner || !expect(p, T_CLOSE))
            return NULL;
        return inner;
    }
    default:
        return unexpected(p);
    }
}

static const struct node *parse_unary(struct parser *p);

/* '**' binds to the right and tighter than a sign before it: -2**2 is -4. */
static const struct node *parse_power(struct parser *p)
{
    const struct node *left = parse_primary(p);

    if (left && p->token.kind == T_POWER) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_unary(p);
        if (!right)
            return NULL;
        left = new_operation(p, &op, left, right);
    }
    return left;
}

static const struct node *parse_unary(struct parser *p)
{
    const struct node *node;

    if (p->depth == MAX_DEPTH)
        return fail(p, p->token.column, "nested too deeply");
    p->depth++;
    if (p->token.kind == T_MINUS || p->token.kind == T_PLUS || p->token.kind == T_NOT) {
        struct token op = p->token;

        advance(p);
        node = parse_unary(p);
        if (node)
            node = new_operation(p, &op, node, NULL);
    } else {
        node = parse_power(p);
    }
    p->depth--;
    return node;
}

static const struct node *parse_product(struct parser *p)
{
    const struct node *left = parse_unary(p);

    while (left && (p->token.kind == T_TIMES || p->token.kind == T_DIVIDE ||
                    p->token.kind == T_MODULO)) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_unary(p);
        left = right ? new_operation(p, &op, left, right) : NULL;
    }
    return left;
}

static const struct node *parse_sum(struct parser *p)
{
    const struct node *left = parse_product(p);

    while (left && (p->token.kind == T_PLUS || p->token.kind == T_MINUS)) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_product(p);
        left = right ? new_operation(p, &op, left, right) : NULL;
    }
    return left;
}

static const struct node *parse_comparison(struct parser *p)
{
    const struct node *left = parse_sum(p);

    while (left && p->token.kind >= T_EQ && p->token.kind <= T_GE) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_sum(p);
        left = right ? new_operation(p, &op, left, right) : NULL;
    }
    return left;
}

static const struct node *parse_and(struct parser *p)
{
    const struct node *left = parse_comparison(p);

    while (left && p->token.kind == T_AND) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_comparison(p);
        left = right ? new_operation(p, &op, left, right) : NULL;
    }
    return left;
}

static const struct node *parse_or(struct parser *p)
{
    const struct node *left = parse_and(p);

    while (left && p->token.kind == T_OR) {
        struct token op = p->token;
        const struct node *right;

        advance(p);
        right = parse_and(p);
        left = right ? new_operation(p, &op, left, right) : NULL;
    }
    return left;
}

static const struct node *parse_expression(struct parser *p)
{
    const struct node *condition = parse_or(p);
    const struct node *yes, *no;
    struct node *node;
    int column = p->token.column;

    if (!condition || p->token.kind != T_QUESTION)
        return condition;
    advance(p);
    yes = parse_expression(p);
    if (!yes || !expect(p, T_COLON))
        return NULL;
    no = parse_expression(p);
    if (!no)
        return NULL;
    node = new_node(p, N_CHOICE, column);
    if (node) {
        node->args = 3;
        node->arg[0] = condition;
        node->arg[1] = yes;
        node->arg[2] = no;
    }
    return node;
}

void parse_start(struct parser *p, const char *text)
{
    lex_start(&p->lexer, text);
    lex_next(&p->lexer, &p->ahead);
    advance(p);
    p->fault.message = NULL;
}

/* Parses the next statement, up to its semicolon or the end. */
bool parse_statement(struct parser *p, struct statement *statement)
{
    p->nodes = 0;
    p->depth = 0;
    statement->kind = S_EMPTY;
    statement->column = p->token.column;
    if (p->token.kind == T_DELETE) {
        statement->kind = S_DELETE;
        advance(p);
        statement->column = p->token.column;
        strcpy(statement->name, p->token.kind == T_NAME ? p->token.name : "");
        if (!expect(p, T_NAME))
            return false;
    } else if (p->token.kind == T_NAME && p->ahead.kind == T_ASSIGN) {
        statement->kind = S_ASSIGN;
        strcpy(statement->name, p->token.name);
        advance(p);
        advance(p);
        statement->value = parse_expression(p);
        if (!statement->value)
            return false;
    } else if (p->token.kind != T_END && p->token.kind != T_SEMICOLON) {
        statement->kind = S_PRINT;
        statement->value = parse_expression(p);
        if (!statement->value)
            return false;
    }
    if (p->token.kind == T_SEMICOLON)
        advance(p);
    else if (p->token.kind != T_END)
        return unexpected(p) != NULL;
    return true;
}

bool parse_more(const struct parser *p)
{
    return p->token.kind != T_END;
}
