#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLANS = 64, MOST_DESCRIPTORS = 1 << 16 };

atomic_int faults_active;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct faults_plan *plans[MOST_PLANS];
static struct {
  struct faults_plan *plan;
  char *path;
} descriptors[MOST_DESCRIPTORS];

struct faults_plan *faults_begin(const char *directory, int records) {
  if (!faults_are_available() || strlen(directory) >= PATH_MAX) return NULL;
  // Never freed, since a descriptor of it may be closed long after its end.
  struct faults_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) return NULL;
  strcpy(plan->directory, directory);
  plan->length = strlen(directory);
  plan->records = records;
  pthread_mutex_init(&plan->lock, NULL);
  int place = -1;
  pthread_mutex_lock(&table_lock);
  for (int index = 0; index < MOST_PLANS && place < 0; index++) {
    if (plans[index] == NULL) place = index;
  }
  if (place >= 0) {
    plans[place] = plan;
    atomic_fetch_add(&faults_active, 1);
  }
  pthread_mutex_unlock(&table_lock);
  if (place < 0) free(plan);
  return place < 0 ? NULL : plan;
}

void faults_end(struct faults_plan *plan) {
  pthread_mutex_lock(&table_lock);
  for (int index = 0; index < MOST_PLANS; index++) {
    if (plans[index] == plan) {
      plans[index] = NULL;
      atomic_fetch_sub(&faults_active, 1);
    }
  }
  for (int index = 0; index < MOST_DESCRIPTORS; index++) {
    if (descriptors[index].plan != plan) continue;
    free(descriptors[index].path);
    descriptors[index].plan = NULL;
    descriptors[index].path = NULL;
  }
  pthread_mutex_unlock(&table_lock);
  pthread_mutex_lock(&plan->lock);
  plan->is_ended = 1;
  for (size_t index = 0; index < plan->change_count; index++) {
    free((void *)plan->changes[index].bytes);
    free((void *)plan->changes[index].path);
    free((void *)plan->changes[index].from);
  }
  free(plan->changes);
  free(plan->files);
  plan->changes = NULL;
  plan->files = NULL;
  plan->change_count = plan->change_room = plan->file_count = plan->file_room = 0;
  pthread_mutex_unlock(&plan->lock);
}

int faults_add(
  struct faults_plan *plan, uint32_t calls, const char *suffix, int64_t first, int64_t last, int action,
  int64_t value) {
  int is_room = 0;
  pthread_mutex_lock(&plan->lock);
  if (plan->rule_count < 32 && strlen(suffix) < sizeof plan->rules[0].suffix) {
    struct rule *rule = &plan->rules[plan->rule_count++];
    *rule = (struct rule){.calls = calls, .first = first, .last = last, .action = action, .value = value};
    strcpy(rule->suffix, suffix);
    is_room = 1;
  }
  pthread_mutex_unlock(&plan->lock);
  return is_room;
}

void faults_heal(struct faults_plan *plan) {
  pthread_mutex_lock(&plan->lock);
  plan->rule_count = 0;
  pthread_mutex_unlock(&plan->lock);
}

int64_t faults_count(struct faults_plan *plan, uint32_t calls) {
  int64_t count = 0;
  pthread_mutex_lock(&plan->lock);
  for (int bit = 0; bit < 10; bit++) {
    if (calls >> bit & 1) count += plan->counts[bit];
  }
  pthread_mutex_unlock(&plan->lock);
  return count;
}

void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int ends_in(const char *path, const char *suffix) {
  size_t length = strlen(path), count = strlen(suffix);
  return length >= count && strcmp(path + length - count, suffix) == 0;
}

