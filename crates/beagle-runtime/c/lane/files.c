/* Files, descriptors and streams, all in memory. Inputs are read where they lie; what is written gets memory from a
   pool. Standard input is a file, as it is for the real programs; what they print goes into pipes. */
#include "lane.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_IN, FILE_OUT, FILE_ERR, FILE_NULL, FIRST_NAMED };

static struct file *new_file(u32 kind, u32 mode) {
  if (L->file_count == MOST_FILES)
    lane_refuse(__NR_openat);
  struct file *file = &L->files[L->file_count++];
  fill(file, 0, sizeof *file);
  file->kind = kind;
  file->mode = mode;
  return file;
}

/* Without `./` at the start or in between, and without repeated slashes. */
static u32 normal(const u8 *from, u32 size, u8 *to) {
  u32 n = 0;
  for (u32 i = 0; i < size; i++) {
    if (from[i] == '/' && i + 1 < size && from[i + 1] == '/')
      continue;
    if (from[i] == '.' && i + 1 < size && from[i + 1] == '/' && (n == 0 || to[n - 1] == '/')) {
      i++;
      while (i + 1 < size && from[i + 1] == '/')
        i++;
      continue;
    }
    to[n++] = from[i];
  }
  return n;
}

static struct file *find(const u8 *name, u32 size) {
  for (u32 i = FIRST_NAMED; i < L->file_count; i++) {
    struct file *file = &L->files[i];
    if (file->name_len == size && same(file->name, name, size))
      return file;
  }
  return 0;
}

static u8 *take(u64 size) {
  size = (size + 15) & ~15ul;
  if (L->pool_used + size > FILES_SIZE)
    lane_refuse(__NR_write);
  u8 *at = (u8 *)AT_FILES + L->pool_used;
  L->pool_used += size;
  if (L->pool_used > L->pool_high)
    L->pool_high = L->pool_used;
  return at;
}

static struct file *named(const u8 *name, u32 size, u32 mode) {
  u8 *at = take(size);
  u32 short_size = normal(name, size, at);
  struct file *file = find(at, short_size);
  if (!file) {
    file = new_file(S_IFREG, mode);
    file->name = at;
    file->name_len = short_size;
  }
  return file;
}

static void add_inputs(const u8 *input) {
  if (!input)
    return;
  u32 count = *(const u32 *)input;
  const struct source *sources = (const struct source *)(input + 8);
  for (u32 i = 0; i < count; i++) {
    const struct source *source = &sources[i];
    struct file *file;
    if (source->kind == SOURCE_STDIN)
      file = &L->files[FILE_IN];
    else if (source->kind == SOURCE_FILE)
      file = named(input + source->name, source->name_len, 0644);
    else
      continue;
    file->given = 1;
    file->bytes = (u8 *)input + source->bytes;
    file->size = source->len;
    file->first = file->bytes;
    file->first_size = file->size;
  }
}

static void open_stream(int fd, u32 file, u32 flags) {
  struct open *open = &L->opens[fd];
  open->users = 1;
  open->file = file;
  open->flags = flags;
  open->offset = 0;
  L->descriptors[fd].open = (u32)fd + 1;
  L->descriptors[fd].cloexec = 0;
}

void files_start(const u8 *base, const u8 *input) {
  /* Much memory is given back; the pool need not be zero. */
  if (L->pool_high > (4 << 20)) {
    lane_system(__NR_madvise, AT_FILES, (i64)L->pool_high, 4 /* MADV_DONTNEED */, 0, 0, 0);
    L->pool_high = 0;
  }
  L->pool_used = 0;
  L->file_count = 0;
  fill(L->descriptors, 0, sizeof L->descriptors);
  for (u32 i = 0; i < MOST_DESCRIPTORS; i++)
    L->opens[i].users = 0;
  new_file(S_IFREG, 0600);
  new_file(S_IFIFO, 0600);
  new_file(S_IFIFO, 0600);
  new_file(S_IFCHR, 0666);
  open_stream(0, FILE_IN, O_RDWR);
  open_stream(1, FILE_OUT, O_WRONLY);
  open_stream(2, FILE_ERR, O_WRONLY);
  add_inputs(base);
  add_inputs(input);
  L->mask = 022;
  L->clock = 1000000000ul * 1000000;
  L->random = 1;
  fill(L->actions, 0, sizeof L->actions);
  L->blocked = 0;
}

