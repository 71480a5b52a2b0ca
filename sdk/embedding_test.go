package sdk

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// What a program forgets to set is an error, not a panic.
func TestNothingGiven(t *testing.T) {
	client, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	fine(t, err)
	release := Release{Namespace: "shop", Name: "web"}
	plan := func(o Operation) error { _, err := client.Plan(t.Context(), o); return err }
	apply := func(p *Plan) error { _, err := client.Apply(t.Context(), p); return err }
	_, noConfig := New(nil, Options{})
	_, noChart := Template(t.Context(), release, &Chart{}, nil, TemplateOptions{})
	for _, c := range []struct {
		err  error
		want string
	}{
		{noConfig, "a configuration is required"},
		{plan(nil), "an operation is required"},
		{plan(Install{Release: release}), "plan shop/web: a chart is required"},
		{plan(Upgrade{Release: release, Chart: &Chart{}}), "plan shop/web: a chart is required"},
		{noChart, "a chart is required"},
		{apply(nil), "a plan is required"},
		{apply(&Plan{}), "a plan is required"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

// Warn is called once at a time, whoever warns.
func TestWarningsOneByOne(t *testing.T) {
	var told, overlaps atomic.Int32
	client, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{Warn: func(string) {
		if told.Add(1) > 1 {
			overlaps.Add(1)
		}
		time.Sleep(time.Millisecond)
		told.Add(-1)
	}})
	fine(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { client.warn("x") })
	}
	all.Wait()
	if overlaps.Load() > 0 {
		t.Errorf("%d warnings were told at once", overlaps.Load())
	}
}
