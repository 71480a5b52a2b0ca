package generate

import (
	"fmt"
	"strings"
)

// values makes a values file: a table with only a few possible keys, so that files collide.
func (m *maker) values(depth int) string {
	var b strings.Builder
	for _, key := range []string{"a", "b", "c", "alpha", "beta", "gamma", "global", "tags", "exports"} {
		if !m.chance(55) {
			continue
		}
		switch key {
		case "tags":
			fmt.Fprintf(&b, "tags: {t1: %s, t2: %s}\n", m.one("true", "false", "null"), m.one("true", "false"))
		case "exports":
			fmt.Fprintf(&b, "exports: {data: %s}\n", m.table(2))
		case "alpha", "beta", "gamma", "global":
			table := m.table(m.IntN(2))
			if m.chance(6) {
				table = m.one("null", "{}", m.scalar())
			}
			fmt.Fprintf(&b, "%s: %s\n", key, table)
		default:
			fmt.Fprintf(&b, "%s: %s\n", key, m.node(depth))
		}
	}
	if b.Len() == 0 {
		return "{}\n"
	}
	return b.String()
}

// node makes a YAML value in flow style.
func (m *maker) node(depth int) string {
	switch {
	case depth < 3 && m.chance(35):
		return m.table(depth + 1)
	case depth < 3 && m.chance(15):
		items := make([]string, m.IntN(4))
		for i := range items {
			items[i] = m.node(depth + 1)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case m.chance(12):
		return "null"
	}
	return m.scalar()
}

func (m *maker) table(depth int) string {
	var entries []string
	for _, key := range []string{"a", "b", "c", "enabled", "on", "global"} {
		if m.chance(40) {
			value := m.node(depth + 1)
			if key == "enabled" {
				value = m.one("true", "false", "null", `"true"`, "1")
			}
			entries = append(entries, fmt.Sprintf("%q: %s", key, value))
		}
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// scalar makes a YAML scalar that parsers are known to disagree about.
// The few that most parsers refuse are rare, because otherwise they would hide everything else.
func (m *maker) scalar() string {
	if m.IntN(400) == 0 {
		return m.one(".inf", ".nan", "1e400", `"\x7f"`, `"\u2028"`, `"\ufeff"`)
	}
	return m.one("true", "false", "yes", "no", "on", "off", "y", "n", "~", "null", `""`, "''",
		"0", "1", "-1", "-0", "0.0", "-0.0", "1.0", "1.5", "1e3", "1E+3", "1e21", "1e-7", "123456789", "12345678901234567890",
		"9007199254740993", "0777", "0o777", "0x1F", "0b101", "1_000", "190:20:30", "12:30", ".5", "5.", "+1",
		"2020-01-02", "2020-01-02T03:04:05Z", "abc", `"abc"`, `"a b"`, `"a: b"`, `"a #b"`, `"- a"`, `"0777"`, `"1e3"`, `"true"`,
		`"null"`, `"a\nb"`, `"a\nb\n"`, `"\n"`, `" a"`, `"a "`, `"\ta"`, `"ü€😀"`, `"\u0001"`, `"{{ .x }}"`, `"%d"`, `"@a"`, `"*a"`, `"&a"`,
		`"!a"`, `"|"`, `">"`, `"'"`, `"\""`, `"a'b"`, `"\\"`, `"<a&b>"`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccccccccccccccccccccc ddddd"`,
		"1.10", "1.2.3", "v1", "0.1", "100m", "1Gi", "=", "<<", "''''", "0.30000000000000004", "3.0e-5")
}
