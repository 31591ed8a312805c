#!/usr/bin/env bash
# Every check of Chancery, from nothing. `./test.sh NAME…` runs some parts only:
#
#   shell          the scripts of this project
#   fmt            formatting
#   clippy         lints, warnings as errors
#   dependencies   no second crypto library
#   build          all programs and tests
#   unit           tests beside the code
#   integration    tests of one crate on a real token and both databases
#   doc            examples in the documentation, forgeries that must not compile
#   system         both programs, a real token, both databases, real clients
#   schemathesis   every operation with what its document allows and forbids; twenty minutes when named,
#                  two as a part of system
#   bench          what a certificate costs, in multiples of its signature
#   fuzz           every reader of what comes from outside, ten seconds each
#   faults         the long versions of tests that make things fail; only when named
#   life           10,000 steps of deleting and restoring beside a model, and a crowd that does it for a
#                  minute on each database; only when named
#   soak           an hour of random troubles under load, on each database; only when named
#
# One build in the dev profile serves all of them but the bench, which measures what is shipped. As
# root, the system tests run signer and API as two different users; otherwise as one.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
PATH=$PATH:$HOME/.cargo/bin:/usr/sbin:/sbin
scratch=''

fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# --- What the tests need ------------------------------------------------------------------------

newest_postgres() { compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1; }

