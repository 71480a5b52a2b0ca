package budget

// Limits of one render. Helm knows none of these limits; they are far above
// what charts need and low enough that a hostile chart ends within about two
// seconds and 256 MiB.
const (
	// MaxSteps counts nodes executed, function calls, and expensive functions
	// by weight (weights.go). TestChartsHaveRoom says what charts take.
	MaxSteps = 5_000_000
	// MaxKeySeconds is what making keys may take of a processor, on average and
	// beside all steps: twelve RSA keys of 4,096 bits, or 100 of 2,048 bits. There
	// are charts that make three of 4,096 bits, and some that make ten others.
	MaxKeySeconds = 10
	// MaxBytes is all text that one render may make: output and the results of
	// functions together. Those charts make 6 MiB at most.
	MaxBytes = 32 << 20
	// maxItems is the length of a list that a function may make.
	maxItems = 1 << 18
	// MaxValueDepth is how deeply values may nest when they are printed,
	// encoded, copied or merged; a value that contains itself is deeper.
	MaxValueDepth = 1000
	// MaxValueNodes is how many maps, lists and scalars such a value may have.
	MaxValueNodes = 150_000
	// maxDecode is the size of a text that a template may decode.
	maxDecode = 4 << 20
	// maxPattern is the size of a regular expression.
	maxPattern = 32 << 10
	// randomSteps is what one random character takes.
	randomSteps = 5
)

// Arguments of calls; their types have been checked.
func text(v any) string { t, _ := v.(string); return t }
func number(v any) int  { n, _ := v.(int); return n }
