#!/usr/bin/env bash
# The rules of the house that no compiler checks.
cd "$(dirname "$0")/.."
source scripts/lib.sh

failed=0
sources() { find "$@" -name '*.swift' -not -path '*/.build/*'; }

short_files() {
  local long
  long=$(sources Sources Tests Tools/Sources Tools/Tests Tools/Examples Fuzzing Benchmarks Torture Simulation | xargs wc -l | awk '$2 != "total" && $1 > 400')
  [ -z "$long" ] || { echo "more than 400 lines:"; echo "$long"; return 1; }
}

nothing_left_undone() {
  local marks='TO''DO|FIX''ME|not (yet )?implement''ed'
  ! grep -rnE "$marks" --include='*.swift' --include='*.sh' --include='*.md' --exclude-dir=.build \
    Package.swift Sources Tests Tools Fuzzing Benchmarks Torture Simulation scripts README.md CHANGELOG.md
}

no_traps() {
  # Two places stop the program over a constant of their own file, and take nothing from outside.
  ! grep -rnE '\btry!|fatalError\(|\bas!|preconditionFailure\(' --include='*.swift' Sources Tools/Sources |
    grep -vE '^Sources/(HTTPCacheSemantics/Directives/FieldNames|HTTPCacheTesting/ScriptedResponse)\.swift:'
}

reasons_for_unchecked() {
  # The line after an unchecked claim is the comment that gives its reason.
  local file missing=0
  while read -r file; do
    awk -v file="$file" '
      expecting { if ($0 !~ /^ *\/\//) { print file ":" NR - 1 ": no reason"; bad = 1 }; expecting = 0 }
      /@unchecked Sendable|nonisolated\(unsafe\)/ && $0 !~ /^ *\/\// { expecting = 1 }
      END { exit bad }' "$file" || missing=1
  done < <(sources Sources Tools/Sources)
  return $missing
}

no_machine_paths() {
  ! git grep -nE '(^|[^A-Za-z0-9_.~/$}-])/(home|Users|root|work)/[A-Za-z0-9]' -- . ':!LICENSE'
}

no_build_products() {
  ! git ls-files | grep -E '(^|/)(\.build/|Package\.resolved$)'
}

only_for_traits() {
  # Who leaves the traits alone fetches nothing of what stands behind them.
  local dependencies
  dependencies=$(swift package show-dependencies --format flatlist) || return 1
  ! grep -E '(^|/)(swift-nio.*|swift-log|async-http-client|hummingbird)(@|\.git|$)' <<<"$dependencies"
}

traceability() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/traceability/table.py --check
}

parity() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/parity.py --check
}

snippets() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/snippets.py --check
}

public_declarations() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/api.py --check
}

check imports scripts/check-imports.sh || failed=1
check file-length short_files || failed=1
check nothing-left-undone nothing_left_undone || failed=1
check no-traps no_traps || failed=1
check reasons-for-unchecked reasons_for_unchecked || failed=1
if git rev-parse --git-dir >/dev/null 2>&1; then
  check no-machine-paths no_machine_paths || failed=1
  check no-build-products no_build_products || failed=1
fi
check time-limits scripts/time-limits.sh || failed=1
check only-for-traits only_for_traits || failed=1
check traceability traceability || failed=1
check parity parity || failed=1
check snippets snippets || failed=1
check public-declarations public_declarations || failed=1
check readme-example scripts/check-readme.sh || failed=1
check no-foundation scripts/check-linkage.sh || failed=1
exit $failed
