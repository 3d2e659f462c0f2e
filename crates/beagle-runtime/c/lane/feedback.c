/* What the program executed and compared. */
#include "lane.h"

/* Made by the instrumentation: a byte for each block, and how many there are. */
extern u8 bg_lane_counters[];
extern const u64 bg_lane_count;

u32 feedback_counters(void) { return (u32)bg_lane_count; }

/* The buckets that were seen in runs of this mode. */
static u8 *seen_counters(void) { return L->seen_counters + (L->header->mode & MODE_OTHER ? bg_lane_count : 0); }

void feedback_forget(void) { fill(seen_counters(), 0, bg_lane_count); }

void feedback_start(void) {
  L->comparing = (L->header->mode & MODE_COMPARES) != 0;
  if (L->comparing)
    fill(L->compare_sites, 0, sizeof L->compare_sites);
  L->result->compares = 0;
}

/* About how often: once, twice, 3, 4-7, 8-15, 16-31, 32-127, more. One bit each. */
static u8 bucket(u8 count) {
  if (count <= 2)
    return count;
  if (count == 3)
    return 4;
  if (count < 8)
    return 8;
  if (count < 16)
    return 16;
  if (count < 32)
    return 32;
  return count < 128 ? 64 : 128;
}

void feedback_end(struct result *result) {
  const struct mark *marks = (const struct mark *)(AT_SHARED + L->header->marks);
  u64 path = 0, whole = 0, count = bg_lane_count;
  u8 *seen = seen_counters();
  u32 near = 0xffff, flags = 0;
  for (u64 i = 0; i < count; i++) {
    if (i % 8 == 0 && i + 8 <= count) {
      u64 word;
      __builtin_memcpy(&word, bg_lane_counters + i, 8);
      if (!word) {
        i += 7;
        continue;
      }
    }
    u8 times = bg_lane_counters[i];
    if (!times)
      continue;
    u8 bit = bucket(times);
    struct mark mark = marks[i];
    if (bit & ~seen[i]) {
      seen[i] |= bit;
      flags |= RESULT_FRESH;
    }
    /* Sums, so that the order of the blocks in either version does not count. */
    whole += mix(mark.key, bit);
    if (mark.flags & MARK_CLOSE)
      path += mix(mark.key, 1);
    if (mark.flags & MARK_CHANGED)
      flags |= RESULT_CHANGED;
    if (mark.near < near)
      near = mark.near;
  }
  result->path = path;
  result->whole = whole;
  result->near = near;
  result->flags |= flags;
}

/* A record: 1 for texts or 0 for numbers, the size of each operand, then both. Only the first time at each place. */
static void note(u64 site, u8 text, const void *a, u64 a_size, const void *b, u64 b_size) {
  u64 slot = mix(site, 1) % (8 * sizeof L->compare_sites);
  if (L->compare_sites[slot / 64] >> (slot % 64) & 1)
    return;
  u64 size = 3 + a_size + b_size;
  if (L->compare_next + size > L->compare_end)
    return;
  L->compare_sites[slot / 64] |= 1ul << (slot % 64);
  u8 *to = L->compare_next;
  to[0] = text;
  to[1] = (u8)a_size;
  to[2] = (u8)b_size;
  copy(to + 3, a, a_size);
  copy(to + 3 + a_size, b, b_size);
  L->compare_next += size;
  L->result->compares += (u32)size;
}

/* Called by the program before it compares numbers. */
void bg_lane_compare(u64 a, u64 b, u32 bytes) {
  if (!lane_active || !L->comparing || a == b)
    return;
  note((u64)__builtin_return_address(0), 0, &a, bytes, &b, bytes);
}

static u64 text_size(const char *text, u64 most) {
  u64 n = 0;
  while (n < most && text[n])
    n++;
  return n;
}

/* Called by the program before it compares texts. */
void bg_lane_texts(const char *a, const char *b) {
  if (!lane_active || !L->comparing)
    return;
  note((u64)__builtin_return_address(0), 1, a, text_size(a, 40), b, text_size(b, 40));
}

/* Called by the program before it compares so many bytes. */
void bg_lane_bytes(const char *a, const char *b, u64 size) {
  if (!lane_active || !L->comparing || size == 0)
    return;
  size = size < 40 ? size : 40;
  note((u64)__builtin_return_address(0), 1, a, text_size(a, size), b, text_size(b, size));
}
