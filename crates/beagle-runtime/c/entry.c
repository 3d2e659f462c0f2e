// The variadic functions of libc that the runtime replaces: Rust cannot define variadic functions.
// Each puts the shadows of its variadic arguments where the arguments lie, as instrumented functions
// do, and passes them on as a list; src/libc/stdio/ has the rest.
//
// Compiled and linked like inline.c, not instrumented.

#include "beagle.h"

#include <stdarg.h>

typedef unsigned long size_t;
typedef struct FILE FILE;
extern FILE *stdout;

// The start of x86-64's va_list.
struct list {
  u32 gp_offset;
  u32 fp_offset;
  void *overflow;
  void *save;
};

// Not taken here: the callee's mark is for the Rust part to check, with the same address.
static void shadows(void *self, void *ap) {
  if (!bg_tls.recording)
    return;
  struct saved saved;
  u32 valid = bg_tls.callee == self;
  bg_va_save(&saved, valid);
  // Whatever lies here is new, and shadows of what lay here before are not its shadows.
  bgr_clear(((struct list *)ap)->save, 176);
  bgr_va_start(ap, &saved);
}

#define START(self, last)                                                                                              \
  va_list ap;                                                                                                          \
  va_start(ap, last);                                                                                                  \
  shadows((void *)(self), ap)
#define RETURN(value)                                                                                                  \
  int result = (value);                                                                                                \
  va_end(ap);                                                                                                          \
  return result

int bgr_vfprintf(void *self, FILE *file, int flag, u32 index, const char *format, void *ap);
int bgr_vdprintf(void *self, int fd, int flag, u32 index, const char *format, void *ap);
int bgr_vsnprintf(void *self, char *to, u32 bounded, size_t n, int flag, size_t room, const char *format, void *ap);
int bgr_vasprintf(void *self, char **to, int flag, const char *format, void *ap);
void bgr_vwarn(void *self, u32 with_error, const char *format, void *ap);
void bgr_verr(void *self, u32 with_error, int status, const char *format, void *ap);
void bgr_verror(void *self, int status, int errnum, u32 place, const char *file, u32 line, const char *format, void *ap);

// A checked variant's flag is never negative for the Rust part.
#define FLAG(flag) ((flag) < 0 ? 0 : (flag))

int bg_x_printf(const char *format, ...) {
  START(bg_x_printf, format);
  RETURN(bgr_vfprintf((void *)bg_x_printf, stdout, -1, 0, format, ap));
}
int bg_x_fprintf(FILE *file, const char *format, ...) {
  START(bg_x_fprintf, format);
  RETURN(bgr_vfprintf((void *)bg_x_fprintf, file, -1, 1, format, ap));
}
int bg_x_dprintf(int fd, const char *format, ...) {
  START(bg_x_dprintf, format);
  RETURN(bgr_vdprintf((void *)bg_x_dprintf, fd, -1, 1, format, ap));
}
int bg_x___printf_chk(int flag, const char *format, ...) {
  START(bg_x___printf_chk, format);
  RETURN(bgr_vfprintf((void *)bg_x___printf_chk, stdout, FLAG(flag), 1, format, ap));
}
int bg_x___fprintf_chk(FILE *file, int flag, const char *format, ...) {
  START(bg_x___fprintf_chk, format);
  RETURN(bgr_vfprintf((void *)bg_x___fprintf_chk, file, FLAG(flag), 2, format, ap));
}
int bg_x___dprintf_chk(int fd, int flag, const char *format, ...) {
  START(bg_x___dprintf_chk, format);
  RETURN(bgr_vdprintf((void *)bg_x___dprintf_chk, fd, FLAG(flag), 2, format, ap));
}

int bg_x_sprintf(char *to, const char *format, ...) {
  START(bg_x_sprintf, format);
  RETURN(bgr_vsnprintf((void *)bg_x_sprintf, to, 0, 0, -1, 0, format, ap));
}
int bg_x_snprintf(char *to, size_t n, const char *format, ...) {
  START(bg_x_snprintf, format);
  RETURN(bgr_vsnprintf((void *)bg_x_snprintf, to, 1, n, -1, 0, format, ap));
}
int bg_x_asprintf(char **to, const char *format, ...) {
  START(bg_x_asprintf, format);
  RETURN(bgr_vasprintf((void *)bg_x_asprintf, to, -1, format, ap));
}
int bg_x___sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
  START(bg_x___sprintf_chk, format);
  RETURN(bgr_vsnprintf((void *)bg_x___sprintf_chk, to, 0, 0, FLAG(flag), room, format, ap));
}
int bg_x___snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...) {
  START(bg_x___snprintf_chk, format);
  RETURN(bgr_vsnprintf((void *)bg_x___snprintf_chk, to, 1, n, FLAG(flag), room, format, ap));
}
int bg_x___asprintf_chk(char **to, int flag, const char *format, ...) {
  START(bg_x___asprintf_chk, format);
  RETURN(bgr_vasprintf((void *)bg_x___asprintf_chk, to, FLAG(flag), format, ap));
}

void bg_x_warn(const char *format, ...) {
  START(bg_x_warn, format);
  bgr_vwarn((void *)bg_x_warn, 1, format, ap);
  va_end(ap);
}
void bg_x_warnx(const char *format, ...) {
  START(bg_x_warnx, format);
  bgr_vwarn((void *)bg_x_warnx, 0, format, ap);
  va_end(ap);
}
void bg_x_err(int status, const char *format, ...) {
  START(bg_x_err, format);
  bgr_verr((void *)bg_x_err, 1, status, format, ap);
  __builtin_unreachable();
}
void bg_x_errx(int status, const char *format, ...) {
  START(bg_x_errx, format);
  bgr_verr((void *)bg_x_errx, 0, status, format, ap);
  __builtin_unreachable();
}
void bg_x_error(int status, int errnum, const char *format, ...) {
  START(bg_x_error, format);
  bgr_verror((void *)bg_x_error, status, errnum, 0, 0, 0, format, ap);
  va_end(ap);
}
void bg_x_error_at_line(int status, int errnum, const char *file, u32 line, const char *format, ...) {
  START(bg_x_error_at_line, format);
  bgr_verror((void *)bg_x_error_at_line, status, errnum, 1, file, line, format, ap);
  va_end(ap);
}
