# What the scripts in this folder have in common: they show each command, run it,
# and insist on its exit code.

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi

say() { printf '\n%s# %s%s\n' "$dim" "$*" "$plain"; }

# pasted COMMAND... prints the command, quoted for pasting into a shell.
pasted() {
  local word line=''
  for word; do
    case $word in
      '' | *[!A-Za-z0-9_./:=@%+,~-]*) line+=" '${word//\'/\'\\\'\'}'" ;;
      *) line+=" $word" ;;
    esac
  done
  printf '%s' "${line# }"
}

# run CODE COMMAND... shows the command, runs it, and insists on its exit code.
run() {
  local want=$1 got=0
  shift
  printf '%s$ %s%s\n' "$bold" "$(pasted "$@")" "$plain"
  "$@" || got=$?
  if [ "$got" -ne "$want" ]; then
    printf 'demo: exit code %s instead of %s\n' "$got" "$want" >&2
    exit 1
  fi
  [ "$want" -eq 0 ] || printf '%s# exit code %s, as it should be%s\n' "$dim" "$got" "$plain"
}

# without_helm_variables lets none of Helm's variables have a say that whoever runs the script has
# set, such as HELM_NAMESPACE or HELM_DRIVER. With HELM_ there is one: to old versions of bash an
# empty list is an unset variable.
without_helm_variables() {
  HELM_=
  unset "${!HELM_@}"
}

# start_cluster FOLDER begins to start a control plane. Its process is $cluster, its log is in FOLDER,
# and its kubeconfig $KUBECONFIG. It ends with this script, however that ends: its standard input
# then does, too.
#
# Needed in PATH: testcluster.
start_cluster() {
  mkfifo "$1/lifeline"
  testcluster start --stop-with-stdin --kubeconfig-file "$KUBECONFIG" > "$1/log" 2>&1 < "$1/lifeline" &
  cluster=$!
  exec 9> "$1/lifeline"
}

# answers ADDRESS says whether something listens there.
answers() { (: > "/dev/tcp/${1%:*}/${1##*:}") 2> /dev/null; }

# serve_registry ADDRESS FOLDER starts an in-memory registry, and waits until it answers.
# Its process is $registry, and its log is in FOLDER.
#
# Needed in PATH: registry from testcluster/bin.
serve_registry() {
  if answers "$1"; then
    echo "something else listens at $1" >&2
    exit 1
  fi
  nohup registry "$1" > "$2/registry.log" 2>&1 < /dev/null 9>&- &
  registry=$!
  for ((i = 0; i < 3000; i++)); do
    kill -0 "$registry" 2> /dev/null || break
    # What answers may be something else that was faster: then the registry has ended.
    if answers "$1" && sleep 0.1 && kill -0 "$registry" 2> /dev/null; then return; fi
    sleep 0.1
  done
  cat "$2/registry.log" >&2
  exit 1
}

# await_log PROCESS LOG TEXT waits until a process has logged a text: up to minutes, since it
# does not wait for a process that has ended.
await_log() {
  for ((i = 0; i < 3000; i++)); do
    grep -q "$3" "$2" && return
    kill -0 "$1" 2> /dev/null || break
    sleep 0.1
  done
  cat "$2" >&2
  exit 1
}

# free_port sets port to one on which nothing listens.
free_port() {
  port=5000
  while answers "127.0.0.1:$port"; do port=$((port + 1)); done
}
