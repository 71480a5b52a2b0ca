package templating

import (
	"fmt"
	"strings"
)

// Recall is what renders that are compared have in common: a function that gives
// something else each time it is called (rand*, uuidv4, genCA and its kin, bcrypt,
// htpasswd, now …) gives a later render what it gave an earlier one. Calls are the same
// when they come from the same file with the same arguments, as the same one in what
// is rendered: between two versions of a chart, helpers change more than that. A chart that makes a password for its Secret and another
// one for the checksum of its Secret gets one for both: an upgrade would find it by
// lookup. Renders with the same Recall come one after the other.
type Recall struct {
	results map[string][]any
}

// NewRecall recalls nothing yet.
func NewRecall() *Recall { return &Recall{results: map[string][]any{}} }

// varies says whether a function gives something else each time it is called, by
// sprig 3.3.0's use of crypto/rand, math/rand and time.Now.
func varies(name string) bool {
	switch name {
	case "randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
		"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
		"bcrypt", "htpasswd", "encryptAES", "getHostByName",
		"now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound":
		return true
	}
	return false
}

// recalled is the result of a call, which an earlier render may have had.
func (s *state) recalled(f *function, args []any) (any, error) {
	key := s.callKey(f.name, args)
	known, at := s.options.Recall.results[key], s.asked[key]
	s.asked[key]++
	if at < len(known) {
		return known[at], nil
	}
	result, err := safely(f, args)
	if err == nil {
		s.options.Recall.results[key] = append(known, result)
	}
	return result, err
}

// callKey tells calls apart: by the file whose body led here, and the arguments.
func (s *state) callKey(name string, args []any) string {
	from := s.tmpl
	for i := len(s.calls) - 1; i >= 0 && from.name != from.file; i-- {
		from = s.calls[i].from
	}
	var b strings.Builder
	b.WriteString(belowChart(from.name) + "\x00" + name)
	for _, arg := range args {
		fmt.Fprintf(&b, "\x00%v", arg)
	}
	return b.String()
}

// belowChart is a file's path in its chart, whose name a copy need not have.
func belowChart(name string) string {
	if _, path, ok := strings.Cut(name, "/"); ok {
		return path
	}
	return name
}
