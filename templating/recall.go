package templating

import (
	"fmt"
	"strings"
)

// Recall lets renders that are compared share random values: a function whose result differs from
// call to call (rand*, uuidv4, genCA and the like, bcrypt, htpasswd, now …) returns the same in a
// later render as in an earlier one. Calls correspond if they come from the same file with the same
// arguments and have the same position among such calls; the helpers in between don't count, since
// they change more between two versions of a chart. If a chart generates a password for its Secret
// and another one for the checksum of that Secret, both get the same: in an upgrade it would be read
// by lookup. Renders with the same Recall must not overlap.
type Recall struct {
	results map[string][]any
}

// NewRecall returns an empty Recall.
func NewRecall() *Recall { return &Recall{results: map[string][]any{}} }

// varies reports whether a function's result differs from call to call, going by sprig 3.3.0's use of
// crypto/rand, math/rand and time.Now.
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

// recalled returns the result of a call: an earlier render's if it made the same call.
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

// callKey identifies calls that correspond, by the file, the function and the arguments.
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

// belowChart returns a file's path without the chart's name, which may differ between charts.
func belowChart(name string) string {
	if _, path, ok := strings.Cut(name, "/"); ok {
		return path
	}
	return name
}
