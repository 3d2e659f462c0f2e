/* What is saved before the first run and put back after each: all writable memory that the process has. Memory that
   was never touched is zero, and is made zero again where it was. */
#include "lane.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Touched pages of a region are cleared one by one up to this many; more are given back to the system. */
#define KEPT_PAGES 512

/* glibc's idea of the end of the heap; libc.c defines it. */
extern void *__curbrk;
extern const unsigned int __rseq_size __attribute__((weak));
extern const long __rseq_offset __attribute__((weak));

static u64 pages(u64 size) { return (size + PAGE - 1) / PAGE; }

static struct region *add_region(u64 start, u64 size) {
  if (L->region_count == MOST_REGIONS)
    lane_fail("beagle: too many parts of memory for the fast lane\n");
  struct region *region = &L->regions[L->region_count++];
  region->start = start;
  region->size = size;
  return region;
}

/* A region that is to be all zero. */
static void add_zero(u64 start, u64 size) {
  struct region *region = add_region(start, size);
  region->touched = lane_map(0, pages(size), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* A region whose content is kept, copied later: all copies lie behind each other. */
static void add_copy(u64 start, u64 size) {
  struct region *region = add_region(start, size);
  region->saved = L->saved_end;
  L->saved_end += size;
}

/* Memory of the process without a file: runs of pages that were touched, and of those that were not. */
static void add_anonymous(u64 start, u64 size) {
  u64 count = pages(size);
  for (u64 i = 0; i < count;) {
    u64 many = count - i < (1 << 20) ? count - i : (1 << 20);
    if (lane_system(__NR_mincore, (i64)(start + i * PAGE), (i64)(many * PAGE), (i64)L->scratch, 0, 0, 0) != 0)
      lane_fail("beagle: cannot tell which memory was touched\n");
    for (u64 j = 0; j < many;) {
      u64 k = j;
      while (k < many && (L->scratch[k] & 1) == (L->scratch[j] & 1))
        k++;
      u64 from = start + (i + j) * PAGE, bytes = (k - j) * PAGE;
      /* Short stretches are not worth a region of their own. */
      if ((L->scratch[j] & 1) || bytes <= 8 * PAGE)
        add_copy(from, bytes);
      else
        add_zero(from, bytes);
      j = k;
    }
    i += many;
  }
}

static u64 hex(const char **at) {
  u64 value = 0;
  for (;; (*at)++) {
    char c = **at;
    if (c >= '0' && c <= '9')
      value = value * 16 + (u64)(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (u64)(c - 'a' + 10);
    else
      return value;
  }
}

/* One line of /proc/self/maps: "START-END rwxp OFFSET DEVICE INODE NAME". */
static void take_line(const char *line) {
  u64 start = hex(&line);
  line++;
  u64 end = hex(&line);
  line++;
  int writable = line[1] == 'w', private = line[3] == 'p';
  if (!writable || !private || (start >= AT_STATE && start < AT_END))
    return;
  const char *name = line;
  int fields = 0;
  u64 inode = 0;
  for (; *name && *name != '\n' && fields < 4; name++) {
    if (*name == ' ') {
      fields++;
      if (fields == 3)
        for (const char *p = name + 1; *p >= '0' && *p <= '9'; p++)
          inode = inode * 10 + (u64)(*p - '0');
    }
  }
  while (*name == ' ')
    name++;
  /* The program runs on a stack of its own; that of the process is only ours. */
  if (same(name, "[stack]", 7))
    return;
  if (inode != 0)
    add_copy(start, end - start);
  else
    add_anonymous(start, end - start);
}

static void take_maps(void) {
  char *text = lane_map(0, 1 << 20, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  i64 fd = lane_system(__NR_open, (i64) "/proc/self/maps", O_RDONLY, 0, 0, 0, 0);
  i64 size = 0, got;
  while ((got = lane_system(__NR_read, fd, (i64)(text + size), (1 << 20) - 1 - size, 0, 0, 0)) > 0)
    size += got;
  lane_system(__NR_close, fd, 0, 0, 0, 0, 0);
  if (size == 0)
    lane_fail("beagle: cannot read /proc/self/maps\n");
  for (char *line = text; *line;) {
    take_line(line);
    while (*line && *line != '\n')
      line++;
    if (*line)
      line++;
  }
  lane_system(__NR_munmap, (i64)text, 1 << 20, 0, 0, 0, 0);
}

static i64 page_faults(void) {
  struct rusage usage;
  lane_system(__NR_getrusage, RUSAGE_SELF, (i64)&usage, 0, 0, 0, 0);
  return usage.ru_minflt;
}

void memory_save(void) {
  /* The kernel writes there whenever it likes. */
  if (&__rseq_size && __rseq_size) {
    u64 thread;
    __asm__("mov %%fs:0,%0" : "=r"(thread));
    lane_system(__NR_rseq, (i64)(thread + (u64)__rseq_offset), 32, 1, 0x53053053, 0, 0);
  }
  L->scratch = lane_map(0, 1 << 20, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  L->saved_end = AT_SAVED;
  /* The heap goes on at an address that is always the same. */
  L->break_now = L->break_high = AT_HEAP;
  __curbrk = (void *)AT_HEAP;
  lane_active = 1;
  take_maps();
  lane_map(AT_SAVED, L->saved_end - AT_SAVED + PAGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  for (u32 i = 0; i < L->region_count; i++) {
    struct region *region = &L->regions[i];
    if (region->saved)
      copy((void *)region->saved, (void *)region->start, region->size);
  }
  add_zero(AT_HEAP, HEAP_SIZE);
  add_zero(AT_STACK, STACK_SIZE);
  add_zero(AT_MAPS, MAPS_SIZE);
  L->maps_high = AT_MAPS;
}

/* The part of a region that a run can have touched. */
static u64 extent(const struct region *region) {
  switch (region->start) {
  case AT_HEAP: return L->break_high - AT_HEAP;
  case AT_MAPS: return L->maps_high - AT_MAPS;
  default: return region->size;
  }
}

static void note_touched(struct region *region) {
  u64 count = pages(extent(region));
  for (u64 i = 0; i < count;) {
    u64 many = count - i < (1 << 20) ? count - i : (1 << 20);
    lane_system(__NR_mincore, (i64)(region->start + i * PAGE), (i64)(many * PAGE), (i64)L->scratch, 0, 0, 0);
    for (u64 j = 0; j < many; j++) {
      if (j % 8 == 0 && j + 8 <= many && *(u64 *)(L->scratch + j) == 0) {
        j += 7;
      } else if ((L->scratch[j] & 1) && !region->touched[i + j]) {
        region->touched[i + j] = 1;
        region->pages++;
      }
    }
    i += many;
  }
}

static void clear(struct region *region) {
  /* Also now and then, lest a single run make all later ones slow. */
  if (region->pages > KEPT_PAGES || (region->pages > 32 && L->runs % 64 == 0)) {
    lane_system(__NR_madvise, (i64)region->start, (i64)region->size, MADV_DONTNEED, 0, 0, 0);
    fill(region->touched, 0, pages(region->size));
    region->pages = 0;
    return;
  }
  u64 left = region->pages;
  /* The stack is used from its end. */
  if (region->start == AT_STACK) {
    for (u64 i = pages(region->size); i-- > 0 && left > 0;)
      if (region->touched[i]) {
        fill((void *)(region->start + i * PAGE), 0, PAGE);
        left--;
      }
    return;
  }
  for (u64 i = 0; left > 0; i++)
    if (region->touched[i]) {
      fill((void *)(region->start + i * PAGE), 0, PAGE);
      left--;
    }
}

void memory_restore(void) {
  i64 faults = page_faults();
  int more = faults != L->faults;
  for (u32 i = 0; i < L->region_count; i++) {
    struct region *region = &L->regions[i];
    if (region->saved) {
      copy((void *)region->start, (void *)region->saved, region->size);
    } else {
      if (more)
        note_touched(region);
      if (region->pages > 0)
        clear(region);
    }
  }
  L->maps_high = AT_MAPS;
  L->map_count = 0;
  L->break_now = L->break_high = AT_HEAP;
  /* What was touched by now is known. */
  L->faults = more ? page_faults() : faults;
}

i64 memory_break(u64 to) {
  if (to < AT_HEAP || to > AT_HEAP + HEAP_SIZE)
    return (i64)L->break_now;
  if (to < L->break_now) {
    /* What is given back is zero when it comes again. */
    u64 from = (to + PAGE - 1) & ~(PAGE - 1);
    if (from > to)
      fill((void *)to, 0, (from < L->break_now ? from : L->break_now) - to);
    if (L->break_now > from)
      lane_system(__NR_madvise, (i64)from, (i64)(L->break_now - from), MADV_DONTNEED, 0, 0, 0);
  }
  L->break_now = to;
  if (to > L->break_high)
    L->break_high = to;
  return (i64)to;
}

/* The first place where so much fits. */
static u64 place(u64 size, u32 *index) {
  u64 at = AT_MAPS;
  u32 i = 0;
  for (; i < L->map_count; i++) {
    if (L->maps[i].start - at >= size)
      break;
    at = L->maps[i].start + L->maps[i].size;
  }
  *index = i;
  return at;
}

i64 memory_map(u64 at, u64 size, int prot, int flags, int fd, u64 offset) {
  (void)at;
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) || (prot & PROT_EXEC))
    lane_refuse(__NR_mmap);
  const struct file *file = 0;
  if (!(flags & MAP_ANONYMOUS)) {
    file = file_of(fd);
    if (!file)
      return -9; /* EBADF */
    if ((flags & MAP_SHARED) && (prot & PROT_WRITE))
      lane_refuse(__NR_mmap);
  }
  if (size == 0)
    return -22; /* EINVAL */
  size = (size + PAGE - 1) & ~(PAGE - 1);
  u32 index;
  u64 start = place(size, &index);
  if (size > MAPS_SIZE || start + size > AT_MAPS + MAPS_SIZE)
    return -12; /* ENOMEM */
  if (L->map_count == MOST_MAPS)
    lane_refuse(__NR_mmap);
  for (u32 i = L->map_count++; i > index; i--)
    L->maps[i] = L->maps[i - 1];
  L->maps[index].start = start;
  L->maps[index].size = size;
  if (start + size > L->maps_high)
    L->maps_high = start + size;
  if (file && offset < file->size) {
    u64 left = file->size - offset;
    copy((void *)start, file->bytes + offset, left < size ? left : size);
  }
  return (i64)start;
}

i64 memory_unmap(u64 start, u64 size) {
  size = (size + PAGE - 1) & ~(PAGE - 1);
  for (u32 i = 0; i < L->map_count; i++) {
    struct map *map = &L->maps[i];
    if (start < map->start || start >= map->start + map->size)
      continue;
    u64 end = start + size;
    if (end > map->start + map->size)
      lane_refuse(__NR_munmap);
    lane_system(__NR_madvise, (i64)start, (i64)size, MADV_DONTNEED, 0, 0, 0);
    if (start == map->start && end == map->start + map->size) {
      for (u32 j = i + 1; j < L->map_count; j++)
        L->maps[j - 1] = L->maps[j];
      L->map_count--;
    } else if (start == map->start) {
      map->start = end;
      map->size -= size;
    } else if (end == map->start + map->size) {
      map->size -= size;
    } else {
      lane_refuse(__NR_munmap);
    }
    return 0;
  }
  /* Memory that was there before the run: it would have to come back. */
  lane_refuse(__NR_munmap);
}

i64 memory_remap(u64 start, u64 size, u64 to, int flags) {
  to = (to + PAGE - 1) & ~(PAGE - 1);
  size = (size + PAGE - 1) & ~(PAGE - 1);
  for (u32 i = 0; i < L->map_count; i++) {
    struct map *map = &L->maps[i];
    if (map->start != start || map->size != size)
      continue;
    if (to <= size) {
      if (to < size)
        memory_unmap(start + to, size - to);
      return (i64)start;
    }
    u64 limit = i + 1 < L->map_count ? L->maps[i + 1].start : AT_MAPS + MAPS_SIZE;
    if (start + to <= limit) {
      map->size = to;
      if (start + to > L->maps_high)
        L->maps_high = start + to;
      return (i64)start;
    }
    if (!(flags & MREMAP_MAYMOVE))
      return -12;
    i64 moved = memory_map(0, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved > 0) {
      copy((void *)moved, (void *)start, size);
      memory_unmap(start, size);
    }
    return moved;
  }
  lane_refuse(__NR_mremap);
}