/* --- What was written --- */

/* Whether a file is not as it was. */
static int has_changed(const struct file *file) {
  if (!file->dirty || !file->given)
    return file->dirty && !file->gone;
  return file->gone || file->mode != 0644 || file->size != file->first_size ||
         !same(file->bytes, file->first, file->size);
}

static u64 file_hash(const struct file *file, u64 most, u32 *flags) {
  if (file->size > most) {
    *flags |= RESULT_CUT;
    return mix(hash(file->bytes, most), file->size);
  }
  return hash(file->bytes, file->size);
}

static void keep_bytes(const void *bytes, u64 size) {
  if (L->output_next + size > L->output_end)
    return;
  copy(L->output_next, bytes, size);
  L->output_next += size;
}

/* A record: the length of the name, the length of the content, the mode, both texts. */
static void keep(const struct file *file, u64 most) {
  u64 size = file->gone ? 0 : file->size < most ? file->size : most;
  u32 head[4] = {file->name_len, (u32)size, file->gone ? 0 : (file->kind | file->mode), 0};
  if (L->output_next + sizeof head + file->name_len + size + 16 > L->output_end)
    return;
  keep_bytes(head, sizeof head);
  keep_bytes(file->name, file->name_len);
  keep_bytes(file->bytes, size);
}

void files_end(struct result *result, u64 most, int wanted) {
  result->out = file_hash(&L->files[FILE_OUT], most, &result->flags);
  result->err = file_hash(&L->files[FILE_ERR], most, &result->flags);
  u64 files = 0;
  for (u32 i = FIRST_NAMED; i < L->file_count; i++) {
    const struct file *file = &L->files[i];
    if (!has_changed(file))
      continue;
    u64 h = hash(file->name, file->name_len);
    /* The order in which files were made does not count. */
    files += file->gone ? mix(h, 1) : mix(mix(h, file_hash(file, most, &result->flags)), file->mode);
  }
  result->files = files;
  if (!wanted)
    return;
  const u8 *start = L->output_next;
  result->outputs = (u64)(start - (u8 *)AT_SHARED);
  keep(&L->files[FILE_OUT], most);
  keep(&L->files[FILE_ERR], most);
  for (u32 i = FIRST_NAMED; i < L->file_count; i++)
    if (has_changed(&L->files[i]))
      keep(&L->files[i], most);
  u32 end[4] = {0xffffffff, 0, 0, 0};
  keep_bytes(end, sizeof end);
  result->kept = (u32)(L->output_next - start);
}

/* --- Descriptors --- */

static struct open *open_of(int fd) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS || !L->descriptors[fd].open)
    return 0;
  return &L->opens[L->descriptors[fd].open - 1];
}

struct file *file_of(int fd) {
  struct open *open = open_of(fd);
  return open ? &L->files[open->file] : 0;
}

static i64 first_free(int least) {
  for (int fd = least; fd < MOST_DESCRIPTORS; fd++)
    if (!L->descriptors[fd].open)
      return fd;
  lane_refuse(__NR_openat);
}

i64 file_read(int fd, void *to, u64 count) {
  struct open *open = open_of(fd);
  if (!open || (open->flags & O_ACCMODE) == O_WRONLY)
    return -EBADF;
  struct file *file = &L->files[open->file];
  if (file->kind == S_IFDIR)
    return -EISDIR;
  if (open->offset >= file->size)
    return 0;
  u64 left = file->size - open->offset;
  if (count > left)
    count = left;
  copy(to, file->bytes + open->offset, count);
  open->offset += count;
  return (i64)count;
}

/* Makes the content our own, with room for so many bytes. */
static void make_room(struct file *file, u64 size) {
  if (file->own && size <= file->room)
    return;
  u64 room = file->room * 2 > size ? file->room * 2 : size;
  room = room < 1024 ? 1024 : room;
  u8 *bytes = take(room);
  copy(bytes, file->bytes, file->size);
  file->bytes = bytes;
  file->room = room;
  file->own = 1;
}

