/*
 * caldate - calendar arithmetic on ISO 8601 dates.
 *
 *   caldate [-v] [-f FORMAT] [-e POLICY] [-H DATE]... COMMAND ARGUMENT...
 *
 *   info DATE               weekday, day of the year and ISO week of a date
 *   add DATE STEP...        apply steps like +3d, -2w, +1m, -4y or +5b
 *   diff FROM TO            number of days between two dates
 *   span FROM TO            the same in years, months and days
 *   work FROM TO            number of business days in [FROM, TO)
 *   nth YYYY-MM N WEEKDAY   N-th weekday of a month, from the end if N < 0
 *
 * Dates are written 2024-02-29, 2024-060 (day of the year) or 2024-W09-4 (ISO
 * week).  The Gregorian calendar is used for all years from 1 to 9999.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_YEAR 1
#define MAX_YEAR 9999
#define MAX_DAY 3652059L /* 9999-12-31; day 1 is 0001-01-01, a Monday */
#define MAX_COUNT 4000000L
#define MAX_HOLIDAYS 32

enum policy { CLAMP, SPILL, REFUSE };

struct date {
    int year, month, day;
};

/* Where the steps have led to: a day, and the same as a date. */
struct point {
    long day;
    struct date date;
    int known; /* the date is that of the day */
};

static const char *const weekday_names[] = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};

static const char *format = "%Y-%m-%d";
static enum policy policy = CLAMP;
static int verbose;
static long holidays[MAX_HOLIDAYS];
static size_t nholidays;

static void die(const char *fmt, ...)
{
    va_list ap;

    fputs("caldate: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

static void usage(void)
{
    fputs("usage: caldate [-v] [-f format] [-e clamp|spill|refuse] [-H date]... "
          "info|add|diff|span|work|nth argument...\n",
          stderr);
    exit(2);
}

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && is_leap(year) ? 29 : length[month - 1];
}

static int day_of_year(const struct date *d)
{
    int n = d->day;

    for (int m = 1; m < d->month; m++)
        n += days_in_month(d->year, m);
    return n;
}

/* Days before the first of January of a year. */
static long days_before(int year)
{
    long y = year - 1;

    return y * 365 + y / 4 - y / 100 + y / 400;
}

static long to_day(const struct date *d)
{
    return days_before(d->year) + day_of_year(d);
}

static struct date from_day(long day)
{
    struct date d;
    int rest;

    d.year = (int)(day / 366) + 1;
    while (days_before(d.year + 1) < day)
        d.year++;
    rest = (int)(day - days_before(d.year));
    d.month = 1;
    while (rest > days_in_month(d.year, d.month)) {
        rest -= days_in_month(d.year, d.month);
        d.month++;
    }
    d.day = rest;
    return d;
}

/* 1 is Monday, 7 is Sunday. */
static int weekday(long day)
{
    return (int)((day - 1) % 7) + 1;
}

static int iso_weeks(int year)
{
    int first = weekday(days_before(year) + 1);

    return first == 4 || (first == 3 && is_leap(year)) ? 53 : 52;
}

/* The Monday of ISO week 1: the week that has the fourth of January in it. */
static long iso_start(int year)
{
    long fourth = days_before(year) + 4;

    return fourth - (weekday(fourth) - 1);
}

static void iso_week(long day, int *year, int *week)
{
    int y = from_day(day).year;

    if (day < iso_start(y))
        y--;
    else if (day >= iso_start(y) + 7L * iso_weeks(y))
        y++;
    *year = y;
    *week = (int)((day - iso_start(y)) / 7) + 1;
}

/* Reads exactly n digits; -1 if there are other characters. */
static int digits(const char *s, int n)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)s[i]))
            return -1;
        value = value * 10 + (s[i] - '0');
    }
    return value;
}

static long parse_date(const char *s)
{
    size_t len = strlen(s);
    struct date d = {0, 0, 0};

    if (len < 8 || s[4] != '-')
        die("malformed date '%s'", s);
    d.year = digits(s, 4);
    if (d.year < MIN_YEAR)
        die("malformed date '%s'", s);
    if (len == 8) {
        int n = digits(s + 5, 3);

        if (n < 1 || n > 365 + is_leap(d.year))
            die("no such day of the year in '%s'", s);
        return days_before(d.year) + n;
    }
    if (len != 10 || s[7] != '-') {
        int week = len == 10 && s[5] == 'W' && s[8] == '-' ? digits(s + 6, 2) : -1;
        int wday = week >= 0 ? digits(s + 9, 1) : -1;
        long day;

        if (wday < 0)
            die("malformed date '%s'", s);
        if (week < 1 || week > iso_weeks(d.year) || wday < 1 || wday > 7)
            die("no such week date '%s'", s);
        day = iso_start(d.year) + 7L * (week - 1) + wday - 1;
        if (day < 1 || day > MAX_DAY)
            die("date '%s' is out of range", s);
        return day;
    }
    d.month = digits(s + 5, 2);
    d.day = digits(s + 8, 2);
    if (d.month < 0 || d.day < 0)
        die("malformed date '%s'", s);
    if (d.month < 1 || d.month > 12)
        die("no such month in '%s'", s);
    if (d.day < 1 || d.day > days_in_month(d.year, d.month))
        die("no such day in '%s'", s);
    return to_day(&d);
}

