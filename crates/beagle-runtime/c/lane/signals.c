/* How runs end that do not end by themselves, and how system calls come here that libc.c does not catch. */
#include "lane.h"

#include <asm/unistd.h>
#include <signal.h>
#include <ucontext.h>

struct action {
  void (*handler)(int, siginfo_t *, void *);
  u64 flags;
  void (*restorer)(void);
  u64 mask;
};

static void on_system_call(int number, siginfo_t *info, void *context) {
  (void)number;
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  regs[REG_RAX] = lane_call(info->si_syscall, regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10],
                            regs[REG_R8], regs[REG_R9]);
}

/* The program did it, or gave us an address that is none. */
static void on_fault(int number, siginfo_t *info, void *context) {
  (void)info;
  (void)context;
  if (!L->running)
    lane_fail("beagle: a fault in the fast lane itself\n");
  /* The program would get an error code; and its own handler is not ours to call. */
  if (L->in_call || L->actions[number].handler > 1)
    lane_refuse((u32)-number);
  lane_end((u32)number, 0, 0);
}

static void on_tick(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  (void)context;
  if (L->seen != L->runs) {
    L->seen = L->runs;
    L->seen_ticks = 0;
    return;
  }
  if (L->running && !L->in_call && ++L->seen_ticks >= L->header->ticks)
    lane_end(SIGKILL, RESULT_TIME, 0);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *)) {
  /* Jumping out of a handler leaves nothing blocked. */
  struct action action = {handler, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000 /* SA_RESTORER */, lane_restorer,
                          0};
  lane_system(__NR_rt_sigaction, number, (i64)&action, 0, 8, 0, 0);
}

void signals_start(void) {
  stack_t stack = {L->altstack, 0, sizeof L->altstack};
  lane_system(__NR_sigaltstack, (i64)&stack, 0, 0, 0, 0, 0);
  handle(SIGSYS, on_system_call);
  handle(SIGPROF, on_tick);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (u32 i = 0; i < sizeof faults / sizeof *faults; i++)
    handle(faults[i], on_fault);
  u64 none = 0;
  lane_system(__NR_rt_sigprocmask, SIG_SETMASK, (i64)&none, 0, 8, 0, 0);
}

/* A signal that the program sends to itself. */
i64 signal_raise(int number) {
  if (number < 0 || number > 64)
    return -22;
  if (number == 0)
    return 0;
  u64 handler = number == SIGKILL || number == SIGSTOP ? 0 : L->actions[number].handler;
  if (handler == 1)
    return 0;
  if (handler > 1 || (L->blocked >> (number - 1) & 1))
    lane_refuse(__NR_tgkill);
  switch (number) {
  case SIGCHLD:
  case SIGCONT:
  case SIGURG:
  case SIGWINCH: return 0;
  case SIGSTOP:
  case SIGTSTP:
  case SIGTTIN:
  case SIGTTOU: lane_refuse(__NR_tgkill);
  default: lane_end((u32)number, 0, 0);
  }
}
