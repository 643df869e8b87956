#pragma once

/// Returns the commit that the command was built from, or "" if the build was not told.
const char *httpcache_build_commit(void);
