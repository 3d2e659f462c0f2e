/* Setting up, and the loop over the runs of a batch. */
#include "lane.h"

#include <asm/unistd.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/time.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define PR_SYS_DISPATCH_ON 1

/* What a call returns that a signal, such as the tick, cut short. */
#define INTERRUPTED (-4)

int lane_active = 0;

extern int bg_lane_main(int argc, char **argv, char **envp);
extern char **environ;
extern void exit(int status) __attribute__((noreturn));
extern char *getenv(const char *name);

/* The only code whose system calls are the system's to answer. */
__asm__(".pushsection .text.lane_gate,\"ax\",@progbits\n"
        ".balign 64\n"
        ".globl lane_gate_start\n"
        "lane_gate_start:\n"
        ".globl lane_system\n"
        ".type lane_system,@function\n"
        "lane_system:\n"
        "  mov %rdi,%rax\n"
        "  mov %rsi,%rdi\n"
        "  mov %rdx,%rsi\n"
        "  mov %rcx,%rdx\n"
        "  mov %r8,%r10\n"
        "  mov %r9,%r8\n"
        "  mov 8(%rsp),%r9\n"
        "  syscall\n"
        "  ret\n"
        ".globl lane_restorer\n"
        ".type lane_restorer,@function\n"
        "lane_restorer:\n"
        "  mov $15,%eax\n"
        "  syscall\n"
        "  hlt\n"
        ".globl lane_gate_end\n"
        "lane_gate_end:\n"
        ".popsection\n");
extern char lane_gate_start[], lane_gate_end[];

/* lane_enter(stack, argc, argv, envp): runs the program on its stack; comes back by lane_leave. */
__asm__(".pushsection .text,\"ax\",@progbits\n"
        ".globl lane_enter\n"
        ".type lane_enter,@function\n"
        "lane_enter:\n"
        "  movabs $0x100000000000,%rax\n"
        "  mov %rsp,0(%rax)\n"
        "  mov %rbx,8(%rax)\n"
        "  mov %rbp,16(%rax)\n"
        "  mov %r12,24(%rax)\n"
        "  mov %r13,32(%rax)\n"
        "  mov %r14,40(%rax)\n"
        "  mov %r15,48(%rax)\n"
        "  mov %rdi,%rsp\n"
        "  mov %rsi,%rdi\n"
        "  mov %rdx,%rsi\n"
        "  mov %rcx,%rdx\n"
        "  xor %ebp,%ebp\n"
        "  xor %ebx,%ebx\n"
        "  xor %r12d,%r12d\n"
        "  xor %r13d,%r13d\n"
        "  xor %r14d,%r14d\n"
        "  xor %r15d,%r15d\n"
        "  xor %eax,%eax\n"
        "  call lane_body\n"
        "  hlt\n"
        ".globl lane_leave\n"
        ".type lane_leave,@function\n"
        "lane_leave:\n"
        "  cld\n"
        "  movabs $0x100000000000,%rax\n"
        "  mov 0(%rax),%rsp\n"
        "  mov 8(%rax),%rbx\n"
        "  mov 16(%rax),%rbp\n"
        "  mov 24(%rax),%r12\n"
        "  mov 32(%rax),%r13\n"
        "  mov 40(%rax),%r14\n"
        "  mov 48(%rax),%r15\n"
        "  ret\n"
        ".popsection\n");
void lane_enter(u64 stack, int argc, char **argv, char **envp);

__attribute__((used)) _Noreturn void lane_body(int argc, char **argv, char **envp) {
  environ = envp;
  exit(bg_lane_main(argc, argv, envp));
}

