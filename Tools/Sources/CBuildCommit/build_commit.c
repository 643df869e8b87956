#include "build_commit.h"

const char *httpcache_build_commit(void) { return HTTPCACHE_COMMIT; }
