#!/bin/bash
# kill -9 during stores; see kills.py.   kills.sh HTTPCACHE [ROUNDS] [SEED] [DISK]
exec python3 "$(dirname "$0")/kills.py" "$@"