i64 file_write(int fd, const void *from, u64 count) {
  struct open *open = open_of(fd);
  if (!open || (open->flags & O_ACCMODE) == O_RDONLY)
    return -EBADF;
  if (open->file == FILE_NULL || count == 0)
    return (i64)count;
  if (count > 0x7ffff000)
    count = 0x7ffff000;
  struct file *file = &L->files[open->file];
  u64 at = file->kind == S_IFIFO || (open->flags & O_APPEND) ? file->size : open->offset;
  if (at + count > (64ul << 20))
    lane_refuse(__NR_write);
  make_room(file, at + count);
  if (at > file->size)
    fill(file->bytes + file->size, 0, at - file->size);
  copy(file->bytes + at, from, count);
  if (at + count > file->size)
    file->size = at + count;
  open->offset = at + count;
  file->dirty = 1;
  return (i64)count;
}

i64 file_seek(int fd, i64 offset, int whence) {
  struct open *open = open_of(fd);
  if (!open)
    return -EBADF;
  struct file *file = &L->files[open->file];
  if (file->kind == S_IFIFO)
    return -ESPIPE;
  if (file->kind == S_IFCHR)
    return 0;
  i64 to;
  switch (whence) {
  case SEEK_SET: to = offset; break;
  case SEEK_CUR: to = (i64)open->offset + offset; break;
  case SEEK_END: to = (i64)file->size + offset; break;
  default: lane_refuse(__NR_lseek);
  }
  if (to < 0)
    return -EINVAL;
  open->offset = (u64)to;
  return to;
}

i64 file_close(int fd) {
  struct open *open = open_of(fd);
  if (!open)
    return -EBADF;
  open->users--;
  L->descriptors[fd].open = 0;
  return 0;
}

/* --- Paths --- */

/* Files of the system that programs read, such as time zones. They are read once and stay. */
static struct file *of_system(const u8 *name, u32 size) {
  static const char *const allowed[] = {"/usr/share/", "/usr/lib/locale/", "/etc/"};
  struct stat status;
  char path[256];
  if (size >= sizeof path)
    lane_refuse(__NR_openat);
  copy(path, name, size);
  path[size] = 0;
  if (lane_system(__NR_stat, (i64)path, (i64)&status, 0, 0, 0, 0) != 0)
    return 0;
  int good = 0;
  for (u32 i = 0; i < sizeof allowed / sizeof *allowed; i++)
    good |= length(allowed[i]) < size && same(allowed[i], path, length(allowed[i]));
  if (!good || (status.st_mode & S_IFMT) != S_IFREG || status.st_size > (1 << 20))
    lane_refuse(__NR_openat);
  /* The cache: the length of the path, that of the content, and both. */
  u8 *at = (u8 *)AT_CACHE, *end = at + L->cache_used;
  while (at < end) {
    u64 *head = (u64 *)at;
    u8 *text = at + 16;
    if (head[0] == size && same(text, path, size))
      break;
    at = text + ((head[0] + head[1] + 15) & ~15ul);
  }
  if (at == end) {
    u64 room = 16 + (((u64)size + (u64)status.st_size + 15) & ~15ul);
    if (L->cache_used + room > CACHE_SIZE)
      lane_refuse(__NR_openat);
    i64 fd = lane_system(__NR_open, (i64)path, O_RDONLY, 0, 0, 0, 0);
    i64 got = fd < 0 ? -1 : lane_system(__NR_read, fd, (i64)(at + 16 + size), status.st_size, 0, 0, 0);
    if (fd >= 0)
      lane_system(__NR_close, fd, 0, 0, 0, 0, 0);
    if (got != status.st_size)
      lane_refuse(__NR_openat);
    ((u64 *)at)[0] = size;
    ((u64 *)at)[1] = (u64)got;
    copy(at + 16, path, size);
    L->cache_used += room;
  }
  struct file *file = new_file(S_IFREG, 0644);
  file->name = at + 16;
  file->name_len = size;
  file->bytes = at + 16 + size;
  file->size = ((u64 *)at)[1];
  return file;
}

static int is(const u8 *name, u32 size, const char *text) { return length(text) == size && same(name, text, size); }

