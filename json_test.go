package main_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for key := range strings.SplitSeq(args[1], ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(inner) {
				ts.Fatalf("%s: no item %s in a list of %d", args[1], key, len(inner))
			}
			value = inner[i]
		default:
			ts.Fatalf("%s: %s is below %v", args[1], key, value)
		}
	}
	if got := fmt.Sprint(value); got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}