// With the plan's lock held.
static void judge(uint32_t call, struct verdict *verdict) {
  struct faults_plan *plan = verdict->plan;
  verdict->action = 0;
  for (int bit = 0; bit < 10; bit++) {
    if (call >> bit & 1) plan->counts[bit]++;
  }
  for (int index = 0; index < plan->rule_count; index++) {
    struct rule *rule = &plan->rules[index];
    if (!(rule->calls & call) || !ends_in(verdict->path, rule->suffix)) continue;
    rule->seen++;
    if (rule->seen < rule->first || rule->seen > rule->last || verdict->action) continue;
    verdict->action = rule->action;
    verdict->value = rule->value;
  }
  if (verdict->action == FAULTS_KILL) die();
  if (verdict->action == FAULTS_KILL_WITHIN && call != FAULTS_WRITE) die();
}

static int enter(uint32_t call, struct verdict *verdict) {
  if (verdict->plan == NULL) return 0;
  pthread_mutex_lock(&verdict->plan->lock);
  if (verdict->plan->is_ended) {
    pthread_mutex_unlock(&verdict->plan->lock);
    return 0;
  }
  judge(call, verdict);
  return 1;
}

void leave(struct verdict *verdict) {
  int error = errno;
  pthread_mutex_unlock(&verdict->plan->lock);
  errno = error;
}

