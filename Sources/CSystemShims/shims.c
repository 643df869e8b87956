#include "CSystemShims.h"

#include <errno.h>
#include <fcntl.h>

#if defined(__linux__)
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

int shim_open(const char *path, int flags, unsigned int mode) {
  int descriptor;
  do {
    descriptor = open(path, flags, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

int shim_clone_descriptor(int destination, int source) {
#if defined(FICLONE)
  return ioctl(destination, FICLONE, source) == 0 ? 0 : -errno;
#else
  (void)destination;
  (void)source;
  return -EOPNOTSUPP;
#endif
}
