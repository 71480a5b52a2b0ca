// Package sdk plans and applies Helm releases from Go programs: controllers, bots,
// test suites, command lines of your own.
//
// Every operation is planned first. A [Plan] lists each create, patch, delete, hook
// and wait, with what changes in every field; [Client.Apply] then does exactly that,
// waits, and in atomic mode rolls back on failure. Releases are stored in Helm's own
// format: Helm 3 and 4 can read and continue them, and vice versa.
//
//	client, err := sdk.New(config, sdk.Options{})
//	chart, err := sdk.LoadChart("./chart")
//	plan, err := client.Plan(ctx, sdk.Upgrade{
//		Release: sdk.Release{Namespace: "shop", Name: "web"},
//		Chart:   chart,
//		Values:  map[string]any{"replicas": 3},
//		Install: true,
//		Atomic:  true,
//	})
//	for _, step := range plan.Steps() {
//		fmt.Println(step.Op, step.Object, step.Changes)
//	}
//	result, err := client.Apply(ctx, plan)
//
// Which function to use:
//
//   - [Client.Plan] with an [Install], [Upgrade], [Rollback], [Uninstall] or [Test]
//     plans against a cluster and writes nothing to it.
//   - [Client.Apply] applies a plan, provided that it still holds: for one that other
//     changes have overtaken, it returns a [StaleError] and writes nothing.
//   - [LoadChart] reads a folder or an archive; [Sources.LoadChart] also fetches charts
//     from repositories and registries.
//   - [Plan.Encode] and [Decode] keep a plan for an approval. The bytes hold the
//     release's secrets.
//   - [Template] renders a chart without a cluster.
//   - [Client.History] and [Client.Get] read the stored revisions of a release.
//
// What the command line has and this package has not: lists of releases, sets of releases, policy
// files, post-renderers, the flags --force, --server-side and --replace, and merging --set with values
// files: values are one table here.
//
// The package prints nothing, keeps no globals, and reads no environment variables but those of
// proxies, such as HTTPS_PROXY, and, with the driver "sql", of PostgreSQL, such as PGPASSWORD. A
// Client is safe for concurrent use. Errors are those documented at each function, wrapped: use
// [errors.As] and [errors.Is]. The text of an error in rendering may quote what the chart's
// templates see, values and Secrets: don't print it where those are secret. Nor are the texts of an
// [Event] and the [Result]'s notes masked.
package sdk
