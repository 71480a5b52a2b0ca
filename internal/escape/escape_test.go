package escape

import (
	"encoding/json"
	"testing"
)

// Whatever moves the cursor, turns text around or can't be seen is escaped, and what
// people read stays as it is.
func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "größer → 日本": "größer → 日本",
		"a\tb\r\n":        `a\tb\r\n`,
		"\x1b[31mred\x07": `\x1b[31mred\x07`,
		"\u202egnp.exe":   `\u202egnp.exe`,
		"zero\u200bwidth": `zero\u200bwidth`,
		"no\u00a0break":   `no\u00a0break`,
		"broken \xff":     `broken \xff`,
		"tag \U000e0041":  `tag \U000e0041`,

		"fillers \u3164\u115f\u1160\uffa0": `fillers \u3164\u115f\u1160\uffa0`,
		"marks \u034f\u17b4\u17b5":         `marks \u034f\u17b4\u17b5`,
		"no dots \u2800, dots ⠁":           `no dots \u2800, dots ⠁`,
		"emoji ⚠\ufe0f 👍🏽":                 `emoji ⚠\ufe0f 👍🏽`,
		"delete \x7f":                      `delete \x7f`,
		"한국어 ｱ กำ é e\u0301":               "한국어 ｱ กำ é e\u0301",
	} {
		if got := Line(in); got != want || Line(got) != got {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

// A message is one line, whatever it was.
func TestMessage(t *testing.T) {
	const in, want = "denied:\r\n\n  labels: a\x1b\n\t- team\n", `denied: labels: a\x1b - team`
	if got := Message(in); got != want {
		t.Errorf("Message(%q) = %q, want %q", in, got, want)
	}
}

// Lines stay lines, those of Windows, too.
func TestText(t *testing.T) {
	const in, want = "a\r\n\tb\x1b\n\nc", "a\n\tb\\x1b\n\nc"
	if got := Text(in); got != want {
		t.Errorf("Text(%q) = %q, want %q", in, got, want)
	}
}

// Escaped JSON is the same JSON.
func TestJSON(t *testing.T) {
	const value = "a\u202eb\U000e0041\u0085c → d\u3164\u2800"
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	escaped := JSON(raw)
	if want := `"a\u202eb\udb40\udc41\u0085c → d\u3164\u2800"`; string(escaped) != want {
		t.Errorf("got %s, want %s", escaped, want)
	}
	var got string
	if err := json.Unmarshal(escaped, &got); err != nil || got != value {
		t.Errorf("%s reads as %q, %v", escaped, got, err)
	}
}
