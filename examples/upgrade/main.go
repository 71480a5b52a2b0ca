// Command upgrade installs or upgrades a release of a chart, and shows what a program
// can do with a plan before it is applied: it refuses to delete what holds data, and
// goes back to where the release was when -undo is given.
//
//	go run ./upgrade -namespace shop -release web -chart ./chart -set greeting=hello
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/sdk"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	namespace := flag.String("namespace", "default", "namespace of the release")
	name := flag.String("release", "web", "name of the release")
	path := flag.String("chart", "", "folder or archive of the chart")
	set := flag.String("set", "", "a value, KEY=VALUE")
	undo := flag.Bool("undo", false, "roll back afterwards, or uninstall what was installed")
	flag.Parse()

	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return err
	}
	client, err := sdk.New(config, sdk.Options{Name: "the example of the SDK", Observe: tell})
	if err != nil {
		return err
	}
	chart, err := sdk.LoadChart(*path)
	if err != nil {
		return err
	}
	release := sdk.Release{Namespace: *namespace, Name: *name}
	upgrade := sdk.Upgrade{
		Release: release, Chart: chart, Values: values(*set), Install: true, Atomic: true,
		Run: sdk.Run{Timeout: time.Minute, Deny: []string{"data"}},
	}
	plan, err := client.Plan(ctx, upgrade)
	if err != nil {
		return err
	}
	if err := apply(ctx, client, plan); err != nil || !*undo {
		return err
	}
	waiting := sdk.Run{Wait: true, Timeout: time.Minute}
	var back sdk.Operation = sdk.Rollback{Release: release, Run: waiting}
	if plan.Operation() == "install" { // there is no revision to roll back to
		back = sdk.Uninstall{Release: release, Run: waiting}
	}
	if plan, err = client.Plan(ctx, back); err != nil {
		return err
	}
	return apply(ctx, client, plan)
}

// apply looks at what a plan would do, and does it.
func apply(ctx context.Context, client *sdk.Client, plan *sdk.Plan) error {
	for _, step := range plan.Steps() {
		if step.Op == "none" || step.Op == "record" || step.Op == "wait" {
			continue
		}
		fmt.Printf("%s %s\n", step.Op, step.Object)
		for _, change := range step.Changes {
			if !change.Sensitive {
				fmt.Printf("  %s: %v → %v\n", change.Path, change.From, change.To)
			}
		}
	}
	if plan.Blocked() {
		for _, problem := range plan.Problems() {
			fmt.Println("problem:", problem.What)
		}
	}
	result, err := client.Apply(ctx, plan)
	var stale *sdk.StaleError
	var back *sdk.RolledBackError
	switch {
	case errors.As(err, &stale):
		return fmt.Errorf("somebody else was faster: %w", err)
	case errors.As(err, &back) && back.Rollback != nil:
		return fmt.Errorf("it failed, and so did the rollback: look at it: %w", err)
	case errors.As(err, &back) && back.To == 0:
		return fmt.Errorf("it is uninstalled again: %w", err)
	case errors.As(err, &back):
		return fmt.Errorf("it is at revision %d again: %w", back.To, err)
	case err != nil:
		return err
	}
	fmt.Printf("revision %d is %s\n", result.Revision, result.Status)
	return nil
}

func values(set string) map[string]any {
	key, value, ok := strings.Cut(set, "=")
	if !ok {
		return nil
	}
	return map[string]any{key: value}
}

func tell(e sdk.Event) {
	if e.Type == "done" || e.Type == "failed" {
		fmt.Println(" ", e.Type, e.Op, e.Step, e.Message)
	}
}
