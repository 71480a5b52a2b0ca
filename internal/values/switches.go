package values

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// switches returns the values that enable or disable c's dependencies, as a table.
func switches(c *chart.Chart) map[string]any {
	out := map[string]any{}
	if tags := tags(c); len(tags) > 0 {
		out["tags"] = tags
	}
	for _, dep := range c.Metadata.Dependencies {
		for _, condition := range strings.Split(strings.TrimSpace(dep.Condition), ",") {
			if condition != "" {
				declare(out, condition)
			}
		}
	}
	return out
}

// switching returns the part of a release's values on which it depends what is enabled below c, whose own
// values are at a dotted path: these, tags, and what Coalesce takes for the globals and for the values of
// subcharts. Values of the whole release for each chart would be very many in an umbrella chart.
func switching(vals map[string]any, c *chart.Chart, path string) map[string]any {
	out := map[string]any{}
	for _, key := range append(namesBelow(c), "tags", globalKey) {
		if v, ok := vals[key]; ok {
			out[key] = v
		}
	}
	keys := strings.Split(path, ".")
	for into := out; ; keys = keys[1:] {
		v, ok := vals[keys[0]]
		if _, whole := into[keys[0]]; whole || !ok {
			return out
		}
		table, isMap := v.(map[string]any)
		if len(keys) == 1 || !isMap {
			into[keys[0]] = v
			return out
		}
		below := map[string]any{}
		into[keys[0]] = below
		vals, into = table, below
	}
}

// namesBelow returns the names and aliases of all subcharts below c.
func namesBelow(c *chart.Chart) []string {
	var out []string
	for _, d := range c.Metadata.Dependencies {
		out = append(out, d.EffectiveName())
	}
	for _, sub := range c.Dependencies() {
		out = append(append(out, sub.Name()), namesBelow(sub)...)
	}
	return out
}

// entries counts a value and all that is in it.
func entries(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += entries(e)
		}
	case []any:
		for _, e := range v {
			n += entries(e)
		}
	}
	return n
}

// declare sets the key at a path to null, in tables that it makes where there are none.
func declare(table map[string]any, path string) {
	for {
		key, rest, more := strings.Cut(path, ".")
		if !more {
			table[key] = nil
			return
		}
		below, ok := table[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			table[key] = below
		}
		table, path = below, rest
	}
}

// tags returns the tags of c and of all subcharts below it: they are looked up at the root.
func tags(c *chart.Chart) map[string]any {
	out := map[string]any{}
	var add func(c *chart.Chart)
	add = func(c *chart.Chart) {
		for _, dep := range c.Metadata.Dependencies {
			for _, tag := range dep.Tags {
				out[tag] = nil
			}
		}
		for _, sub := range c.Dependencies() {
			add(sub)
		}
	}
	add(c)
	return out
}

// dependencyNames returns the names of c's subcharts, enabled or not, and the aliases among them,
// keyed by the name of the chart.
func dependencyNames(c *chart.Chart) (names []string, aliases map[string]string) {
	aliases = map[string]string{}
	for _, dep := range c.Metadata.Dependencies {
		names = append(names, dep.EffectiveName())
		if dep.Alias != "" && dep.Alias != dep.Name {
			aliases[dep.Name] = dep.Alias
		}
	}
	fit, err := fitOf(c)
	if err != nil {
		return names, aliases // rendering the chart fails with it
	}
	for _, sub := range fit.undeclared() {
		names = append(names, sub.Name())
	}
	return names, aliases
}

// subchart returns the loaded subchart of c with a name or alias; nil if there is none.
func subchart(c *chart.Chart, name string) *chart.Chart {
	for _, dep := range c.Metadata.Dependencies {
		if dep.EffectiveName() == name {
			name = dep.Name
			break
		}
	}
	return named(c, name)
}

// named returns the subchart of c with a name, whatever its alias; nil if there is none.
func named(c *chart.Chart, name string) *chart.Chart {
	for _, sub := range c.Dependencies() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}
