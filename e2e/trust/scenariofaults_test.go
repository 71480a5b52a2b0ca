//go:build cluster

package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
)

// faultCommands returns the commands with which scripts cause faults:
//
//	fault [since=CALL] CALL NTH HOW
//
// spoils what goes through the kubeconfig $FAULTY (--kubeconfig $FAULTY, or env
// KUBECONFIG=$FAULTY), in addition to existing faults.
// CALL is a regular expression for "METHOD /path", where the path of a POST also ends
// with the object's name; or the word write, for each call that changes
// something and is not about a lock. Dry runs match no CALL.
// NTH says which such call: only the second for 2, or all from the second on for 2-.
// With since=CALL, calls are counted from the first one that matches it, itself included.
// HOW is a status code (403, 409, 429, 500, 503, 504), reset, stall, or slow: held back for
// 300 ms and then passed on. lost-500, lost-reset and so on let the API server
// carry out the call first.
//
//	faultless
//
// ends all faults.
//
//	calls
//
// prints the calls through $FAULTY that changed something since the last faultless, one per
// line, in the order of arrival: METHOD /path.
//
// See also killCommands and crowdCommands.
func faultCommands(s *stage) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"fault": func(ts *testscript.TestScript, neg bool, args []string) {
			rule, rest, err := parseRule(args)
			if err == nil && (neg || len(rest) != 1) {
				err = errors.New("usage: fault [since=CALL] CALL NTH HOW")
			}
			ts.Check(err)
			rule.fault, err = parseFault(rest[0])
			ts.Check(err)
			s.faults.add(rule)
		},
		"faultless": func(*testscript.TestScript, bool, []string) { s.faults.clear() },
		"calls": func(ts *testscript.TestScript, _ bool, _ []string) {
			fmt.Fprintln(ts.Stdout(), strings.Join(s.faults.seen(), "\n"))
		},
	}
}

// faults are the rules of one script's proxy.
type faults struct {
	lock  sync.Mutex
	rules []*rule
	calls []string // only those that change something
}

// rule spoils some calls.
type rule struct {
	since, call *call
	nth         int
	onwards     bool
	fault       fault

	begun bool
	seen  int
}

func (f *faults) add(r *rule) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.rules = append(f.rules, r)
}

// first adds a rule before the others.
func (f *faults) first(r *rule) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.rules = slices.Insert(f.rules, 0, r)
}

func (f *faults) clear() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.rules, f.calls = nil, nil
}

func (f *faults) seen() []string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return slices.Clone(f.calls)
}

// judge is the function for newProxy. Every rule counts every call; the first rule that applies spoils it.
func (f *faults) judge(r *http.Request) *fault {
	if r.URL.Query().Has("dryRun") || asks(r) {
		return nil
	}
	name := called(r)
	f.lock.Lock()
	defer f.lock.Unlock()
	if writes(r) {
		f.calls = append(f.calls, name)
	}
	var found *fault
	for _, rule := range f.rules {
		if rule.spoils(r, name) && found == nil {
			copied := rule.fault
			found = &copied
		}
	}
	return found
}

func (r *rule) spoils(request *http.Request, name string) bool {
	if r.since != nil && !r.begun {
		r.begun = r.since.matches(request, name)
	}
	if r.since != nil && !r.begun || !r.call.matches(request, name) {
		return false
	}
	r.seen++
	return r.seen == r.nth || r.onwards && r.seen > r.nth
}

// call selects calls; without an expression, it selects every write that is not about a lock.
type call struct{ expression *regexp.Regexp }

func (c *call) matches(r *http.Request, name string) bool {
	if c.expression == nil {
		return writes(r) && !locks(r)
	}
	return c.expression.MatchString(name)
}

// called returns "METHOD /path", including the name of an object to be created.
func called(r *http.Request) string {
	where := r.URL.Path
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err == nil {
			where = path.Join(where, named(body))
		}
	}
	return r.Method + " " + where
}

// named returns the name of an object in JSON, or of a built-in kind in protobuf, as
// Helm sends its records.
func named(body []byte) string {
	var object struct{ Metadata struct{ Name string } }
	if json.Unmarshal(body, &object) == nil {
		return object.Metadata.Name
	}
	builtin, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return ""
	}
	accessor, err := meta.Accessor(builtin)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}

// parseRule reads [since=CALL] CALL NTH and returns what follows.
func parseRule(args []string) (*rule, []string, error) {
	r := &rule{}
	if len(args) > 0 && strings.HasPrefix(args[0], "since=") {
		since, err := parseCall(strings.TrimPrefix(args[0], "since="))
		if err != nil {
			return nil, nil, err
		}
		r.since, args = since, args[1:]
	}
	if len(args) < 2 {
		return nil, nil, errors.New("a CALL and an NTH are wanted")
	}
	number, onwards := strings.CutSuffix(args[1], "-")
	nth, err := strconv.Atoi(number)
	if err != nil || nth < 1 {
		return nil, nil, fmt.Errorf("%q is no NTH: want 2 or 2-", args[1])
	}
	r.nth, r.onwards = nth, onwards
	r.call, err = parseCall(args[0])
	return r, args[2:], err
}

func parseCall(text string) (*call, error) {
	if text == "write" {
		return &call{}, nil
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("read CALL %q: %w", text, err)
	}
	return &call{expression}, nil
}

// parseFault reads a HOW.
func parseFault(text string) (fault, error) {
	how, committed := strings.CutPrefix(text, "lost-")
	f := fault{committed: committed}
	switch how {
	case "reset":
	case "stall":
		f.stall = true
	case "slow":
		f.heard, f.strike = true, func() { time.Sleep(300 * time.Millisecond) }
	default:
		code, err := strconv.Atoi(how)
		if err != nil || reasons[code] == "" {
			return fault{}, fmt.Errorf("%q is no HOW", text)
		}
		f.status = code
	}
	return f, nil
}