/* The file with a path; null if there is none. Refuses what has no answer here. */
static struct file *look(int at, const char *path, u8 **name, u32 *size) {
  u64 long_size = length(path);
  if (long_size > 4000)
    lane_refuse(__NR_openat);
  u8 *to = take(long_size + 1);
  *name = to;
  *size = normal((const u8 *)path, (u32)long_size, to);
  if (long_size == 0)
    return 0;
  /* The directory itself. */
  if (*size == 0)
    lane_refuse(__NR_openat);
  if (at != AT_FDCWD && to[0] != '/')
    lane_refuse(__NR_openat);
  for (u32 i = 0; i + 1 < *size; i++)
    if (to[i] == '.' && to[i + 1] == '.' && (i == 0 || to[i - 1] == '/') && (i + 2 == *size || to[i + 2] == '/'))
      lane_refuse(__NR_openat);
  if (is(to, *size, "/dev/null"))
    return &L->files[FILE_NULL];
  struct file *file = find(to, *size);
  if (file)
    return file->gone ? 0 : file;
  if (is(to, *size, ".") || to[*size - 1] == '/' || (to[*size - 1] == '.' && to[*size - 2] == '/'))
    lane_refuse(__NR_openat);
  u32 part = 0;
  for (u32 i = 0; i < *size; i++) {
    part = to[i] == '/' ? 0 : part + 1;
    /* Names that are too long, and files that are taken for directories, have errors of their own. */
    if (part > 255 || (i > 0 && to[i] == '/' && find(to, i)))
      lane_refuse(__NR_openat);
  }
  /* A directory of which something is known. */
  for (u32 i = FIRST_NAMED; i < L->file_count; i++) {
    const struct file *other = &L->files[i];
    if (other->name_len > *size && other->name[*size] == '/' && same(other->name, to, *size))
      lane_refuse(__NR_openat);
  }
  if (to[0] == '/')
    return of_system(to, *size);
  return 0;
}

/* A new file needs a directory that is there. */
static int has_directory(const u8 *name, u32 size) {
  for (u32 i = 0; i < size; i++)
    if (name[i] == '/')
      return 0;
  return 1;
}

i64 file_open(int at, const char *path, int flags, int mode) {
  u8 *name;
  u32 size;
  struct file *file = look(at, path, &name, &size);
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  if (flags & (O_DIRECTORY | O_PATH))
    lane_refuse(__NR_openat);
  if (!file) {
    if (size == 0 || !(flags & O_CREAT))
      return -ENOENT;
    if (!has_directory(name, size))
      lane_refuse(__NR_openat);
    file = find(name, size);
    if (!file) {
      file = new_file(S_IFREG, 0);
      file->name = name;
      file->name_len = size;
    }
    file->gone = 0;
    file->size = 0;
    file->dirty = 1;
    file->mode = (u32)mode & ~L->mask & 07777;
  } else if ((flags & O_CREAT) && (flags & O_EXCL)) {
    return -EEXIST;
  } else if (writes && name[0] == '/' && file != &L->files[FILE_NULL]) {
    lane_refuse(__NR_openat);
  } else if (writes && (flags & O_TRUNC) && file->kind == S_IFREG) {
    file->size = 0;
    file->dirty = 1;
  }
  i64 fd = first_free(0);
  for (u32 i = 0; i < MOST_DESCRIPTORS; i++) {
    struct open *open = &L->opens[i];
    if (open->users == 0) {
      open->users = 1;
      open->file = (u32)(file - L->files);
      open->flags = (u32)(flags & (O_ACCMODE | O_APPEND));
      open->offset = 0;
      L->descriptors[fd].open = i + 1;
      L->descriptors[fd].cloexec = (flags & O_CLOEXEC) != 0;
      return fd;
    }
  }
  lane_refuse(__NR_openat);
}

static void describe(const struct file *file, struct stat *to) {
  fill(to, 0, sizeof *to);
  to->st_dev = 1;
  to->st_ino = (u64)(file - L->files) + 100;
  to->st_nlink = 1;
  to->st_mode = file->kind | file->mode;
  to->st_size = file->kind == S_IFREG ? (i64)file->size : 0;
  to->st_blksize = 4096;
  to->st_blocks = (to->st_size + 511) / 512;
  to->st_mtime = to->st_atime = to->st_ctime = 1000000000;
  if (file->kind == S_IFCHR)
    to->st_rdev = 0x103;
}

i64 file_status(int fd, void *to) {
  const struct file *file = file_of(fd);
  if (!file)
    return -EBADF;
  describe(file, to);
  return 0;
}

