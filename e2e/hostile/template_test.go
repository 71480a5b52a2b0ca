//go:build cluster

package hostile

import (
	"fmt"
	"maps"
	"strings"
)

// in turns templates, by the reason why they are hostile, into cases whose message
// names the file and contains says.
func in(says string, texts map[string]string) map[string]hostile {
	cases := map[string]hostile{}
	for name, text := range texts {
		cases[name] = hostile{Chart: template(text), Names: "web/templates/x.yaml", Says: says}
	}
	return cases
}

// hostileTemplates returns templates that call themselves, or crash a renderer that is not guarded.
func hostileTemplates() map[string]hostile {
	return in("", map[string]string{
		"tpl in tpl":                   `{{ define "t" }}{{ tpl "{{ include \"t\" . }}" . }}{{ end }}{{ include "t" . }}`,
		"tpl of itself":                `{{ $_ := set .Values "t" "{{ tpl .Values.t . }}" }}{{ tpl .Values.t . }}`,
		"include of itself":            `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
		"include by turns":             `{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
		"template of itself":           `{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`,
		"include twice of itself":      `{{ define "a" }}{{ include "a" . }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
		"printing what holds itself":   `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`,
		"toYaml of what holds itself":  `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}`,
		"toJson of what holds itself":  `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toJson $d }}`,
		"toToml of what holds itself":  `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toToml $d }}`,
		"comparing what holds itself":  `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $e := dict }}{{ $_ := set $e "d" $e }}{{ deepEqual $d $e }}`,
		"copying what holds itself":    `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d }}`,
		"merging what holds itself":    `{{ $d := dict "a" 1 }}{{ $_ := set $d "d" $d }}{{ $e := dict "d" $d }}{{ merge $d $e $d }}`,
		"merging into what is merged":  `{{ $m := dict }}{{ merge (dict "a" $m "b" $m) (dict "a" (dict "x" $m) "b" $m) | len | fail }}`,
		"repeat by a negative number":  `{{ repeat -1 "x" }}`,
		"indent by a negative number":  `{{ indent -1 "a" }}`,
		"padding, which Go refuses":    `{{ printf "%1000000000d" 1 | fail }}`,
		"substr out of range":          `{{ substr 5 1 "abc" }}`,
		"slice out of range":           `{{ slice (until 3) 5 9 }}`,
		"index out of range":           `{{ index (until 3) 9 }}`,
		"chunks of none":               `{{ chunk 0 (until 10) }}`,
		"many parentheses":             `{{ ` + strings.Repeat("(", 1_000_000) + `1` + strings.Repeat(")", 1_000_000) + ` }}`,
		"many conditions":              strings.Repeat("{{ if 1 }}", 200_000) + strings.Repeat("{{ end }}", 200_000),
		"many actions":                 strings.Repeat("{{ 1 }}", 1_000_000),
		"many arguments":               `{{ print ` + strings.Repeat("1 ", 3_000_000) + ` }}`,
		"many fields":                  `{{ .a` + strings.Repeat(".a", 1_000_000) + ` }}`,
		"many links of a pipeline":     `{{ 1` + strings.Repeat(" | print", 1_000_000) + ` }}`,
		"the nearest of long names":    `{{ define "` + strings.Repeat("a", 20_000) + `" }}{{ end }}{{ include (repeat 20000 "b") . }}`,
		"the nearest of long keys":     `{{ $_ := set .Values (repeat 20000 "a") 1 }}{{ .Values.` + strings.Repeat("b", 20_000) + `.c }}`,
		"a glob that is none":          `{{ .Files.Glob (repeat 1000000 "{") }}{{ fail "stop" }}`,
		"a glob that branches":         `{{ .Files.Glob (repeat 30 "{a,b}") }}{{ fail "stop" }}`,
		"a glob that tracks back":      `{{ .Files.Glob (repeat 100000 "*a") }}{{ fail "stop" }}`,
		"JSON that nests":              `{{ (fromJson (repeat 4000000 "[")).Error | fail }}`,
		"YAML that nests":              `{{ (fromYaml (repeat 4000000 "[")).Error | fail }}`,
		"YAML with an alias bomb":      fmt.Sprintf(`{{ (fromYaml %q).Error | fail }}`, aliasBomb()),
		"TOML that nests":              `{{ (fromToml (print "a=" (repeat 4000000 "["))).Error | fail }}`,
		"TOML with a long dotted key":  `{{ fromToml (print (repeat 1000000 "a.") "a=1") }}`,
		"a message of many megabytes":  `{{ fail (repeat 30000000 "x") }}`,
		"a value that is not there":    `{{ .Values.a.b.c }}`,
		"a function that is not there": `{{ env "HOME" }}`,
	})
}

// hostileOutput returns templates whose output nobody can read.
func hostileOutput() map[string]hostile {
	return in("", map[string]string{
		"malformed YAML":         "a: [\n",
		"a document of a list":   "a: 1\n---\n- 1\n",
		"an alias bomb":          aliasBomb(),
		"lists without end":      `a: {{ repeat 1000000 "[" }}`,
		"a million entries":      "{{ range until 250000 }}a: [1, 2]\n{{ end }}",
		"pairs of one document":  `{{ "a: [" }}{{ repeat 149000 "a: 1, " }}]` + "\n---\nb: [\n",
		"pairs of many":          `{{ repeat 11 (printf "a: [%s]\n---\n" (repeat 27000 "a: 1, ")) }}` + "\n---\nb: [\n",
		"equal keys of many":     "{{ range until 16000 }}a: 1\na: {{ . }}\n---\n{{ end }}b: [\n",
		"documents of one entry": `{{ repeat 299000 "a: 1\n---\n" }}` + "b: [\n",
		"millions of documents":  `{{ repeat 9000000 "---\na: 1\n" }}`,
		"a flow list without an": `a: [{{ repeat 10000000 "1," }}]`,
		"bytes that are no text": `{{ repeat 30000000 "\x00" }}`,
		"anchors":                `{{ repeat 10000000 "&a " }}`,
		"tags":                   `{{ repeat 10000000 "!a " }}`,
		"keys within keys":       `{{ repeat 15000000 "? " }}`,
		"colons":                 `{{ repeat 15000000 ": " }}`,
	})
}

// hostileGrowth returns templates that take memory.
func hostileGrowth() map[string]hostile {
	cases := in("produces too much text", map[string]string{
		"repeat":                  `{{ repeat 1000000000 "x" }}`,
		"text that doubles":       `{{ $x := "ab" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}`,
		"base64 of base64":        `{{ $x := "abcdefgh" }}{{ range until 1000 }}{{ $x = b64enc $x }}{{ end }}`,
		"base32 of base32":        `{{ $x := "abcdefgh" }}{{ range until 1000 }}{{ $x = b32enc $x }}{{ end }}`,
		"quotes of quotes":        `{{ $d := "\"" }}{{ range until 1000 }}{{ $d = quote $d }}{{ end }}`,
		"JSON of JSON":            `{{ $d := "\"" }}{{ range until 1000 }}{{ $d = toJson $d }}{{ end }}`,
		"a table of many keys":    `{{ $d := dict }}{{ range $j := until 1000 }}{{ range $i := until 100000 }}{{ $_ := set $d (printf "%d %d" $i $j) 1 }}{{ end }}{{ end }}`,
		"a table of large texts":  `{{ $d := dict }}{{ range $i := until 100000 }}{{ $_ := set $d (print $i) (repeat 1000 "x") }}{{ end }}`,
		"tables in tables":        `{{ $d := dict }}{{ range $i := until 200000 }}{{ $d = dict "a" $d "b" $d }}{{ end }}`,
		"a list of every length":  `{{ $l := until 100000 }}{{ $d := dict }}{{ range until 1000 }}{{ $l = append $l 1 }}{{ $_ := set $d (print .) $l }}{{ end }}`,
		"a text of every length":  `{{ $s := repeat 1000000 "a" }}{{ $d := dict }}{{ range until 1000 }}{{ $s = print $s "a" }}{{ $_ := set $d (print .) (trunc 1 $s) }}{{ end }}`,
		"a list of lists":         `{{ $k := list }}{{ range until 100000 }}{{ $k = append $k (until 100000) }}{{ end }}`,
		"indent":                  `{{ indent 1000000000 "a" }}`,
		"nindent":                 `{{ nindent 1000000000 "a" }}`,
		"random text":             `{{ randAlpha 1000000000 }}`,
		"random bytes":            `{{ randBytes 1000000000 }}`,
		"padding by an argument":  `{{ range until 1000 }}{{ $x := printf "%*d" 1000000 1 }}{{ end }}`,
		"one argument many times": `{{ printf (repeat 1000 "%[1]s") (repeat 1000000 "a") }}`,
		"join":                    `{{ join (repeat 1000000 "x") (until 10000) }}`,
		"replace":                 `{{ $a := repeat 100000 "a" }}{{ replace "a" $a $a }}`,
		"replace by expression":   `{{ regexReplaceAll "" (repeat 100000 "a") (repeat 100000 "b") }}`,
		"all matches":             `{{ regexFindAll "a" (repeat 30000000 "a") -1 }}`,
		"wrap":                    `{{ wrapWith 1 (repeat 10000 "x") (repeat 30000 "a ") }}`,
		"HTML":                    `{{ html (repeat 20000000 "<") }}`,
		"JavaScript":              `{{ js (repeat 20000000 "<") }}`,
		"sorting":                 `{{ range 1000000 }}{{ $x := sortAlpha (until 100000) }}{{ end }}`,
		"YAML of YAML":            `{{ $d := dict "a" "b" }}{{ range until 1000 }}{{ $d = dict "a" (toYaml $d) "b" (toYaml $d) }}{{ end }}`,
		"queries":                 `{{ urlquery (repeat 20000000 "<") }}`,
		"texts of bytes":          `{{ $l := list ($.Files.GetBytes "big") }}{{ range 1000 }}{{ $_ := set $.Values (print (randAlpha 9)) (toStrings $l) }}{{ end }}`,
		"nospace":                 `{{ nospace (repeat 100000000 "a ") }}`,
	})
	cases["texts of bytes"].Chart["big"] = strings.Repeat("a", 30<<20)
	for name, c := range in("copies or decodes too many", map[string]string{
		"copying files":    `{{ $_ := set $.Values "f" $.Files }}{{ range 100000000 }}{{ $x := deepCopy $ }}{{ end }}`,
		"copying":          `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) 1 }}{{ end }}{{ range 100000 }}{{ $x := deepCopy $d }}{{ end }}`,
		"copies of tables": `{{ $l := fromJsonArray (printf "[%s1]" (repeat 65536 "{\"\":1},")) }}{{ range 1000 }}{{ $_ := set $.Values (print (randAlpha 9)) (deepCopy $l) }}{{ end }}`,
		"tables of JSON":   `{{ $l := printf "[%s1]" (repeat 70000 "{\"\":1},") }}{{ range 1000 }}{{ $_ := set $.Values (print (randAlpha 9)) (fromJsonArray $l) }}{{ end }}`,
		"tables of YAML":   `{{ $l := repeat 70000 "- {a: 1}\n" }}{{ range 1000 }}{{ $_ := set $.Values (print (randAlpha 9)) (fromYamlArray $l) }}{{ end }}`,
	}) {
		cases[name] = c
	}
	for name, c := range in("more than 262144 items", map[string]string{
		"until":             `{{ until 1000000000 }}`,
		"until below zero":  `{{ until -1000000000 }}`,
		"untilStep":         `{{ untilStep 0 1000000000 1 }}`,
		"untilStep below":   `{{ untilStep 0 -1000000000 -1 }}`,
		"seq":               `{{ seq 1 1000000000 }}`,
		"seq by steps":      `{{ seq 0 1 1000000000 }}`,
		"split":             `{{ split "," (repeat 300000 ",") }}`,
		"splitList":         `{{ splitList "" (repeat 300000 "a") }}`,
		"a list that grows": `{{ $l := list 1 2 3 4 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`,
	}) {
		cases[name] = c
	}
	return cases
}

// hostileEffort returns templates that take time.
func hostileEffort() map[string]hostile {
	cases := in("takes too long", map[string]string{
		"a loop without end":     `{{ range 1000000000000 }}{{ end }}`,
		"loops in loops":         `{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}`,
		"calls":                  `{{ range 100000000 }}{{ $x := add 1 2 3 }}{{ end }}`,
		"loops left at once":     `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) 1 }}{{ end }}{{ range 100000 }}{{ range $d }}{{ break }}{{ end }}{{ end }}`,
		"many variables":         variables(3000) + `{{ range 100000000 }}{{ $x := $a1 }}{{ end }}`,
		"texts of files":         `{{ range 100000000 }}{{ $x := $.Files.Get "big" }}{{ end }}`,
		"copies of the values":   `{{ range 100000000 }}{{ $x := $.Values.YAML }}{{ end }}`,
		"lines of files":         `{{ range 100000000 }}{{ $x := $.Files.Lines "big" }}{{ end }}`,
		"tpl of a long text":     `{{ $a := print "{{/*" (repeat 1000000 "a") "*/}}" }}{{ range 100000000 }}{{ $x := tpl $a $ }}{{ end }}`,
		"many matches":           `{{ $a := repeat 87000 "a" }}{{ range 100000000 }}{{ $x := regexReplaceAll "a" $a "" }}{{ end }}`,
		"large classes":          `{{ $e := repeat 4000 "(?i)\\pL" }}{{ range 100000000 }}{{ $x := regexMatch $e "a" }}{{ end }}`,
		"ranges without case":    `{{ $e := printf "(?i)%s" (repeat 500 "[B-\\x{1e943}]") }}{{ range 100000000 }}{{ $x := regexMatch $e "a" }}{{ end }}`,
		"files as YAML":          `{{ range 100000000 }}{{ $x := $.Files.AsConfig }}{{ end }}`,
		"expressions in turn":    `{{ $a := repeat 100000 "a: b \n" }}{{ range 100000000 }}{{ $x := regexFindAll "[ \\t]+(\\r?\\n)" $a 1 }}{{ end }}`,
		"expressions of groups":  `{{ $a := repeat 100000 "a" }}{{ $e := repeat 300 "(a)?" }}{{ range 100000000 }}{{ $x := regexReplaceAll $e $a "${1}" }}{{ end }}`,
		"comparing tables":       `{{ $l := list }}{{ range $i := until 500 }}{{ $d := dict }}{{ range $j := until 100 }}{{ $_ := set $d (print $j) (add $i $j) }}{{ end }}{{ $l = append $l $d }}{{ end }}{{ range 1000 }}{{ $x := uniq $l }}{{ end }}`,
		"zones of time":          `{{ range 100000000 }}{{ $x := dateInZone "2006" 1 "Europe/Berlin" }}{{ end }}`,
		"versions":               `{{ range 100000000 }}{{ $x := semverCompare ">=1.2.3-0 <2 || ~3" "1.4.5" }}{{ end }}`,
		"numbers of tables":      `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) $i }}{{ end }}{{ range 100000000 }}{{ $x := int $d }}{{ end }}`,
		"sums of tables":         `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) $i }}{{ end }}{{ range 100000000 }}{{ $x := max 1 $d }}{{ end }}`,
		"tables as keys":         `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) $i }}{{ end }}{{ range 100000000 }}{{ $x := dict $d 1 }}{{ end }}`,
		"YAML of little":         `{{ range 100000000 }}{{ $x := toYaml 1 }}{{ end }}`,
		"little expressions":     `{{ range 100000000 }}{{ $x := regexMatch "(a|b+)*c" "a" }}{{ end }}`,
		"random text":            `{{ range 100000000 }}{{ $x := randAlphaNum 1000 }}{{ end }}`,
		"hashes":                 `{{ $x := repeat 10000000 "a" }}{{ range 100000000 }}{{ $y := sha512sum $x }}{{ end }}`,
		"expressions":            `{{ $a := repeat 1000000 "a" }}{{ range 100000000 }}{{ $x := regexMatch "(a|aa|aaa|b+)*c$" $a }}{{ end }}`,
		"expressions that count": `{{ range 100000000 }}{{ $x := regexMatch "(a{500}|b{500})" "a" }}{{ end }}`,
		"searching":              `{{ $l := until 100000 }}{{ range 100000000 }}{{ $x := has -1 $l }}{{ end }}`,
		"comparing each":         `{{ uniq (until 20000) }}`,
		"comparing text":         `{{ $x := repeat 1000000 "a" }}{{ $z := print $x "" }}{{ range 100000000 }}{{ $y := eq $x $z }}{{ end }}`,
		"trimming":               `{{ trimAll (print (repeat 200000 "é") "b") (print (repeat 200000 "b") "z") }}`,
		"shuffling":              `{{ range 100000000 }}{{ $x := shuffle "ab" }}{{ end }}`,
		"numbers of many digits": `{{ $x := repeat 10000000 "1" }}{{ range 100000000 }}{{ $y := float64 $x }}{{ end }}`,
		"reading YAML":           `{{ $x := repeat 10000 "a: b\n" }}{{ range 100000000 }}{{ $y := fromYaml $x }}{{ end }}`,
		"writing YAML":           `{{ $l := until 100000 }}{{ range 100000000 }}{{ $x := toYaml $l }}{{ end }}`,
		"merging":                `{{ $d := dict }}{{ range $i := until 10000 }}{{ $_ := set $d (print $i) 1 }}{{ end }}{{ range 100000 }}{{ $x := merge (dict) $d }}{{ end }}`,
		"gathering a list":       `{{ $l := list }}{{ range until 100000 }}{{ $l = append $l 1 }}{{ end }}`,
		"gathering a text":       `{{ $s := "" }}{{ range until 100000 }}{{ $s = printf "%s,10.0.0.0/32" $s }}{{ end }}`,
		"gathering a table":      `{{ $d := dict }}{{ range until 100000 }}{{ $d = merge (dict (print .) 1) $d }}{{ end }}`,
		"reading JSON":           `{{ $x := "[]" }}{{ range 100000000 }}{{ $y := fromJsonArray $x }}{{ end }}`,
		"tpl":                    `{{ $a := repeat 1000 "{{ 1 }}" }}{{ range 100000000 }}{{ $x := tpl $a $ }}{{ end }}`,
		"include that doubles":   `{{ define "a" }}{{ if gt . 0 }}{{ include "a" (sub . 1) }}{{ include "a" (sub . 1) }}{{ end }}{{ end }}{{ include "a" 40 }}`,
	})
	for name, c := range cases {
		c.Steps = true
		if strings.Contains(name, "of files") {
			c.Chart["big"] = strings.Repeat(strings.Repeat("a", 1<<20)+"\n", 15)
		}
		cases[name] = c
	}
	return cases
}

// hostileKeyMaking returns templates that generate keys without end.
func hostileKeyMaking() map[string]hostile {
	cases := in("generates too many keys", map[string]string{
		"keys on curves": `{{ range 1000000 }}{{ $x := genPrivateKey "ecdsa" }}{{ end }}`,
	})
	if *soak { // half a minute of CPU time each
		maps.Copy(cases, in("generates too many keys", map[string]string{
			"derived passwords": `{{ range 1000 }}{{ $x := derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
			"htpasswd":          `{{ range 1000 }}{{ $x := htpasswd "a" "b" }}{{ end }}`,
			"bcrypt":            `{{ range 1000 }}{{ $x := bcrypt "b" }}{{ end }}`,

			"certificates": `{{ range 1000 }}{{ $x := genCA "a" 365 }}{{ end }}`,
			"long keys":    `{{ range 1000 }}{{ $x := genPrivateKey "rsa" }}{{ end }}`,
			"old keys":     `{{ range 1000 }}{{ $x := genPrivateKey "dsa" }}{{ end }}`,
		}))
	}
	for name, c := range cases {
		c.Keys = true
		cases[name] = c
	}
	return cases
}

// variables returns the declarations of that many variables.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{{ $a%d := 1 }}", i)
	}
	return b.String()
}
