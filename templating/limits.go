package templating

// What one render may use. Helm has only the first; the others are far above
// what charts need and low enough that a hostile chart ends within about two
// seconds and 256 MiB.
const (
	// maxIncludes is how often one name may be included within itself
	// (Helm 4.3.1 counts to 1,000).
	maxIncludes = 1000
	// maxDepth is how deeply include, tpl and template calls may nest in all.
	maxDepth = 2000
	// maxSteps counts nodes executed, function calls, and expensive functions
	// by weight (weights.go). TestChartsHaveRoom says what charts take.
	maxSteps = 5_000_000
	// maxKeySeconds is what making keys may take of a processor, on average and
	// beside all steps: twelve RSA keys of 4,096 bits, or 100 of 2,048 bits. There
	// are charts that make three of 4,096 bits, and some that make ten others.
	maxKeySeconds = 10
	// maxBytes is all text that one render may make: output and the results of
	// functions together. Those charts make 6 MiB at most.
	maxBytes = 32 << 20
	// maxItems is the length of a list that a function may make.
	maxItems = 1 << 18
	// maxValueDepth is how deeply values may nest when they are printed,
	// encoded, copied or merged; a value that contains itself is deeper.
	maxValueDepth = 1000
	// maxValueNodes is how many maps, lists and scalars such a value may have.
	maxValueNodes = 150_000
	// maxActions is how many actions one template text may have. It bounds the
	// nesting that the parser sees.
	maxActions = 50_000
	// maxWords is how many words the actions of all templates together may
	// have, as wordsOf counts: parsing takes some 150 bytes for each. The
	// largest chart of the conformance suite has 150,000.
	maxWords = 600_000
	// maxDecode is the size of a text that a template may decode.
	maxDecode = 4 << 20
	// maxPattern is the size of a regular expression.
	maxPattern = 32 << 10
	// maxMessage is how much of what fail and required say is kept.
	maxMessage = 64 << 10
)

// Steps beside those of a call's nodes.
const (
	// callSteps is for an include, a template or a tpl.
	callSteps = 10
	// randomSteps is for one random character.
	randomSteps = 5
)
