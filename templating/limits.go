package templating

// What the templates of one render may have, beside what package budget counts.
// Helm has only the first.
const (
	// maxIncludes is how often one name may be included within itself
	// (Helm 4.3.1, pkg/engine/engine.go, recursionMaxNums).
	maxIncludes = 1000
	// maxDepth is how deeply include, tpl and template calls may nest in all.
	maxDepth = 2000
	// maxActions is how many actions one template text may have. It bounds the
	// nesting that the parser sees.
	maxActions = 50_000
	// maxWords is how many words the actions of all templates together may
	// have, as wordsOf counts: parsing takes some 150 bytes for each. The
	// largest chart of the conformance suite has 150,000.
	maxWords = 600_000
	// maxMessage is how much of what fail and required say is kept.
	maxMessage = 64 << 10
)

// callSteps is what an include, a template or a tpl takes beside its own nodes.
const callSteps = 10
