//go:build cluster

package scale

import (
	"strconv"
	"strings"
)

// operation is one that a release goes through, as we, Helm 4 and the floor do it.
type operation struct {
	name       string
	ours, helm string // CHART stands for the chart and OBJECTS for their number
}

// operations are in the order in which one release goes through them.
var operations = []operation{
	{"template", "template lots CHART --set objects=OBJECTS", "template lots CHART --set objects=OBJECTS"},
	{"install", "install lots CHART --set objects=OBJECTS", "install lots CHART --set objects=OBJECTS"},
	{"change all", "upgrade lots CHART --set objects=OBJECTS,mark=x", "upgrade lots CHART --set objects=OBJECTS,mark=x"},
	{"plan, nothing to do", "plan lots CHART --set objects=OBJECTS,mark=x", ""},
	{"upgrade, nothing to do", "upgrade lots CHART --set objects=OBJECTS,mark=x", "upgrade lots CHART --set objects=OBJECTS,mark=x"},
	{"uninstall", "uninstall lots", "uninstall lots"},
}

// arguments are those of one of the operation's command lines.
func (operation) arguments(line, chart, namespace string, objects int) []string {
	filled := strings.NewReplacer("CHART", chart, "OBJECTS", strconv.Itoa(objects)).Replace(line)
	return append(strings.Fields(filled), "--namespace", namespace)
}
