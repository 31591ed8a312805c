#!/usr/bin/env bash
# The trial of Chancery: signer and API as one user on this machine, with a SoftHSM2 token.
#
#   ./run.sh        builds, makes the home on the first start, starts the service, stays in front
#   ./run.sh demo   asks the running service for two certificates and shows them
#
# README.md says what each variable means. CHANCERY_BIN names a folder of built programs; then
# nothing is built.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$(realpath -m "${CHANCERY_HOME:-chancery-home}")
# The API drains its requests first, then the signer ends: together within 5 s.
api_patience=35 signer_patience=12

say() { printf '%s\n' "$*"; }
fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# --- What has to be there ---------------------------------------------------------------------

softhsm_module() {
  compgen -G '/usr/lib*/softhsm/libsofthsm2.so' || compgen -G '/usr/lib/*/softhsm/libsofthsm2.so' ||
    compgen -G '/usr/lib64/pkcs11/libsofthsm2.so' || compgen -G '/usr/local/lib/softhsm/libsofthsm2.so'
}

install_packages() {
  have apt-get || fail "install these first, then start again: $*"
  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    have sudo || fail "install these first, then start again: apt-get install $*"
    as_root=(sudo)
  fi
  say "installing $*"
  # The lists of a fresh machine are empty or old, and only then is an update needed.
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install -qq -y --no-install-recommends)
  "${install[@]}" "$@" >/dev/null 2>&1 && return
  "${as_root[@]}" apt-get update -qq >/dev/null || true
  "${install[@]}" "$@" >/dev/null || fail "apt-get could not install $*"
}

