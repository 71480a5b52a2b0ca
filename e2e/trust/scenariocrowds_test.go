//go:build cluster

package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// crowdCommands returns commands that do many things at the same time:
//
//	crowd N PROGRAM ARGS...
//
// starts the program N times at once, with {} in ARGS replaced by 1, 2 and so on, and
// returns when all have ended. Standard output then has one line for each, such as
// "3 exit 1", and standard error contains what all of them wrote there.
//
//	foreach NAME VALUES FILE [VALUES FILE]...
//
// plays the script FILE of this archive once for each value, such as 1..9 or a,b,c, in the
// variable NAME, at most four at the same time, each with its own copy of the other files, an
// empty namespace and a proxy. The claim of the first one that fails becomes this script's.
func crowdCommands(s *stage) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"crowd": crowd,
		"foreach": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 3 || len(args)%2 == 0 {
				ts.Fatalf("usage: foreach NAME VALUES FILE [VALUES FILE]...")
			}
			o, err := s.foreach(args[0], args[1:])
			ts.Check(err)
			s.claim = o.claim
			if o.failed {
				ts.Fatalf("%s", o.log)
			}
		},
	}
}

func crowd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: crowd N PROGRAM ARGS...")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	codes, said := make([]int, n), make([]strings.Builder, n)
	var all sync.WaitGroup
	for i := range n {
		var line []string
		for _, arg := range args[1:] {
			line = append(line, strings.ReplaceAll(arg, "{}", strconv.Itoa(i+1)))
		}
		command := scripted(ts, line)
		command.Stderr = &said[i]
		all.Go(func() {
			_ = command.Run()
			codes[i] = command.ProcessState.ExitCode()
		})
	}
	all.Wait()
	for i := range n {
		fmt.Fprintf(ts.Stdout(), "%d exit %d\n", i+1, codes[i])
		fmt.Fprintf(ts.Stderr(), "%s", said[i].String())
		ts.Logf("%d: exit code %d\n%s", i+1, codes[i], said[i].String())
	}
}

func (s *stage) foreach(name string, args []string) (outcome, error) {
	var parts []string
	for i := 0; i < len(args); i += 2 {
		list, err := parseValues(args[i])
		if err != nil {
			return outcome{}, err
		}
		for _, value := range list {
			part, err := s.part(name, value, args[i+1])
			if err != nil {
				return outcome{}, err
			}
			parts = append(parts, part)
		}
	}
	// More runs at a time on few processors would renew their locks too late. Only the first
	// failure is reported.
	const atOnce = 4
	var last outcome
	for some := range slices.Chunk(parts, atOnce) {
		outcomes := make([]outcome, len(some))
		var all sync.WaitGroup
		for i, part := range some {
			all.Go(func() { outcomes[i] = play(s.TB, part, s.hand) })
		}
		all.Wait()
		for i, o := range outcomes {
			if o.failed {
				o.log = filepath.Base(some[i]) + ":\n" + o.log
				return o, nil
			}
			last = o
		}
	}
	return last, nil
}

// parseValues reads 1..9 or a,b,c. Except in a soak, it takes only every fourth number of a
// long range, and the last.
func parseValues(values string) ([]string, error) {
	from, to, isRange := strings.Cut(values, "..")
	if !isRange {
		return strings.Split(values, ","), nil
	}
	first, err := strconv.Atoi(from)
	if err != nil {
		return nil, fmt.Errorf("read the values %q: %w", values, err)
	}
	last, err := strconv.Atoi(to)
	if err != nil || last < first {
		return nil, fmt.Errorf("the values %q are no range", values)
	}
	step := sample(4, 1)
	if last-first < 4 {
		step = 1
	}
	var list []string
	for n := first; n < last; n += step {
		list = append(list, strconv.Itoa(n))
	}
	return append(list, strconv.Itoa(last)), nil
}

// part turns a file of the script's archive into a script of its own, with a variable, and returns its path.
func (s *stage) part(name, value, file string) (string, error) {
	archive, err := txtar.ParseFile(s.script)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", s.script, err)
	}
	part := &txtar.Archive{}
	for _, f := range archive.Files {
		if f.Name == file {
			part.Comment = append([]byte("env '"+name+"="+value+"'\n"), f.Data...)
		} else {
			part.Files = append(part.Files, f)
		}
	}
	if part.Comment == nil {
		return "", fmt.Errorf("%s has no file %s", s.script, file)
	}
	plain := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(value, "-")
	path := filepath.Join(s.TempDir(), strings.TrimSuffix(file, filepath.Ext(file))+"-"+plain+".txtar")
	if err := os.WriteFile(path, txtar.Format(part), 0o600); err != nil {
		return "", fmt.Errorf("write a part of %s: %w", s.script, err)
	}
	return path, nil
}
