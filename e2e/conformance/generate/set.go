package generate

import (
	"fmt"
	"strings"
)

// set makes one chart whose values contain every kind of value, and several flags:
// most of them follow the grammar, some are arbitrary tokens in any order.
func (m *maker) set() {
	m.files["chart/Chart.yaml"] = "apiVersion: v2\nname: root\nversion: 0.1.0\n"
	m.files["chart/values.yaml"] = "a: {b: 1, c: [1, {d: 2}, [3]], n: null}\nl: [1, {x: \"y\"}, [z]]\ns: text\nn: null\nt: {}\n"
	m.files["chart/templates/dump.yaml"] = dump
	m.files["chart/templates/_lib.tpl"] = "{{ define \"shared\" }}{{ end }}"
	if m.chance(50) {
		m.valuesFile("a: {c: [x, null, {d: null, e: [[]]}], n: 1, q: null}\nl: null\ns: {now: table}\n")
	}
	for range 1 + m.IntN(3) {
		m.flag(m.setFlag())
	}
	if m.chance(25) {
		flag := m.one("--set", "--set", "--set-string", "--set-json", "--set-file", "--set-literal")
		m.flag(flag, m.tokens(flag))
	}
}

func (m *maker) setFlag() (flag, text string) {
	flag = m.one("--set", "--set", "--set-string", "--set-json", "--set-file", "--set-literal")
	parts := make([]string, 1+m.IntN(3))
	for i := range parts {
		parts[i] = m.setKey() + "=" + m.setValueOf(flag)
	}
	if flag == "--set-literal" || m.chance(50) {
		parts = parts[:1] // --set-literal takes a comma as text
	}
	return flag, strings.Join(parts, ",")
}

// setKey returns a path in which every element may contain list indices or an escape.
func (m *maker) setKey() string {
	parts := make([]string, 1+m.IntN(3))
	for i := range parts {
		parts[i] = m.one("a", "b", "c", "d", "l", "t", "t", "x", "x", "q", "n", "s", `x\.y`, `x\,y`, `x\=y`, `x\[0\]`, `\a`, " a", "é", "1", "on", "a-b/c", "")
		if parts[i] == "" && m.chance(90) {
			parts[i] = "new"
		}
		for m.chance(25) {
			parts[i] += m.one("[0]", "[0]", "[1]", "[2]", "[3]", "[01]", "[+1]")
		}
	}
	return strings.Join(parts, ".")
}

// setValueOf returns a value that the flag is likely to accept.
func (m *maker) setValueOf(flag string) string {
	switch flag {
	case "--set-json":
		return m.one("1", "-0", "1.50", "1e3", "12345678901234567890", "null", "true", `"a,b"`, `"\u00e9\n"`, `"\ud800"`, "[]", "{}", "[1,[null,{}]]",
			`{"x":{"y":null},"x":1}`, `{"a":{"b":null}}`, " 1 ", `"a" x`, "1 2", "{", `{'a':1}`, "01", "", "nul")
	case "--set-file":
		return m.one("$DIR/flags/one.txt", "$DIR/flags/two.txt", "$DIR/flags/empty", "{$DIR/flags/one.txt,$DIR/flags/two.txt}", "$DIR/flags/none", "", "null")
	}
	return m.one("1", "0", "-1", "-0", "+1", "007", "1.5", "1e3", "0x10", "1_000", "9223372036854775807", "9223372036854775808", "true", "TRUE", "True", "false", "null", "NULL", "Null", "~", "yes", "",
		"x", " x ", "a.b", "a b", `a\,b`, `a\=b`, "a=b", `a\\b`, `\n`, `\`, "[1]", "{}", "{ }", "{,}", "{a}", "{a,b}", "{a, b}", "{1,null,true,x}", "{a,{b,c}}", `{a\,b,c}`, `{a\}b}`, "{a}x", "{a", "a}", "\"q\"", "'q'",
		"é€😀", "line\nbreak", "\t", "{{ .x }}", "%d", "$HOME", "#x", "---")
}

// tokens returns text that follows no grammar.
func (m *maker) tokens(flag string) string {
	var b strings.Builder
	for range 1 + m.IntN(10) {
		b.WriteString(m.one("a", "b", "c", "l", "n", "s", "x", ".", ".", "[", "]", "[0]", "[1]", "[2]", "[0][1]", "[-1]", "[70000]", "[ 1]", "=", "=", "=", ",", ",", "{", "}",
			"{a,b}", `\`, `\,`, `\.`, `\\`, "null", "true", "0", "01", "12", "1.5", "99999999999999999999", " ", "\"q\"", "é", "\xff", "{}", "[]", "\n", "-3", `{"k":[1,2.5,null]}`, "$DIR/flags/one.txt"))
	}
	if flag == "--set-file" && m.chance(50) {
		return b.String() + "=$DIR/flags/two.txt"
	}
	return b.String()
}

// flagFiles makes the files that --set-file reads.
func (m *maker) flagFiles() {
	m.files["flags/one.txt"] = "content"
	m.files["flags/two.txt"] = "con,te=nt\n{x}: \\ \"q\" ü\n"
	m.files["flags/empty"] = ""
}

// valuesFile adds a values file and the -f for it.
func (m *maker) valuesFile(text string) {
	name := fmt.Sprintf("flags/values%d.yaml", len(m.args))
	m.files[name] = text
	m.args = append(m.args, "-f", "$DIR/"+name)
}

func (m *maker) flag(flag, text string) { m.args = append(m.args, flag, text) }