int enter_file(int descriptor, uint32_t call, struct verdict *verdict) {
  if (atomic_load(&faults_active) == 0 || descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return 0;
  verdict->plan = NULL;
  pthread_mutex_lock(&table_lock);
  if (descriptors[descriptor].plan != NULL) {
    verdict->plan = descriptors[descriptor].plan;
    strcpy(verdict->path, descriptors[descriptor].path);
  }
  pthread_mutex_unlock(&table_lock);
  return enter(call, verdict);
}

// With the table's lock held. Folders are looked up by the path with which they were opened.
static int full_path(int directory, const char *path, char *found) {
  size_t length = strlen(path);
  if (path[0] == '/') {
    if (length >= PATH_MAX) return 0;
    strcpy(found, path);
    return 1;
  }
  if (directory < 0 || directory >= MOST_DESCRIPTORS || descriptors[directory].plan == NULL) return 0;
  size_t above = strlen(descriptors[directory].path);
  if (above + length + 2 > PATH_MAX) return 0;
  strcpy(found, descriptors[directory].path);
  if (strcmp(path, ".") == 0) return 1;
  found[above] = '/';
  strcpy(found + above + 1, path);
  return 1;
}

static int is_below(struct faults_plan *plan, const char *path) {
  return strncmp(path, plan->directory, plan->length) == 0
    && (path[plan->length] == 0 || path[plan->length] == '/');
}

int enter_path(int directory, const char *path, uint32_t call, struct verdict *verdict) {
  if (atomic_load(&faults_active) == 0 || path == NULL) return 0;
  verdict->plan = NULL;
  pthread_mutex_lock(&table_lock);
  if (full_path(directory, path, verdict->path)) {
    for (int index = 0; index < MOST_PLANS && verdict->plan == NULL; index++) {
      if (plans[index] != NULL && is_below(plans[index], verdict->path)) verdict->plan = plans[index];
    }
  }
  pthread_mutex_unlock(&table_lock);
  return enter(call, verdict);
}

int below_plan(struct faults_plan *plan, int directory, const char *path, char *found) {
  pthread_mutex_lock(&table_lock);
  int is_known = full_path(directory, path, found) && is_below(plan, found);
  pthread_mutex_unlock(&table_lock);
  return is_known;
}

void remember_descriptor(int descriptor, struct verdict *verdict) {
  if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return;
  char *path = strdup(verdict->path);
  if (path == NULL) return;
  pthread_mutex_lock(&table_lock);
  free(descriptors[descriptor].path);
  descriptors[descriptor].plan = verdict->plan;
  descriptors[descriptor].path = path;
  pthread_mutex_unlock(&table_lock);
}

void forget_descriptor(int descriptor) {
  if (atomic_load(&faults_active) == 0 || descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return;
  pthread_mutex_lock(&table_lock);
  free(descriptors[descriptor].path);
  descriptors[descriptor].plan = NULL;
  descriptors[descriptor].path = NULL;
  pthread_mutex_unlock(&table_lock);
}

// MARK: What changed; all with the plan's lock held.

static struct faults_change *next_change(struct faults_plan *plan) {
  if (plan->change_count == plan->change_room) {
    size_t room = plan->change_room ? plan->change_room * 2 : 256;
    void *grown = realloc(plan->changes, room * sizeof *plan->changes);
    // A record with a gap would be worse than none.
    if (grown == NULL) abort();
    plan->changes = grown;
    plan->change_room = room;
  }
  struct faults_change *change = &plan->changes[plan->change_count++];
  memset(change, 0, sizeof *change);
  return change;
}

static const char *relative(struct faults_plan *plan, const char *path) {
  const char *rest = path + plan->length;
  return strdup(*rest == '/' ? rest + 1 : rest);
}

// An inode's number is used again for another file, so a created file is always a new one.
static int64_t number_of(struct faults_plan *plan, const struct stat *status, int is_new) {
  struct known_file *found = NULL;
  for (size_t index = 0; index < plan->file_count && found == NULL; index++) {
    struct known_file *file = &plan->files[index];
    if (file->device == status->st_dev && file->inode == status->st_ino) found = file;
  }
  if (found == NULL) {
    if (plan->file_count == plan->file_room) {
      size_t room = plan->file_room ? plan->file_room * 2 : 64;
      void *grown = realloc(plan->files, room * sizeof *plan->files);
      if (grown == NULL) abort();
      plan->files = grown;
      plan->file_room = room;
    }
    found = &plan->files[plan->file_count++];
    *found = (struct known_file){status->st_dev, status->st_ino, ++plan->last_number};
  } else if (is_new) {
    found->number = ++plan->last_number;
  }
  return found->number;
}

void record_open(struct verdict *verdict, int descriptor, int flags, int was_there) {
  struct faults_plan *plan = verdict->plan;
  struct stat status;
  if (!plan->records || fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) return;
  int is_new = (flags & O_CREAT) && !was_there;
  int64_t number = number_of(plan, &status, is_new);
  if (is_new) {
    struct faults_change *change = next_change(plan);
    change->kind = FAULTS_CREATED;
    change->file = number;
    change->path = relative(plan, verdict->path);
  } else if (flags & O_TRUNC) {
    record_file(verdict, FAULTS_TRUNCATED, descriptor, 0, 0, NULL);
  }
}

void record_file(
  struct verdict *verdict, int kind, int descriptor, int64_t offset, int64_t length, const void *bytes) {
  struct faults_plan *plan = verdict->plan;
  struct stat status;
  if (!plan->records || fstat(descriptor, &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    if (kind == FAULTS_SYNCED) record_path(verdict, FAULTS_DIRECTORY_SYNCED, NULL);
    return;
  }
  int64_t number = number_of(plan, &status, 0);
  struct faults_change *change = next_change(plan);
  change->kind = kind;
  change->file = number;
  change->offset = offset;
  change->length = length;
  if (bytes != NULL && length > 0) {
    void *copy = malloc((size_t)length);
    if (copy == NULL) abort();
    memcpy(copy, bytes, (size_t)length);
    change->bytes = copy;
  }
}

void record_path(struct verdict *verdict, int kind, const char *from) {
  struct faults_plan *plan = verdict->plan;
  if (!plan->records) return;
  struct faults_change *change = next_change(plan);
  change->kind = kind;
  change->path = relative(plan, verdict->path);
  change->from = from ? relative(plan, from) : NULL;
}

int64_t faults_change_count(struct faults_plan *plan) {
  pthread_mutex_lock(&plan->lock);
  int64_t count = (int64_t)plan->change_count;
  pthread_mutex_unlock(&plan->lock);
  return count;
}

struct faults_change faults_change_at(struct faults_plan *plan, int64_t index) {
  struct faults_change change = {0};
  pthread_mutex_lock(&plan->lock);
  if (index >= 0 && (size_t)index < plan->change_count) change = plan->changes[index];
  pthread_mutex_unlock(&plan->lock);
  return change;
}
