/* calc - evaluate integer expressions */
#ifndef CALC_H
#define CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_NAME 15             /* characters of a name */
#define MAX_ARGS 4              /* arguments of a function */
#define MAX_NODES 200           /* nodes of one statement */
#define MAX_DEPTH 40            /* nested operands */
#define MAX_VARIABLES 16

typedef int64_t number;

/* What went wrong, and in which column of the text. */
struct fault {
    const char *message;
    int column;
};

/* lex.c */
enum token_kind {
    T_END, T_BAD, T_NUMBER, T_NAME, T_DELETE,
    T_ASSIGN, T_SEMICOLON, T_COMMA, T_QUESTION, T_COLON, T_OPEN, T_CLOSE,
    T_OR, T_AND, T_EQ, T_NE, T_LT, T_LE, T_GT, T_GE,
    T_PLUS, T_MINUS, T_TIMES, T_DIVIDE, T_MODULO, T_POWER, T_NOT
};

struct token {
    enum token_kind kind;
    int column;
    number value;
    char name[MAX_NAME + 1];
    const char *problem;        /* of a T_BAD */
};

struct lexer {
    const char *text;
    const char *at;
};

void lex_start(struct lexer *lexer, const char *text);
void lex_next(struct lexer *lexer, struct token *token);

/* parse.c */
enum node_kind { N_NUMBER, N_VARIABLE, N_CALL, N_UNARY, N_BINARY, N_CHOICE };

struct node {
    enum node_kind kind;
    enum token_kind op;
    int column;
    int args;
    const struct node *arg[MAX_ARGS];
    number value;
    const struct function *function;
    char name[MAX_NAME + 1];
};

enum statement_kind { S_EMPTY, S_PRINT, S_ASSIGN, S_DELETE };

struct statement {
    enum statement_kind kind;
    int column;
    char name[MAX_NAME + 1];
    const struct node *value;
};

struct parser {
    struct lexer lexer;
    struct token token;
    struct token ahead;
    struct node node[MAX_NODES];
    int nodes;
    int depth;
    struct fault fault;
};

void parse_start(struct parser *parser, const char *text);
bool parse_statement(struct parser *parser, struct statement *statement);
bool parse_more(const struct parser *parser);

/* eval.c */
bool evaluate(const struct node *node, number *result, struct fault *fault);

/* arith.c: all return NULL or what went wrong */
const char *checked_negate(number a, number *result);
const char *checked_add(number a, number b, number *result);
const char *checked_subtract(number a, number b, number *result);
const char *checked_multiply(number a, number b, number *result);
const char *checked_divide(number a, number b, number *result);
const char *checked_modulo(number a, number b, number *result);
const char *checked_power(number a, number b, number *result);

/* funcs.c */
struct function {
    const char *name;
    int min_args;
    int max_args;
    const char *(*call)(const number *arg, int args, number *result);
};

const struct function *find_function(const char *name);

/* vars.c */
struct variable {
    enum { FREE, USED, DELETED } state;
    bool defined;
    char name[MAX_NAME + 1];
    number value;
};

struct variable *declare_variable(const char *name);
struct variable *declare_answer(void);
bool get_variable(const char *name, number *value);
bool delete_variable(const char *name);
void print_variables(void (*print)(number value));

#endif
