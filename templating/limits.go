package templating

// Limits on the templates of one render, in addition to those of package budget. Helm has only the
// first.
const (
	// maxIncludes limits how often a template may include itself, directly or not (Helm 4.3.1,
	// pkg/engine/engine.go, recursionMaxNums).
	maxIncludes = 1000
	// maxDepth limits how deep include, tpl and template calls nest.
	maxDepth = 2000
	// maxActions limits the actions in one template text, and so the nesting that the parser sees.
	maxActions = 50_000
	// maxWords limits the words in the actions of all templates together, as wordsOf counts them:
	// parsing takes some 150 bytes for each. The largest chart of the conformance suite has
	// 150,000.
	maxWords = 600_000
	// maxMessage limits how many bytes of a message of fail or required are kept.
	maxMessage = 64 << 10
	// maxGlob is the maximum size of a pattern of .Files.Glob.
	maxGlob = 32 << 10
)

// callSteps is the cost of an include, template or tpl call, in addition to the nodes of the called
// template.
const callSteps = 10

// A text given to tpl takes so many steps for each word in its actions and one for so many bytes.
const wordSteps, tplBytes = 4, 64

// fileBytes is how many bytes of files AsConfig and its kin write in one step.
const fileBytes = 8

// globWork is how many positions in a path .Files.Glob looks at in one step.
const globWork = 32
