# What the scripts of this folder have in common: they show each command, run it,
# and insist on its exit code.

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi

say() { printf '\n%s# %s%s\n' "$dim" "$*" "$plain"; }

# run CODE COMMAND... shows the command, runs it, and insists on its exit code.
run() {
  local want=$1 got=0
  shift
  printf '%s$ %s%s\n' "$bold" "$*" "$plain"
  "$@" || got=$?
  if [ "$got" -ne "$want" ]; then
    printf 'demo: exit code %s instead of %s\n' "$got" "$want" >&2
    exit 1
  fi
  [ "$want" -eq 0 ] || printf '%s# exit code %s, as it should be%s\n' "$dim" "$got" "$plain"
}
