#!/usr/bin/env bash
# Checks the rules of the project that no compiler checks.
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
  # Two files may stop the program because of a constant of their own; they take no input.
  ! grep -rnE '\btry!|fatalError\(|\bas!|preconditionFailure\(' --include='*.swift' Sources Tools/Sources |
    grep -vE '^Sources/(HTTPCacheSemantics/Directives/FieldNames|HTTPCacheTesting/ScriptedResponse)\.swift:'
}

bounded_fields() {
  # HTTPFields ends the process at 65,535 fields, and its subscript makes a field of each cookie. So fields from outside
  # of the program are added with `appendBounded`. Another place says in a comment, on its line or on the line before,
  # by what it is bounded: "// bounded: one field of a message."
  local file unbounded=0
  while read -r file; do
    awk -v file="$file" '
      /([Ff]ields|[Tt]railers)\.append\(|(^|[^A-Za-z.])append\(HTTPField\(|\[\.cookie\] = [^n]/ &&
        $0 !~ /^ *\/\// && ($0 before) !~ /\/\/ bounded: / { print file ":" NR ":" $0; bad = 1 }
      { before = $0 }
      END { exit bad }' "$file" || unbounded=1
  done < <(sources Sources Tools/Sources | grep -v '^Sources/HTTPCacheTesting/')
  return $unbounded
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
  # A package that uses no traits must not fetch their dependencies.
  local dependencies
  dependencies=$(swift package show-dependencies --format flatlist) || return 1
  ! grep -E '(^|/)(swift-nio.*|swift-log|swift-distributed-tracing|async-http-client|hummingbird)(@|\.git|$)' <<<"$dependencies"
}

traceability() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/traceability/table.py --check
}

parity() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/parity.py --check
}

sizes() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/sizes.py
}

architecture() {
  # docs/architecture.md has each module.
  local module missing=0
  for module in $(sources Sources | cut -d/ -f2 | sort -u); do
    grep -qE "^\|.*\b$module\b.*\|.*\|" docs/architecture.md || { echo "$module: not in docs/architecture.md"; missing=1; }
  done
  return $missing
}

stores_conform() {
  # A test runs StoreConformance over each store that other modules can use.
  local store missing=0
  for store in $(sources Sources | xargs grep -hoE '^ *(public|package) (final )?(class|struct|actor) [A-Za-z]+: ([A-Za-z]+, )*CacheStore\b' |
    grep -oE '[A-Za-z]+:' | tr -d :); do
    grep -rl StoreConformance --include='*.swift' Tests | xargs grep -qE "\b$store\(|\b$store\.open" ||
      { echo "$store: StoreConformance does not check it"; missing=1; }
  done
  return $missing
}

public_declarations() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/api.py --check
}

error_texts() {
  # Each public error has a text for people (docs/decisions/0056): in its module, or in the lowest module of apps.
  local name missing=0
  for name in $(awk -F ' \\| ' '$3 ~ /(^|, )Error(,|$)/ && $3 !~ /LocalizedError/ { print $1 }' docs/api/*.txt); do
    grep -qE "^extension $name: LocalizedError" Sources/HTTPCacheDownloads/State/ErrorTexts.swift ||
      { echo "$name: no LocalizedError"; missing=1; }
  done
  return $missing
}

isolations() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/isolations.py
}

check imports scripts/check-imports.sh || failed=1
check file-length short_files || failed=1
check sizes sizes || failed=1
check architecture architecture || failed=1
check stores-conform stores_conform || failed=1
check nothing-left-undone nothing_left_undone || failed=1
check no-traps no_traps || failed=1
check bounded-fields bounded_fields || failed=1
check reasons-for-unchecked reasons_for_unchecked || failed=1
if git rev-parse --git-dir >/dev/null 2>&1; then
  check no-machine-paths no_machine_paths || failed=1
  check no-build-products no_build_products || failed=1
fi
check time-limits scripts/time-limits.sh || failed=1
check only-for-traits only_for_traits || failed=1
check traceability traceability || failed=1
check parity parity || failed=1
check public-declarations public_declarations || failed=1
check isolations isolations || failed=1
check error-texts error_texts || failed=1
check no-foundation scripts/check-linkage.sh || failed=1
exit $failed