i64 path_status(int at, const char *path, void *to, int flags) {
  if ((flags & AT_EMPTY_PATH) && (!path || !*path))
    return file_status(at, to);
  u8 *name;
  u32 size;
  const struct file *file = look(at, path, &name, &size);
  if (!file)
    return -ENOENT;
  describe(file, to);
  return 0;
}

i64 path_access(int at, const char *path, int mode) {
  u8 *name;
  u32 size;
  const struct file *file = look(at, path, &name, &size);
  if (!file)
    return -ENOENT;
  if ((mode & W_OK) && name[0] == '/')
    lane_refuse(__NR_access);
  return (mode & X_OK) && !(file->mode & 0111) ? -EACCES : 0;
}

i64 path_remove(int at, const char *path, int flags) {
  u8 *name;
  u32 size;
  struct file *file = look(at, path, &name, &size);
  if (!file)
    return -ENOENT;
  if (flags || name[0] == '/')
    lane_refuse(__NR_unlink);
  /* What is open can still be read and written: leave that alone. */
  for (u32 i = 0; i < MOST_DESCRIPTORS; i++)
    if (L->opens[i].users && &L->files[L->opens[i].file] == file)
      lane_refuse(__NR_unlink);
  file->gone = file->dirty = 1;
  file->size = 0;
  return 0;
}

i64 path_rename(int at, const char *path, int to_at, const char *to) {
  u8 *name, *to_name;
  u32 size, to_size;
  struct file *file = look(at, path, &name, &size);
  struct file *other = look(to_at, to, &to_name, &to_size);
  if (!file || to_size == 0)
    return -ENOENT;
  if (name[0] == '/' || to_name[0] == '/' || !has_directory(to_name, to_size))
    lane_refuse(__NR_rename);
  if (file == other)
    return 0;
  if (!other)
    other = find(to_name, to_size);
  if (!other) {
    other = new_file(S_IFREG, 0);
    other->name = to_name;
    other->name_len = to_size;
  }
  for (u32 i = 0; i < MOST_DESCRIPTORS; i++)
    if (L->opens[i].users && (&L->files[L->opens[i].file] == file || &L->files[L->opens[i].file] == other))
      lane_refuse(__NR_rename);
  other->bytes = file->bytes;
  other->size = file->size;
  other->room = file->room;
  other->own = file->own;
  other->mode = file->mode;
  other->gone = 0;
  other->dirty = 1;
  file->gone = file->dirty = 1;
  file->own = 0;
  file->size = file->room = 0;
  return 0;
}

i64 file_cut(int fd, u64 size) {
  struct open *open = open_of(fd);
  if (!open)
    return -EBADF;
  struct file *file = &L->files[open->file];
  if ((open->flags & O_ACCMODE) == O_RDONLY || file->kind != S_IFREG || size > (64ul << 20))
    lane_refuse(__NR_ftruncate);
  make_room(file, size);
  if (size > file->size)
    fill(file->bytes + file->size, 0, size - file->size);
  file->size = size;
  file->dirty = 1;
  return 0;
}

i64 file_copy(int fd, int least, int exact, int cloexec) {
  struct open *open = open_of(fd);
  if (!open)
    return -EBADF;
  if (exact == fd)
    return fd;
  if (exact >= MOST_DESCRIPTORS || least >= MOST_DESCRIPTORS)
    lane_refuse(__NR_dup);
  i64 to = exact >= 0 ? exact : first_free(least);
  if (exact >= 0)
    file_close(exact);
  L->descriptors[to].open = L->descriptors[fd].open;
  L->descriptors[to].cloexec = (u32)cloexec;
  open->users++;
  return to;
}

i64 file_control(int fd, int command, u64 argument) {
  struct open *open = open_of(fd);
  if (!open)
    return -EBADF;
  switch (command) {
  case F_DUPFD: return file_copy(fd, (int)argument, -1, 0);
  case F_DUPFD_CLOEXEC: return file_copy(fd, (int)argument, -1, 1);
  case F_GETFD: return L->descriptors[fd].cloexec ? FD_CLOEXEC : 0;
  case F_SETFD: L->descriptors[fd].cloexec = (u32)argument & FD_CLOEXEC; return 0;
  case F_GETFL: return open->flags;
  default: lane_refuse(__NR_fcntl);
  }
}
