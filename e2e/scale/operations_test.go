//go:build cluster

package scale

import (
	"strconv"
	"strings"
)

// operation is an operation on a release, as we and Helm 4 do it; the floor sends its requests, too.
type operation struct {
	name       string
	ours, helm string // CHART stands for the chart and OBJECTS for the number of objects
}

// operations are listed in the order in which a release goes through them.
var operations = []operation{
	{"template", "template lots CHART --set objects=OBJECTS", "template lots CHART --set objects=OBJECTS"},
	{"install", "install lots CHART --set objects=OBJECTS", "install lots CHART --set objects=OBJECTS"},
	{"change all", "upgrade lots CHART --set objects=OBJECTS,mark=x", "upgrade lots CHART --set objects=OBJECTS,mark=x"},
	{"plan, nothing to do", "plan lots CHART --set objects=OBJECTS,mark=x", ""},
	{"upgrade, nothing to do", "upgrade lots CHART --set objects=OBJECTS,mark=x", "upgrade lots CHART --set objects=OBJECTS,mark=x"},
	{"uninstall", "uninstall lots", "uninstall lots"},
}

// arguments returns the arguments of one of the operation's command lines.
func (operation) arguments(line, chart, namespace string, objects int) []string {
	filled := strings.NewReplacer("CHART", chart, "OBJECTS", strconv.Itoa(objects)).Replace(line)
	return append(strings.Fields(filled), "--namespace", namespace)
}
