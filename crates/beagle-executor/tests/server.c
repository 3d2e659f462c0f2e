// A stand-in for a traced program: speaks the protocol of the fork server, and does in each run what
// its first argument says, as it finds it in the shared memory.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STDOUT = 996, STDERR = 997, MEMORY = 998, CONTROL = 999 };

static char *memory;

static uint64_t word64(unsigned at) {
  uint64_t v;
  memcpy(&v, memory + at, 8);
  return v;
}

static uint32_t word32(const char *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

// The second source of the input.
static void command(char out[64]) {
  const char *input = memory + word64(8);
  const char *entry = input + 8 + 32;
  uint32_t at = word32(entry + 16), len = word32(entry + 20);
  if (len > 63) len = 63;
  memcpy(out, input + at, len);
  out[len] = 0;
}

static void fill(void) {
  static char block[1 << 20];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 100; i++)
    if (write(1, block, sizeof block) != sizeof block) _exit(9);
}

static void run(void) {
  char what[64];
  command(what);
  uint64_t events = word64(8 + 2 * 16);
  if (!strcmp(what, "events")) {
    uint32_t words[] = {5 << 3 | 1, 7 << 3 | 6};
    memcpy(memory + events, words, sizeof words);
    _exit(0);
  }
  if (!strcmp(what, "garbage")) {
    uint32_t words[] = {7 | 31 << 3 | 1 << 8, 1, 1, 1};
    memcpy(memory + events, words, sizeof words);
    abort();
  }
  if (!strncmp(what, "exit ", 5)) {
    printf("out %s\n", what);
    fprintf(stderr, "err\n");
    exit(atoi(what + 5));
  }
  if (!strcmp(what, "crash")) raise(SIGSEGV);
  if (!strcmp(what, "loop")) {
    if (write(1, "before", 6) != 6) _exit(9);
    if (fork() == 0)
      for (;;) pause();
    for (;;) pause();
  }
  if (!strcmp(what, "kill server")) {
    uint32_t words[] = {9 << 3 | 6};
    memcpy(memory + events, words, sizeof words);
    kill(getppid(), SIGKILL);
    for (;;) pause();
  }
  if (!strcmp(what, "much")) fill();
  if (!strcmp(what, "files")) {
    mkdir("d", 0700);
    mkdir("d/e", 0700);
    close(open("d/e/f", O_CREAT | O_WRONLY, 0400));
    chmod("d/e", 0);
    chmod("d", 0);
  }
  if (!strcmp(what, "rmdir")) {
    char cwd[4096];
    if (getcwd(cwd, sizeof cwd)) rmdir(cwd);
  }
  if (!strcmp(what, "where")) {
    char cwd[4096];
    printf("%s %s %s", getcwd(cwd, sizeof cwd), getenv("HOME"), getenv("EXTRA"));
  }
  exit(0);
}

static void say(const void *p, size_t n) {
  if (write(CONTROL, p, n) != (ssize_t)n) _exit(0);
}

int main(int argc, char **argv) {
  if (getenv("DIE")) {
    fprintf(stderr, "no such library\n");
    return 127;
  }
  if (getenv("MUTE"))
    for (;;) pause();
  struct stat st;
  if (fstat(MEMORY, &st)) return 1;
  memory = mmap(0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
  say("BGREADY", 8);
  uint32_t request;
  while (read(CONTROL, &request, 4) == 4) {
    if (getenv("NOFORK")) {
      int32_t no = -EAGAIN;
      say(&no, 4);
      continue;
    }
    int32_t pid = fork(), status = 0;
    if (pid == 0) {
      setpgid(0, 0);
      close(CONTROL);
      dup2(STDOUT, 1);
      dup2(STDERR, 2);
      run();
    }
    setpgid(pid, pid);
    say(&pid, 4);
    waitpid(pid, &status, 0);
    kill(-pid, SIGKILL);
    say(&status, 4);
  }
  return 0;
}