static int compare_days(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

static int is_holiday(long day)
{
    for (size_t i = 0; i < nholidays; i++)
        if (holidays[i] == day)
            return 1;
    return 0;
}

static void add_holiday(const char *s)
{
    long day = parse_date(s);

    for (size_t i = 0; i < nholidays; i++)
        if (holidays[i] == day)
            return;
    if (nholidays == MAX_HOLIDAYS)
        die("more than %d holidays", MAX_HOLIDAYS);
    holidays[nholidays++] = day;
}

static int is_weekend(long day)
{
    return weekday(day) > 5;
}

static int is_working(long day)
{
    return !is_weekend(day) && !is_holiday(day);
}

static long check_range(long day)
{
    if (day < 1 || day > MAX_DAY)
        die("result is out of range");
    return day;
}

static void update_date(struct point *p)
{
    p->date = from_day(p->day);
    p->known = 1;
}

static void add_days(struct point *p, long n)
{
    p->day = check_range(p->day + n);
    p->known = 0;
}

static void add_weeks(struct point *p, long n)
{
    p->day = check_range(p->day + 7 * n);
    /* Most of these steps stay in the month. */
    p->date.day += 7 * (int)n;
    p->known = p->date.day >= 1 && p->date.day <= days_in_month(p->date.year, p->date.month);
    if (!p->known)
        update_date(p);
}

static void add_business(struct point *p, long n)
{
    long day = p->day;
    long left = labs(n);
    int direction = n < 0 ? -1 : 1;

    /* Whole weeks can be skipped if each has five working days. */
    if (nholidays == 0 && !is_weekend(day)) {
        day += direction * (left / 5) * 7;
        left %= 5;
    }
    while (left > 0) {
        day = check_range(day + direction);
        if (is_working(day))
            left--;
    }
    p->day = check_range(day);
    update_date(p);
}

static long later_month(struct date d, long n)
{
    long month = d.year * 12L + (d.month - 1) + n;
    int last;

    if (month < MIN_YEAR * 12L || month >= (MAX_YEAR + 1) * 12L)
        die("result is out of range");
    d.year = (int)(month / 12);
    d.month = (int)(month % 12) + 1;
    last = days_in_month(d.year, d.month);
    if (d.day > last) {
        if (policy == REFUSE)
            die("%04d-%02d has no day %d", d.year, d.month, d.day);
        if (policy == SPILL) {
            int extra = d.day - last;

            d.day = last;
            return check_range(to_day(&d) + extra);
        }
        d.day = last;
    }
    return to_day(&d);
}

static void add_months(struct point *p, long n)
{
    if (!p->known)
        update_date(p);
    p->day = later_month(p->date, n);
    update_date(p);
}

static void apply_step(struct point *p, const char *step)
{
    char *end;
    char unit;
    long n;

    if ((step[0] != '+' && step[0] != '-') || !isdigit((unsigned char)step[1]))
        die("malformed step '%s'", step);
    n = strtol(step + 1, &end, 10);
    unit = *end == '\0' ? 'd' : *end++;
    if (*end != '\0')
        die("malformed step '%s'", step);
    if (n > MAX_COUNT)
        die("step '%s' is too large", step);
    if (step[0] == '-')
        n = -n;
    switch (unit) {
    case 'd': add_days(p, n); break;
    case 'w': add_weeks(p, n); break;
    case 'm': add_months(p, n); break;
    case 'y': add_months(p, 12 * n); break;
    case 'b': add_business(p, n); break;
    default: die("unknown unit in step '%s'", step);
    }
}

static void print_date(long day)
{
    struct date d = from_day(day);
    int year, week;

    iso_week(day, &year, &week);
    for (const char *p = format; *p != '\0'; p++) {
        if (*p != '%') {
            putchar(*p);
            continue;
        }
        switch (*++p) {
        case 'Y': printf("%04d", d.year); break;
        case 'm': printf("%02d", d.month); break;
        case 'd': printf("%02d", d.day); break;
        case 'j': printf("%03d", day_of_year(&d)); break;
        case 'G': printf("%04d", year); break;
        case 'V': printf("%02d", week); break;
        case 'u': printf("%d", weekday(day)); break;
        case 'A': fputs(weekday_names[weekday(day) - 1], stdout); break;
        case 'a': printf("%.3s", weekday_names[weekday(day) - 1]); break;
        case '%': putchar('%'); break;
        default: die("bad directive in format '%s'", format);
        }
    }
    putchar('\n');
}

static void cmd_info(long day)
{
    struct date d = from_day(day);
    int year, week;

    iso_week(day, &year, &week);
    printf("date: %04d-%02d-%02d\n", d.year, d.month, d.day);
    printf("weekday: %s\n", weekday_names[weekday(day) - 1]);
    printf("day of year: %d of %d\n", day_of_year(&d), 365 + is_leap(d.year));
    printf("iso week: %04d-W%02d-%d\n", year, week, weekday(day));
    if (nholidays > 0)
        printf("working day: %s\n", is_working(day) ? "yes" : "no");
}

static void cmd_span(long from, long to)
{
    struct date a, b;
    long months;
    int sign = from > to;

    if (sign) {
        long t = from;

        from = to;
        to = t;
    }
    a = from_day(from);
    b = from_day(to);
    months = (b.year - a.year) * 12L + b.month - a.month;
    policy = CLAMP;
    if (later_month(a, months) > to)
        months--;
    printf("%s%ldy %ldm %ldd\n", sign ? "-" : "", months / 12, months % 12,
           to - later_month(a, months));
}

/* Working days in [from, to), which is empty if from >= to. */
static void cmd_work(long from, long to)
{
    long count = 0;

    for (long day = from; day < to; day++)
        count += is_working(day);
    printf("%ld\n", count);
    if (!verbose)
        return;
    for (const long *day = holidays; day < holidays + nholidays; day++)
        if (*day >= from && *day < to)
            print_date(*day);
}

static int parse_weekday(const char *s)
{
    for (int i = 0; i < 7; i++) {
        size_t k = 0;

        while (s[k] != '\0' && tolower((unsigned char)s[k]) == tolower(weekday_names[i][k]))
            k++;
        if (s[k] == '\0' && k >= 2)
            return i + 1;
    }
    die("unknown weekday '%s'", s);
    return 0;
}

static void cmd_nth(const char *month, const char *count, const char *name)
{
    struct date d = {0, 0, 1};
    int wday = parse_weekday(name);
    int length, offset;
    char *end;
    long n;

    if (strlen(month) != 7 || month[4] != '-')
        die("malformed month '%s'", month);
    d.year = digits(month, 4);
    d.month = digits(month + 5, 2);
    if (d.year < MIN_YEAR || d.month < 1 || d.month > 12)
        die("malformed month '%s'", month);
    n = strtol(count, &end, 10);
    if (*end != '\0' || n == 0 || n < -5 || n > 5)
        die("count must be from 1 to 5 or from -5 to -1");
    length = days_in_month(d.year, d.month);
    if (n > 0) {
        offset = (wday - weekday(to_day(&d)) + 7) % 7;
        d.day = 1 + offset + 7 * (int)(n - 1);
    } else {
        d.day = length;
        offset = (weekday(to_day(&d)) - wday + 7) % 7;
        d.day = length - offset + 7 * (int)(n + 1);
    }
    if (d.day < 1 || d.day > length)
        die("%s has no such %s", month, weekday_names[wday - 1]);
    print_date(to_day(&d));
}

int main(int argc, char **argv)
{
    const char *command;
    int c;

    while ((c = getopt(argc, argv, "+ve:f:H:")) != -1) {
        switch (c) {
        case 'v': verbose = 1; break;
        case 'f': format = optarg; break;
        case 'H': add_holiday(optarg); break;
        case 'e':
            if (strcmp(optarg, "clamp") == 0)
                policy = CLAMP;
            else if (strcmp(optarg, "spill") == 0)
                policy = SPILL;
            else if (strcmp(optarg, "refuse") == 0)
                policy = REFUSE;
            else
                die("unknown policy '%s'", optarg);
            break;
        default: usage();
        }
    }
    argc -= optind;
    argv += optind;
    if (argc < 2)
        usage();
    command = argv[0];
    qsort(holidays, nholidays, sizeof holidays[0], compare_days);

    if (strcmp(command, "info") == 0 && argc == 2) {
        cmd_info(parse_date(argv[1]));
    } else if (strcmp(command, "add") == 0 && argc > 2) {
        struct point p = {parse_date(argv[1]), {0, 0, 0}, 0};

        update_date(&p);
        for (int i = 2; i < argc; i++)
            apply_step(&p, argv[i]);
        print_date(p.day);
    } else if (strcmp(command, "nth") == 0 && argc == 4) {
        cmd_nth(argv[1], argv[2], argv[3]);
    } else if (argc == 3) {
        long from = parse_date(argv[1]), to = parse_date(argv[2]);

        if (strcmp(command, "diff") == 0)
            printf("%ld\n", to - from);
        else if (strcmp(command, "span") == 0)
            cmd_span(from, to);
        else if (strcmp(command, "work") == 0)
            cmd_work(from, to);
        else
            usage();
    } else {
        usage();
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        die("write error");
    return 0;
}