install_missing() {
  local missing=()
  softhsm_module >/dev/null || missing+=(softhsm2)
  have curl || missing+=(curl)
  have openssl || missing+=(openssl)
  if [[ -z ${CHANCERY_BIN:-} ]]; then
    have gcc || missing+=(gcc)
    have make || missing+=(make)
    [[ -e /usr/include/stdio.h ]] || missing+=(libc6-dev)
  fi
  if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

rust_is_new_enough() {
  have cargo || return 1
  local has
  has=$(rustc --version 2>/dev/null | cut -d' ' -f2) || return 1
  [[ $(printf '%s\n' "$rust_version" "$has" | sort -V | head -n 1) == "$rust_version" ]]
}

ensure_rust() {
  rust_version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$top/Cargo.toml")
  PATH=$PATH:$HOME/.cargo/bin
  rust_is_new_enough && return
  if ! have rustup && have apt-cache && [[ -n $(apt-cache search --names-only '^rustup$') ]]; then
    install_packages rustup
  fi
  if have rustup; then
    say "installing the stable Rust toolchain"
    rustup toolchain install stable --profile minimal >/dev/null
    export RUSTUP_TOOLCHAIN=stable
  fi
  rust_is_new_enough || fail "Rust $rust_version or newer is needed: https://rustup.rs has it"
}

build() {
  if [[ -n ${CHANCERY_BIN:-} ]]; then
    bin=$(realpath "$CHANCERY_BIN")
  else
    ensure_rust
    say "building (the first time takes some minutes)"
    (cd "$top" && cargo build --quiet --release --locked \
      -p chancery-signer -p chancery-api -p chancery-hsm-config)
    bin=$(realpath "${CARGO_TARGET_DIR:-$top/target}")/release
  fi
  local program
  for program in chancery-signer chancery-api chancery-hsm; do
    [[ -x $bin/$program ]] || fail "there is no program $bin/$program"
  done
}

# --- Settings ---------------------------------------------------------------------------------

# setting VARIABLE KEY DEFAULT: the environment, else the configuration file, else the default.
setting() {
  local file=$home/config/application.properties value=${!1:-}
  if [[ -z $value && -r $file ]]; then
    value=$(sed -n "s/^[[:space:]]*${2//./\\.}[[:space:]]*[=:][[:space:]]*//p" "$file" | tail -n 1)
  fi
  printf '%s' "${value:-$3}"
}

check_port() { # VARIABLE PORT
  [[ $2 =~ ^[0-9]{1,5}$ && $2 -le 65535 ]] || fail "$1 is $2; a port is a number up to 65535"
  if [[ $2 -ne 0 ]] && (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; then
    fail "port $2 is taken; set $1 to a free one"
  fi
}

# The first of the base paths, as links use it: "" or "/chancery".
base_path() {
  local first
  first=$(setting CHANCERY_BASE_PATH base.path '')
  first=${first%%,*}
  first=${first#/}
  first=${first%/}
  printf '%s' "${first:+/$first}"
}

# --- Children ---------------------------------------------------------------------------------

# Each in a session of its own: Ctrl-C reaches this script alone, which then stops them in order.
# Should this script be killed, the kernel sends them SIGTERM.
launch() { # NAME PROGRAM
  env -u CHANCERY_BIN -u CHANCERY_ADMIN_PASSWORD -u CHANCERY_HOME \
    setsid setpriv --pdeathsig TERM -- "$bin/$2" --home "$home" \
    </dev/null >>"$home/log/$1.log" 2>&1 9>&- &
}

# Ctrl-C ends a sleep too, which is no failure.
pause() { sleep "$1" || true; }

alive() { kill -0 "$1" 2>/dev/null; }

stop() { # PID TENTHS_OF_A_SECOND
  [[ -n $1 ]] && kill -TERM "$1" 2>/dev/null || return 0
  local i
  for ((i = 0; i < $2; i++)); do
    alive "$1" || return 0
    pause 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

stop_all() {
  stop "$api" "$api_patience"
  stop "$signer" "$signer_patience"
  rm -f "$home/run/address"
}

# Ends everything if a child has ended by itself.
check_children() {
  local name pid
  for name in signer api; do
    pid=${!name}
    if [[ -n $pid ]] && ! alive "$pid"; then
      tail -n 3 "$home/log/$name.log" >&2 || true
      printf -v "$name" ''
      stop_all
      fail "the $name ended by itself; its log is $home/log/$name.log"
    fi
  done
}

end_if_asked() {
  [[ -n $stopping ]] || return 0
  stop_all
  say "stopped"
  exit 0
}

# --- Start ------------------------------------------------------------------------------------

# The password of the first administrator, for the API to read when it makes the account. The file
# goes when the service is ready; if an earlier start didn't come so far, it is still there.
prepare_admin_password() {
  local file=$home/config/secrets/admin-password
  [[ ! -e $home/config/application.properties ]] || return 0
  mkdir -p "$home/config/secrets"
  if [[ ! -s $file || -n ${CHANCERY_ADMIN_PASSWORD:-} ]]; then
    printf '%s\n' "${CHANCERY_ADMIN_PASSWORD:-$(head -c 18 /dev/urandom | base64 | tr '+/' '-_')}" \
      >"$file.new"
    mv "$file.new" "$file"
  fi
}

tell_admin_password() {
  local file=$home/config/secrets/admin-password
  [[ -e $file ]] || return 0
  if [[ -z ${CHANCERY_ADMIN_PASSWORD:-} ]]; then
    say "administrator: admin, password: $(<"$file") (shown this once)"
  fi
  rm -f "$file"
}

health() {
  [[ -s $home/root-ca.pem ]] || return 1
  curl --silent --show-error --max-time 5 "$@" --cacert "$home/root-ca.pem" \
    "https://localhost:$port/health/ready" 2>/dev/null
}

wait_for_socket() {
  local i
  for ((i = 0; i < 100; i++)); do
    [[ ! -S $home/run/signer.sock ]] || return 0
    check_children
    end_if_asked
    pause 0.1
  done
  stop_all
  fail "the signer did not open its socket within 10 s; its log is $home/log/signer.log"
}

# Past a minute the reason is told once and the wait goes on: the service mends itself.
wait_until_ready() {
  local i
  for ((i = 0; ; i++)); do
    ! health --fail >/dev/null || return 0
    check_children
    end_if_asked
    if [[ $i -eq 300 ]]; then say "not ready yet, still trying: $(health || true)"; fi
    pause 0.2
  done
}

serve() {
  install_missing
  build
  local metrics_port
  port=$(setting CHANCERY_PORT port 8443)
  metrics_port=$(setting CHANCERY_METRICS_PORT metrics.port 9464)
  check_port CHANCERY_PORT "$port"
  check_port CHANCERY_METRICS_PORT "$metrics_port"
  umask 077
  mkdir -p "$home/run"
  exec 9>"$home/run/run.lock"
  flock --nonblock 9 || fail "$home is in use by another run.sh"

  say "this is the trial: one user runs signer and API, so the API's user could reach the PIN"
  if [[ $EUID -eq 0 ]]; then say "started by root; it needs no root"; fi

  prepare_admin_password
  "$bin/chancery-hsm" init --trial --home "$home" >>"$home/run/init.log" 2>&1 9>&- ||
    fail "$(tail -n 1 "$home/run/init.log")"

  # The API is told here too: a signal that comes between two looks at $stopping would otherwise
  # wait for a child that nobody has told to end.
  trap 'stopping=1; [[ -z $api ]] || kill -TERM "$api" 2>/dev/null || true' TERM INT HUP
  rm -f "$home/run/signer.sock"
  launch signer chancery-signer
  signer=$!
  wait_for_socket
  launch api chancery-api
  api=$!
  wait_until_ready

  local address
  address=https://localhost:$port$(base_path)/
  say "$address" >"$home/run/address"
  tell_admin_password
  say "ready $address"
  while true; do
    wait -n "$signer" "$api" || true
    end_if_asked
    check_children
  done
}

# --- Demo -------------------------------------------------------------------------------------

# json_string NAME: the value of a member in the JSON on standard input, escapes resolved.
json_string() {
  local raw
  raw=$(sed -n "s/.*\"$1\":\"\(\([^\"\\\\]\|\\\\.\)*\)\".*/\1/p")
  printf '%b' "$raw"
}

json_escape() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '%s' "${text//$'\n'/\\n}"
}

# call PATH [BODY]: the answer, or the service's own words and the end.
call() {
  local answer status body=(--request GET)
  if [[ $# -gt 1 ]]; then body=(--header 'Content-Type: application/json' --data-binary @-); fi
  # Password and token go through pipes: arguments can be read by others.
  answer=$(printf '%s' "${2:-}" | curl --silent --show-error --cacert "$home/root-ca.pem" \
    --header "@"<(printf 'Authorization: Bearer %s\n' "${token:-none}") \
    --write-out '\n%{http_code}' "${body[@]}" "${address%/}$1") || fail "no answer from $address"
  status=${answer##*$'\n'}
  answer=${answer%$'\n'*}
  [[ $status == 200 ]] || fail "$1 answered $status: $(json_string message <<<"$answer")"
  printf '%s' "$answer"
}

demo() {
  [[ -r $home/run/address ]] || fail "the service is not running on $home: start ./run.sh first"
  address=$(<"$home/run/address")
  local password=${CHANCERY_ADMIN_PASSWORD:-} answer work
  if [[ -z $password ]]; then
    [[ -t 0 ]] || fail "set CHANCERY_ADMIN_PASSWORD, or run the demo in a terminal"
    read -rsp 'password of admin: ' password
    say
  fi
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder is fixed now
  trap "rm -rf '$work'" EXIT

  answer=$(call /api/login "{\"username\":\"admin\",\"password\":\"$(json_escape "$password")\"}")
  token=$(json_string token <<<"$answer")
  say "logged in as admin"

  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" \
    -subj /CN=demo.example.test -addext subjectAltName=DNS:demo.example.test \
    -out "$work/csr.pem" 2>/dev/null
  answer=$(call /api/certs/requestp10 \
    "{\"caName\":\"Chancery Issuer\",\"csr\":\"$(json_escape "$(<"$work/csr.pem")")\"}")
  json_string pemCert <<<"$answer" >"$work/certificate.pem"
  say "certificate $(json_string certId <<<"$answer"), from a CSR made just now:"
  openssl x509 -in "$work/certificate.pem" -noout -subject -issuer -serial -dates \
    -ext subjectAltName,keyUsage,extendedKeyUsage

  # An array of PEM strings, issuing CA first.
  answer=$(call '/api/admin/ca/chainbyname/Chancery%20Issuer')
  printf '%b\n' "$(sed 's/^\["//; s/"\]$//; s/","/\\n/g' <<<"$answer")" >"$work/chain.pem"
  openssl verify -x509_strict -CAfile "$home/root-ca.pem" -untrusted "$work/chain.pem" \
    "$work/certificate.pem" | sed "s,^$work/,,"

  say "and one for a DN, with a key that the service makes:"
  answer=$(call /api/certs/request '{"caName":"Chancery Issuer","dn":"CN=dn.example.test,O=Demo",
    "addCnAsDnsSan":true,"csrGeneratorName":"ECDSA P-256","p12Password":"open sesame"}')
  json_string p12Data <<<"$answer" | base64 -d >"$work/bundle.p12"
  openssl pkcs12 -in "$work/bundle.p12" -passin pass:'open sesame' -nodes -out "$work/bundle.pem"
  openssl x509 -in "$work/bundle.pem" -noout -subject -issuer -serial -dates \
    -ext subjectAltName,keyUsage,extendedKeyUsage
  openssl verify -x509_strict -CAfile "$home/root-ca.pem" -untrusted "$work/bundle.pem" \
    "$work/bundle.pem" | sed "s,^$work/,,"
  if [[ $(openssl x509 -in "$work/bundle.pem" -noout -pubkey) != \
    $(openssl pkey -in "$work/bundle.pem" -pubout) ]]; then
    fail "the private key is not that of the certificate"
  fi
  say "bundle.p12 holds certificate, chain and private key; the key is the certificate's"
  call /api/logouthere >/dev/null
}

signer='' api='' stopping='' token=''
case ${1:-} in
  '') serve ;;
  demo) demo ;;
  *) fail "unknown argument $1; use ./run.sh or ./run.sh demo" ;;
esac
