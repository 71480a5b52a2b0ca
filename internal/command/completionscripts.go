package command

import "slices"

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}

// completionScripts hand the words of a line to the program and let it answer.
var completionScripts = map[string]string{
	"bash": `
_kubectl_release() {
  local IFS=$'\n' words
  words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(kubectl-release __complete "${words[@]}" 2>/dev/null | grep -v '^:'))
  [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "${words[-1]}"))
}
complete -F _kubectl_release kubectl-release
`,
	"zsh": `
#compdef kubectl-release
_kubectl_release() {
  local -a found
  found=(${(f)"$(kubectl-release __complete "${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:')"})
  if (( ${#found} )); then compadd -- $found; else _files; fi
}
compdef _kubectl_release kubectl-release
`,
	"fish": `
function __kubectl_release
  set -l words (commandline -opc) (commandline -ct)
  kubectl-release __complete $words[2..] 2>/dev/null | string match -v ':*'
end
complete -c kubectl-release -a '(__kubectl_release)'
`,
	"kubectl": `
#!/usr/bin/env sh
# kubectl runs this for "kubectl release ..." and offers what it prints.
exec kubectl-release __complete "$@"
`,
}
