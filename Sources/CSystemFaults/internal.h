#ifndef C_SYSTEM_FAULTS_INTERNAL_H
#define C_SYSTEM_FAULTS_INTERNAL_H

#include "CSystemFaults.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct rule {
  uint32_t calls;
  char suffix[64];
  int64_t seen, first, last;
  int action;
  int64_t value;
};

struct known_file {
  dev_t device;
  ino_t inode;
  int64_t number;
};

struct faults_plan {
  char directory[PATH_MAX];
  size_t length;
  pthread_mutex_t lock;
  int is_ended, records;
  int64_t counts[10];
  struct rule rules[32];
  int rule_count;
  struct known_file *files;
  size_t file_count, file_room;
  int64_t last_number;
  struct faults_change *changes;
  size_t change_count, change_room;
};

/// The decision about a call. The plan's lock is held until `leave`.
struct verdict {
  struct faults_plan *plan;
  int action;
  int64_t value;
  char path[PATH_MAX];
};

/// The number of plans that are not ended.
extern atomic_int faults_active;

/// Whether a plan covers a call on an open file; if so, takes the plan's lock.
int enter_file(int descriptor, uint32_t call, struct verdict *verdict);
/// Like `enter_file`, for a call on a path.
int enter_path(int directory, const char *path, uint32_t call, struct verdict *verdict);
void leave(struct verdict *verdict);
/// Ends the process as a power cut of its own would.
void die(void);

void remember_descriptor(int descriptor, struct verdict *verdict);
void forget_descriptor(int descriptor);

void record_open(struct verdict *verdict, int descriptor, int flags, int was_there);
void record_file(struct verdict *verdict, int kind, int descriptor, int64_t offset, int64_t length, const void *bytes);
void record_path(struct verdict *verdict, int kind, const char *from);
/// Resolves a second path of a call; 0 if it lies elsewhere.
int below_plan(struct faults_plan *plan, int directory, const char *path, char *found);

#endif
