/* Text to tokens. */
#include <ctype.h>
#include <string.h>

#include "calc.h"

struct spelling {
    const char *text;
    enum token_kind kind;
};

/* Longer ones come before their prefixes. */
static const struct spelling operators[] = {
    { "**", T_POWER }, { "||", T_OR }, { "&&", T_AND }, { "==", T_EQ }, { "!=", T_NE },
    { "<=", T_LE }, { ">=", T_GE }, { "<", T_LT }, { ">", T_GT }, { "=", T_ASSIGN },
    { "!", T_NOT }, { "+", T_PLUS }, { "-", T_MINUS }, { "*", T_TIMES }, { "/", T_DIVIDE },
    { "%", T_MODULO }, { "(", T_OPEN }, { ")", T_CLOSE }, { "?", T_QUESTION },
    { ":", T_COLON }, { ",", T_COMMA }, { ";", T_SEMICOLON },
};

void lex_start(struct lexer *lexer, const char *text)
{
    lexer->text = text;
    lexer->at = text;
}

static void bad_token(struct token *token, const char *problem)
{
    token->kind = T_BAD;
    token->problem = problem;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    number value = 0;

    token->kind = T_NUMBER;
    for (; isdigit((unsigned char)*lexer->at); lexer->at++) {
        int digit = *lexer->at - '0';

        if (token->kind == T_BAD)
            continue;
        if (value > (INT64_MAX - digit) / 10)
            bad_token(token, "number too large");
        else
            value = value * 10 + digit;
    }
    token->value = value;
}

static void lex_name(struct lexer *lexer, struct token *token)
{
    const char *start = lexer->at;
    size_t length;

    while (isalnum((unsigned char)*lexer->at) || *lexer->at == '_')
        lexer->at++;
    length = (size_t)(lexer->at - start);
    if (length > MAX_NAME) {
        bad_token(token, "name too long");
        return;
    }
    memcpy(token->name, start, length);
    token->name[length] = '\0';
    token->kind = strcmp(token->name, "del") == 0 ? T_DELETE : T_NAME;
}

void lex_next(struct lexer *lexer, struct token *token)
{
    size_t i;

    while (isspace((unsigned char)*lexer->at))
        lexer->at++;
    token->column = (int)(lexer->at - lexer->text) + 1;
    if (*lexer->at == '\0' || *lexer->at == '#') {
        token->kind = T_END;
        return;
    }
    if (isdigit((unsigned char)*lexer->at)) {
        lex_number(lexer, token);
        return;
    }
    if (isalpha((unsigned char)*lexer->at) || *lexer->at == '_') {
        lex_name(lexer, token);
        return;
    }
    for (i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t length = strlen(operators[i].text);

        if (strncmp(lexer->at, operators[i].text, length) == 0) {
            token->kind = operators[i].kind;
            lexer->at += length;
            return;
        }
    }
    bad_token(token, "unexpected character");
}