_Noreturn void lane_fail(const char *text) {
  lane_system(__NR_write, 2, (i64)text, (i64)length(text), 0, 0, 0);
  lane_system(__NR_exit_group, 112, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

_Noreturn void lane_end(u32 end, u32 flags, u32 reason) {
  L->running = 0;
  L->in_call = 0;
  L->result->end = end;
  L->result->flags |= flags;
  L->result->reason = reason;
  lane_leave();
}

/* The run does what cannot be done here. */
_Noreturn void lane_refuse(u32 number) { lane_end(0, RESULT_REFUSED, number); }

/* Maps memory of ours, at `at` or behind what was mapped before: where the program's memory never is. */
void *lane_map(u64 at, u64 size, int flags, int fd) {
  if (!at) {
    at = AT_OWN + L->own_size;
    L->own_size += (size + 2 * PAGE - 1) & ~(PAGE - 1);
  }
  i64 got = lane_system(__NR_mmap, (i64)at, (i64)size, PROT_READ | PROT_WRITE,
                        flags | MAP_FIXED_NOREPLACE, fd, 0);
  if (got < 0 && got > -4096)
    lane_fail("beagle: no memory for the fast lane\n");
  return (void *)got;
}

/* --- Arguments and variables of a run --- */

static const struct source *sources(const u8 *input, u32 *count) {
  *count = input ? *(const u32 *)input : 0;
  return (const struct source *)(input + 8);
}

static u8 *put(u8 *top, const u8 *from, u64 size) {
  top -= size;
  copy(top, from, size);
  return top;
}

/* Whether a variable of the base is set by the input, too. */
static int is_set(const u8 *input, const u8 *name, u32 size) {
  u32 count;
  const struct source *all = sources(input, &count);
  for (u32 i = 0; i < count; i++)
    if (all[i].kind == SOURCE_ENVIRONMENT && all[i].name_len == size && same(input + all[i].name, name, size))
      return 1;
  return 0;
}

struct strings {
  u8 *top;
  u64 argc, envc;
  char *argv[1024], *envp[1024];
};

static void add_strings(struct strings *strings, const u8 *input, const u8 *over) {
  u32 count;
  const struct source *all = sources(input, &count);
  for (u32 i = 0; i < count; i++) {
    const struct source *source = &all[i];
    if (source->kind == SOURCE_ARGUMENT && strings->argc < 1023) {
      *--strings->top = 0;
      strings->top = put(strings->top, input + source->bytes, source->len);
      strings->argv[strings->argc++] = (char *)strings->top;
    } else if (source->kind == SOURCE_ENVIRONMENT && strings->envc < 1023) {
      if (over && is_set(over, input + source->name, source->name_len))
        continue;
      *--strings->top = 0;
      strings->top = put(strings->top, input + source->bytes, source->len);
      *--strings->top = '=';
      strings->top = put(strings->top, input + source->name, source->name_len);
      strings->envp[strings->envc++] = (char *)strings->top;
    }
  }
}

/* Puts the strings on the stack, as the system does, and starts the program. */
static void run_program(const u8 *base, const u8 *input) {
  static const u32 mxcsr = 0x1f80;
  struct strings strings;
  strings.top = (u8 *)(AT_STACK + STACK_SIZE - 16);
  strings.argc = strings.envc = 0;
  add_strings(&strings, base, input);
  add_strings(&strings, input, 0);
  u64 *at = (u64 *)((u64)strings.top & ~15ul);
  at -= (strings.argc + strings.envc + 3) & ~1ul;
  char **argv = (char **)at, **envp = argv + strings.argc + 1;
  for (u64 i = 0; i < strings.argc; i++)
    argv[i] = strings.argv[i];
  argv[strings.argc] = 0;
  for (u64 i = 0; i < strings.envc; i++)
    envp[i] = strings.envp[i];
  envp[strings.envc] = 0;
  __asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
  L->in_call = 0;
  L->running = 1;
  lane_enter((u64)at, (int)strings.argc, argv, envp);
  __asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
}

/* --- Runs --- */

static void dispatch_on(void) {
  if (lane_system(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, (i64)lane_gate_start,
                  lane_gate_end - lane_gate_start, 0, 0) != 0)
    lane_fail("beagle: this system cannot hand over system calls (PR_SET_SYSCALL_USER_DISPATCH)\n");
}

static void timer_on(void) {
  i64 step = L->header->tick_us;
  struct itimerval timer = {{step / 1000000, step % 1000000}, {step / 1000000, step % 1000000}};
  lane_system(__NR_setitimer, ITIMER_PROF, (i64)&timer, 0, 0, 0, 0);
}

static void run_here(const u8 *base, const u8 *input) {
  L->runs++;
  files_start(base, input);
  feedback_start();
  u64 start = __builtin_ia32_rdtsc();
  run_program(base, input);
  L->result->work = __builtin_ia32_rdtsc() - start;
  feedback_end(L->result);
  files_end(L->result, L->header->most_output, (L->header->mode & MODE_KEEP) != 0);
}

static void run_forked(const u8 *base, const u8 *input) {
  i64 child = lane_system(__NR_fork, 0, 0, 0, 0, 0, 0);
  if (child == 0) {
    dispatch_on();
    timer_on();
    run_here(base, input);
    lane_system(__NR_exit_group, 0, 0, 0, 0, 0, 0);
  }
  int status = 0;
  i64 ended = INTERRUPTED;
  while (child > 0 && ended == INTERRUPTED)
    ended = lane_system(__NR_wait4, child, (i64)&status, 0, 0, 0, 0);
  if (child < 0 || ended != child || status != 0)
    L->result->flags |= RESULT_REFUSED;
  L->output_next += L->result->kept;
  L->compare_next += L->result->compares;
}

static void batch(void) {
  struct header *header = L->header;
  u8 *shared = (u8 *)AT_SHARED;
  const u8 *base = header->base ? shared + header->base : 0;
  const u64 *inputs = (const u64 *)(shared + header->inputs);
  struct result *results = (struct result *)(shared + header->results);
  L->compare_next = shared + header->compares;
  L->compare_end = L->compare_next + header->compares_size;
  L->output_next = shared + header->outputs;
  L->output_end = L->output_next + header->outputs_size;
  if (header->mode & MODE_FORGET)
    feedback_forget();
  for (u32 i = 0; i < header->count; i++) {
    L->result = &results[i];
    fill(L->result, 0, sizeof(struct result));
    if (header->mode & MODE_FORK) {
      run_forked(base, shared + inputs[i]);
    } else {
      run_here(base, shared + inputs[i]);
      memory_restore();
    }
  }
}

static _Noreturn void serve(void) {
  u8 word = 'r';
  for (;;) {
    i64 done;
    do
      done = lane_system(__NR_write, CONTROL_FD, (i64)&word, 1, 0, 0, 0);
    while (done == INTERRUPTED);
    if (done != 1)
      break;
    do
      done = lane_system(__NR_read, CONTROL_FD, (i64)&word, 1, 0, 0, 0);
    while (done == INTERRUPTED);
    if (done != 1)
      break;
    batch();
  }
  lane_system(__NR_exit_group, 0, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

/* Without Beagle around it, it is the program as it is. */
int main(int argc, char **argv, char **envp) {
  const char *size = getenv("BEAGLE_LANE");
  if (!size)
    return bg_lane_main(argc, argv, envp);
  u64 bytes = 0;
  for (; *size >= '0' && *size <= '9'; size++)
    bytes = bytes * 10 + (u64)(*size - '0');
  /* What is touched is put back page by page. */
  lane_system(__NR_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0, 0);
  int own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  lane_map(AT_STATE, (sizeof(struct lane) + PAGE - 1) & ~(PAGE - 1), own, -1);
  lane_map(AT_SHARED, bytes, MAP_SHARED, MEMORY_FD);
  lane_map(AT_HEAP, HEAP_SIZE, own, -1);
  lane_map(AT_MAPS, MAPS_SIZE, own, -1);
  lane_map(AT_STACK, STACK_SIZE, own, -1);
  lane_map(AT_FILES, FILES_SIZE, own, -1);
  lane_map(AT_CACHE, CACHE_SIZE, own, -1);
  L->header = (struct header *)AT_SHARED;
  u32 counters = feedback_counters();
  L->seen_counters = lane_map(0, 2ul * counters + PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
  L->header->counters = counters;
  if (L->header->magic != LANE_MAGIC)
    lane_fail("beagle: the shared memory is not that of the fast lane\n");
  signals_start();
  memory_save();
  dispatch_on();
  timer_on();
  serve();
}
