package templating

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// parse adds the templates of all files in order: a later definition replaces an earlier one. Files
// with equal text, such as those of a library chart in several subcharts, are parsed once.
func (e *execution) parse(sources []*source) error {
	var unique []*source
	place := map[string]int{}
	for _, src := range sources {
		if _, ok := place[src.text]; !ok {
			place[src.text] = len(unique)
			unique = append(unique, src)
			if e.words += wordsOf(src.text); e.words > maxWords {
				return &Error{File: src.path, Line: 1, Message: fmt.Sprintf("the actions of the templates have more than %d words in total", maxWords)}
			}
		}
	}
	units, err := parseUnits(unique, e.functions.names)
	if err != nil {
		return err
	}
	for _, src := range sources {
		e.root.add(units[place[src.text]], src.path)
	}
	return nil
}

// parseUnits parses files in parallel: parsing takes most of the time of rendering large charts, and
// files are independent. The error is that of the first file that has one, whatever the order of
// parsing was.
func parseUnits(sources []*source, functions map[string]any) ([]*unit, error) {
	units, errs := make([]*unit, len(sources)), make([]error, len(sources))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(sources)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(sources)); i = next.Add(1) - 1 {
				units[i], errs[i] = parseSafely(sources[i], functions)
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return units, nil
}

// parseSafely parses a file and turns a panic of the parser into an error.
func parseSafely(src *source, functions map[string]any) (u *unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{File: src.path, Line: 1, Message: fmt.Sprintf("it can't be parsed: %v", r)}
		}
	}()
	return parseUnit(src.path, src.path, src.text, functions)
}
