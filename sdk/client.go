package sdk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Options are a client's options. The zero value is usable.
type Options struct {
	// Driver says where releases are stored: "secret" (the default), "configmap", or
	// "sql", as in Helm's HELM_DRIVER.
	Driver string
	// SQLConnection is the connection string for the driver "sql".
	SQLConnection string
	// Name is how the holder of a release's lock is shown to other users; "" uses the
	// user agent of the configuration.
	Name string
	// QPS limits the requests per second, those for the lock not counted; 0 leaves that to the API
	// server's priority and fairness.
	QPS float32
	// CacheDir is where discovery is cached, as by kubectl; "" caches in memory.
	CacheDir string
	// Observe is called with what happens during Apply, from many goroutines but one call at a
	// time, even if a client applies several plans at once; [Event.Release] tells them apart. It must
	// not block for long.
	Observe func(Event)
	// Warn is called with warnings from the API server that are not among a plan's problems, each once
	// unless a thousand others come in between, for each record that History can't read, and when the source
	// of a plan's chart does not answer: one call at a time.
	Warn func(text string)
	// Sources, if not nil, are asked before a plan is applied whether its chart has changed there.
	Sources *Sources
}

// Client plans and applies against one cluster.
type Client struct {
	engine  *engine.Engine
	name    string
	sources *Sources
	observe func(Event) // nil when nobody observes
	warn    func(text string)
}

// Release is a release's namespace and name.
type Release struct {
	Namespace string
	Name      string
}

func (r Release) String() string { return r.Namespace + "/" + r.Name }

func (r Release) key() release.Key { return release.Key{Namespace: r.Namespace, Name: r.Name} }

// check refuses a release without a namespace, which would be looked for in all of them, or with a
// name that Helm does not allow.
func (r Release) check() error {
	switch {
	case r.Namespace == "":
		return fmt.Errorf("release %q: a namespace is required", r.Name)
	case !release.ValidName(r.Name):
		return fmt.Errorf("%q is not a valid release name: use lower-case letters, digits, dashes and dots, at most %d characters", r.Name, release.LongestName)
	}
	return nil
}

// New returns a client for a configuration, such as rest.InClusterConfig or clientcmd returns. It
// sends no request. Errors: the configuration or the driver is invalid.
func New(config *rest.Config, o Options) (*Client, error) {
	if config == nil {
		return nil, errors.New("a configuration is required")
	}
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	warn := o.Warn
	if warn == nil {
		warn = func(string) {}
	}
	warn = oneAtATime(warn)
	api, err := cluster.Connect(config, cluster.Options{QPS: o.QPS, CacheDir: o.CacheDir, Warn: warn})
	if err != nil {
		return nil, err
	}
	clock := releasestore.SystemClock{}
	store, err := openStore(api, o, clock)
	if err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = config.UserAgent
	}
	c := &Client{name: name, sources: o.Sources, warn: warn}
	c.engine = &engine.Engine{
		Cluster: api, Store: store, Locker: releasestore.NewLocker(api.CoordinationV1(), clock),
		Now: clock.Now, ToolVersion: config.UserAgent,
	}
	if o.Observe != nil {
		c.observe = oneAtATime(o.Observe)
	}
	return c, nil
}

// oneAtATime returns a function that calls another one, once at a time.
func oneAtATime[T any](tell func(T)) func(T) {
	var mu sync.Mutex
	return func(v T) {
		mu.Lock()
		defer mu.Unlock()
		tell(v)
	}
}

// run returns the engine for one run: with an identity of its own, so that runs of one client hold
// each other off by the release's lock.
func (c *Client) run() *engine.Engine {
	e := *c.engine
	e.Identity = releasestore.NewIdentity(c.name)
	return &e
}

func openStore(api *cluster.Client, o Options, clock releasestore.SystemClock) (*releasestore.Store, error) {
	if o.Driver == "sql" {
		return releasestore.OpenSQL(o.SQLConnection, clock)
	}
	return releasestore.Open(api.CoreV1(), o.Driver, clock)
}

// Event is something that happened while a plan was applied. Message and Reasons are not masked: they
// may quote logs and answers of the API server, in which there may be secrets.
type Event struct {
	Time time.Time
	// Release is the one that is applied.
	Release Release
	// Undoing is true from the event of type "rollback" on: the rollback of an atomic run is carried out, in
	// which IDs of steps may recur.
	Undoing bool
	// Type is "stage", "started", "progress", "done", "failed", "retried", "log",
	// "rollback", "note" or "warning", as in docs/events.md.
	Type  string
	Stage string
	// Step is the ID of a step of the plan, and Op what it does; "" for events of the
	// whole run.
	Step    string
	Op      string
	Object  Object
	Message string
	// Reasons explain the message: states of containers, warning events, and the last
	// lines of a log, each with a bar before it.
	Reasons []string
}

// observer returns who observes a plan's run, nil when nobody does.
func (c *Client) observer(p *Plan) apply.Observer {
	if c.observe == nil {
		return nil
	}
	return &observer{release: p.Release(), tell: c.observe}
}

// observer passes on the events of one run.
type observer struct {
	release Release
	undoing atomic.Bool
	tell    func(Event)
}

// Observe implements apply.Observer.
func (o *observer) Observe(e apply.Event) {
	if e.Type == apply.RollbackStarted {
		o.undoing.Store(true)
	}
	message, details := e.Text()
	o.tell(Event{
		Time: e.Time, Release: o.release, Undoing: o.undoing.Load(),
		Type: string(e.Type), Stage: e.Stage, Step: e.Step, Op: string(e.Op),
		Object: object(e.Object), Message: message, Reasons: details,
	})
}

// Result is the outcome of Apply.
type Result struct {
	// Revision is the stored revision; 0 when the plan stores none.
	Revision int
	// Status is Helm's: "deployed", "failed", "uninstalled".
	Status string
	// Notes are the chart's, as Helm prints them; secrets that the chart puts there are not masked.
	Notes string
	// Written reports whether objects were written, records not counted.
	Written bool
}

// Apply does exactly what the plan says. It takes the release's lock, plans once more from what the
// plan holds, and goes on only if the result is the same. It returns when everything is ready or
// something has failed; when ctx ends, it records the revision as failed, and rolls back if the
// plan is atomic. The result says how far it got, even with an error. The chart is in the plan and
// is not fetched again; with [Options.Sources], Apply first checks that the source still has the
// same bytes.
//
// Errors: [ErrBlocked], *[StaleError], *[LockedError], *[NotReadyError],
// *[RolledBackError], [ErrNoWayBack], and those of the API server.
func (c *Client) Apply(ctx context.Context, p *Plan) (*Result, error) {
	if p == nil || p.plan == nil {
		return &Result{}, errors.New("a plan is required")
	}
	if err := c.unmoved(ctx, p); err != nil {
		return &Result{}, err
	}
	run := c.run()
	run.Observer = c.observer(p)
	outcome, err := run.ApplyReviewed(ctx, p.plan, releasestore.LockOptions{Wait: p.lockWait})
	result := &Result{Written: outcome.Written}
	if r := outcome.Revision; r != nil {
		result.Revision, result.Status, result.Notes = r.Version, string(r.Info.Status), r.Info.Notes
	}
	return result, err
}
