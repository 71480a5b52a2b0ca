package chart

// Warning is something odd about a chart or its values that stops nobody:
// Helm would go on too. Only the command line prints warnings.
type Warning struct {
	// Where is a chart's path in the tree, a file, or both: "web/charts/redis",
	// "web/values.yaml". Never empty.
	Where string
	// What is one sentence without a full stop.
	What string
}

// String is "where: what".
func (w Warning) String() string { return w.Where + ": " + w.What }