install_missing() {
  local missing=() pair
  for pair in gcc:gcc make:make softhsm2-util:softhsm2 openssl:openssl certtool:gnutls-bin curl:curl \
    jq:jq python3:python3 shellcheck:shellcheck setpriv:util-linux pkill:procps certutil:libnss3-tools \
    pk12util:libnss3-tools keytool:default-jre-headless g++:g++ pkcs11-tool:opensc; do
    have "${pair%%:*}" || missing+=("${pair##*:}")
  done
  [[ -e /usr/include/stdio.h ]] || missing+=(libc6-dev)
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  [[ -n $(newest_postgres) ]] || missing+=(postgresql)
  have cargo || fail "Rust is needed: https://rustup.rs has it"
  [[ ${#missing[@]} -eq 0 ]] && return
  have apt-get || fail "install these first: ${missing[*]}"
  local as_root=()
  if [[ $EUID -ne 0 ]]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# pkilint checks certificates against RFC 5280 with someone else's eyes.
install_pkilint() {
  local folder=$target/test-tools/pkilint-0.13.3
  export CHANCERY_TEST_PKILINT=$folder/bin/lint_pkix_cert
  [[ -x $CHANCERY_TEST_PKILINT ]] && return
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check pkilint==0.13.3
}

# Schemathesis calls every operation of the OpenAPI document.
install_schemathesis() {
  local folder=$target/test-tools/schemathesis-4.32.5
  export CHANCERY_TEST_SCHEMATHESIS=$folder/bin/st
  [[ -x $CHANCERY_TEST_SCHEMATHESIS ]] && return
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5
}

# One server for the whole run; each test makes a database of its own in it.
start_postgres() {
  [[ -z ${CHANCERY_TEST_POSTGRES:-} ]] || return 0
  local bin port password as_postgres=()
  bin=$(newest_postgres)
  scratch=$(mktemp -d)
  password=$(head -c 12 /dev/urandom | base64 | tr '+/' '-_')
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  printf '%s\n' "$password" >"$scratch/password"
  if [[ $EUID -eq 0 ]]; then
    # The server refuses to run as root.
    chown -R postgres: "$scratch"
    as_postgres=(runuser -u postgres --)
  fi
  "${as_postgres[@]}" "$bin/initdb" --pgdata "$scratch/data" --username postgres \
    --auth scram-sha-256 --pwfile "$scratch/password" --no-sync >/dev/null
  "${as_postgres[@]}" "$bin/pg_ctl" start --wait --silent --pgdata "$scratch/data" \
    --log "$scratch/log" -o "-p $port -k $scratch -c listen_addresses=127.0.0.1 \
      -c max_connections=300 -c fsync=off" </dev/null
  stop_postgres=("${as_postgres[@]}" "$bin/pg_ctl" stop --silent --mode immediate
    --pgdata "$scratch/data")
  export CHANCERY_TEST_POSTGRES=postgres://postgres:$password@127.0.0.1:$port/postgres
}

clean_up() {
  if [[ -n ${stop_postgres:-} ]]; then "${stop_postgres[@]}" || true; fi
  if [[ -n $scratch ]]; then rm -rf "$scratch"; fi
}

# --- The parts ----------------------------------------------------------------------------------

part_shell() { shellcheck run.sh test.sh .ci/run; }

part_fmt() { cargo fmt --all --check; }

part_clippy() { cargo clippy --quiet --workspace --all-targets --locked -- -D warnings; }

part_dependencies() {
  local name
  for name in ring openssl-sys; do
    if cargo tree --workspace --edges all --locked --invert "$name" 2>/dev/null | grep "^$name "; then
      fail "$name is in the tree: aws-lc-rs is the one crypto library"
    fi
  done
}

# Every target, so that programs and tests share one set of features and nothing is built twice.
part_build() { cargo build --quiet --workspace --all-targets --locked; }

part_unit() { cargo test --quiet --no-fail-fast --workspace --locked --lib --bins; }

part_doc() { cargo test --quiet --no-fail-fast --workspace --locked --doc; }

part_integration() { run_test_files '.name != "chancery-tests"'; }

part_system() { part_build && run_test_files '.name == "chancery-tests"'; }

# Ten minutes as administrator, ten as user.
part_schemathesis() {
  part_build
  CHANCERY_TEST_SCHEMATHESIS_SECONDS=600 \
    cargo test --quiet --workspace --locked --test schemathesis
}

# About twice what a certificate costs (docs/PERFORMANCE.md): noise passes, a gross regression does
# not.
part_bench() {
  cargo build --quiet --release --locked \
    -p chancery-signer -p chancery-api -p chancery-hsm-config -p chancery-bench
  local bench=("$target/release/chancery-bench" issue --seconds 5 --runs 3)
  "${bench[@]}" --key p256 --at-most 7
  "${bench[@]}" --key rsa2048 --at-most 4
}

# Readers under libFuzzer, each held to 100 ms and 64 MiB an input. CHANCERY_TEST_FUZZ: seconds each.
part_fuzz() {
  local seconds=${CHANCERY_TEST_FUZZ:-10} folder=$target/fuzz name bin reader
  # The folder has settings for its compiler, which cargo takes from where it runs.
  (cd fuzz && CARGO_TARGET_DIR=$folder cargo build --quiet --release --locked)
  (cd fuzz && cargo fmt --check)
  bin=$(echo "$folder"/*/release)
  CHANCERY_FUZZ_CASES=tests/cases CHANCERY_FUZZ_SEEDS=$folder/seeds "$bin/seeds" -runs=0 2>/dev/null
  for reader in fuzz/targets/*.rs; do
    name=$(basename "$reader" .rs)
    if [[ $name == seeds ]]; then continue; fi
    mkdir -p "$folder/corpus/$name" "$folder/found"
    # -timeout, in whole seconds of the clock on the wall, and -rss_limit_mb, of the whole process, are
    # for what the bounds inside can't see: a wait, and what is allocated in C.
    "$bin/$name" "$folder/corpus/$name" "$folder/seeds/$name" -max_total_time="$seconds" \
      -timeout=5 -rss_limit_mb=1024 -artifact_prefix="$folder/found/$name-" \
      >"$folder/$name.log" 2>&1 || {
      tail -n 40 "$folder/$name.log"
      fail "$name: what it does not bear lies in $folder/found"
    }
    printf '%s: %s\n' "$name" "$(grep '^Done' "$folder/$name.log")"
  done
}

# Every return value of the token at every function, workers lost fifty times, and hundreds of failed
# logins, each timed.
part_faults() {
  part_build
  CHANCERY_TEST_FAULTS=all \
    cargo test --quiet --no-fail-fast --workspace --locked --lib every_code
  CHANCERY_TEST_FAULTS=all \
    cargo test --quiet --no-fail-fast --workspace --locked --test token_storm
  CHANCERY_TEST_FAULTS=all \
    cargo test --quiet --no-fail-fast --workspace --locked --lib a_failed_login_takes_as_long
}

# What is deleted, restored and removed, for longer.
part_life() {
  part_build
  CHANCERY_MODEL_STEPS=${CHANCERY_MODEL_STEPS:-10000} \
    cargo test --quiet --workspace --locked --lib service_and_model_never_differ
  CHANCERY_CROWD_SECONDS=${CHANCERY_CROWD_SECONDS:-60} \
    cargo test --quiet --workspace --locked --test deleted_cas
}

# An hour of random troubles under load, on each database.
part_soak() {
  part_build
  CHANCERY_TEST_SOAK=${CHANCERY_TEST_SOAK:-3600} \
    cargo test --quiet --workspace --locked --test soak -- --nocapture --test-threads 1
}

# run_test_files CONDITION: the files below tests/ of the packages that meet a condition of jq.
run_test_files() {
  local chosen
  mapfile -t chosen < <(cargo metadata --no-deps --locked --format-version 1 |
    jq -r ".packages[] | select($1) | .targets[] | select(.kind == [\"test\"]) | \"--test\", .name")
  [[ ${#chosen[@]} -gt 0 ]] || return
  cargo test --quiet --no-fail-fast --workspace --locked "${chosen[@]}"
}

all=(shell fmt dependencies clippy build unit integration doc system bench fuzz)

main() {
  local parts=("$@") part times=() began
  [[ ${#parts[@]} -gt 0 ]] || parts=("${all[@]}")
  for part in "${parts[@]}"; do
    declare -F "part_$part" >/dev/null || fail "no part $part; there are: ${all[*]}"
  done
  trap clean_up EXIT
  install_missing
  for part in "${parts[@]}"; do
    if [[ $part =~ ^(unit|integration|system|faults|life|soak)$ ]]; then
      start_postgres
      install_pkilint
    fi
    if [[ $part == system || $part == schemathesis ]]; then install_schemathesis; fi
    printf '== %s\n' "$part"
    began=$SECONDS
    "part_$part" || fail "$part failed after $((SECONDS - began)) s"
    times+=("$part $((SECONDS - began)) s")
  done
  printf '%s\n' "== passed in $SECONDS s" "${times[@]}"
}

main "$@"
