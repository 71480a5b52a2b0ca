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
	// by weight.
	maxSteps = 10_000_000
	// maxBytes is all text that one render may make: output and the results of
	// functions together.
	maxBytes = 96 << 20
	// maxItems is the length of a list that a function may make.
	maxItems = 1 << 20
	// maxValueDepth is how deeply values may nest when they are printed,
	// encoded, copied or merged; a value that contains itself is deeper.
	maxValueDepth = 1000
	// maxValueNodes is how many maps, lists and scalars such a value may have.
	maxValueNodes = 400_000
	// maxActions is how many actions one template text may have. It bounds the
	// nesting that the parser sees.
	maxActions = 50_000
)

// Steps that one call of an expensive function, or of a template, costs.
const (
	callSteps = 10
	keySteps  = 500_000
	hashSteps = 200_000
)
