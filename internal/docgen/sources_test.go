package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of the comparison in docs/sources.md names tests that exist, and what it says about
// Helm comes from a run.
func TestRowsOfSourcesHaveTheirTests(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs", "sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, rows := testsBelow(t, root), 0
	_, table, _ := strings.Cut(string(page), "| shown by |\n|---|---|---|---|\n")
	for row := range strings.Lines(table) {
		named := regexp.MustCompile(`\bTest\w+`).FindAllString(row, -1)
		if rows++; len(named) == 0 {
			t.Errorf("nothing shows %s", row)
		}
		if cells := strings.Split(row, " | "); len(cells) != 4 || !strings.Contains(cells[1], "†") {
			t.Errorf("no run of Helm shows %s", row)
		}
		for _, name := range named {
			if !tests[name] {
				t.Errorf("there is no test %s", name)
			}
		}
	}
	if rows < 30 {
		t.Errorf("the table has %d rows", rows)
	}
}

// The acceptance checks of chart sources have tests with their numbers.
func TestChecksOfSourcesHaveTests(t *testing.T) {
	there := map[string]bool{}
	for name := range testsBelow(t, "../..") {
		if numbers := regexp.MustCompile(`^TestCheck(\d\d)(?:And(\d\d))?`).FindStringSubmatch(name); numbers != nil {
			there[numbers[1]], there[numbers[2]] = true, true
		}
	}
	for i := 1; i <= 54; i++ {
		if number := fmt.Sprintf("%02d", i); !there[number] {
			t.Errorf("check %s has no test", number)
		}
	}
}
