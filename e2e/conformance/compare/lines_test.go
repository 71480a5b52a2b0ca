package compare

import "testing"

// The text is compared byte for byte, except for lines that are random.
func TestLines(t *testing.T) {
	same := [2]Output{{Text: "a: 1\nb: 2\n"}, {Text: "a: 1\nb: 3\n"}}
	for _, c := range []struct {
		name string
		ours [2]Output
		want int
	}{
		{"equal but for what is random", [2]Output{{Text: "a: 1\nb: 4\n"}, {Text: "a: 1\nb: 5\n"}}, 0},
		{"another line", [2]Output{{Text: "a:  1\nb: 4\n"}, {Text: "a:  1\nb: 5\n"}}, 1},
		{"an empty line more", [2]Output{{Text: "a: 1\nb: 4\n\n"}, {Text: "a: 1\nb: 5\n\n"}}, 1},
	} {
		if got := lines(same, c.ours); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
