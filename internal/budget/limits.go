package budget

// Limits of one render. Helm has none of them; they are far above what charts
// need and low enough that a hostile chart ends within about eight seconds and
// 256 MiB.
const (
	// MaxSteps limits executed nodes, function calls, and expensive functions
	// by weight (weights.go). TestChartsHaveRoom shows what charts take.
	MaxSteps = 30_000_000
	// MaxKeySeconds is the processor time that making keys and hashing passwords may take, on
	// average and in addition to all steps: twelve RSA keys of 4,096 bits, or 100 of 2,048
	// bits, or 166 entries of htpasswd. Some charts make three of 4,096 bits, some make ten
	// others, and one makes an entry for each tenant.
	MaxKeySeconds = 10
	// MaxBytes is all text that one render may make: output and the results of
	// functions together, except what only a variable has held that is assigned
	// anew. The charts of that test make 6 MiB at most.
	MaxBytes = 32 << 20
	// MaxTableBytes is the memory of all lists and maps that deepCopy and decoders make, whether they are
	// in use for long or not.
	MaxTableBytes = 96 << 20
	// maxItems is the maximum length of a list that a function may make.
	maxItems = 1 << 18
	// MaxValueDepth is how deeply values may nest when they are printed,
	// encoded, copied or merged; a value that contains itself exceeds it.
	MaxValueDepth = 1000
	// MaxValueNodes is how many maps, lists and scalars such a value may have.
	MaxValueNodes = 150_000
	// maxDecode is the maximum size of a text that a template may decode.
	maxDecode = 4 << 20
	// maxPattern is the maximum size of a regular expression.
	maxPattern = 32 << 10
	// randomSteps is the cost of one random character in steps.
	randomSteps = 5
	// copiedBytes is how many bytes of text are copied in one step: half of the time is
	// charged as that of reading the text, by weight.Bytes, and half as that of writing it.
	// readBytes is how many are looked at one by one.
	copiedBytes, readBytes = 256, 32
	// mergeSteps is the cost of merging one key of a table, otherSteps of merging a
	// value of another type, or a part of it.
	mergeSteps, otherSteps = 4, 10
)

// text and number read arguments of calls, whose types have been checked.
func text(v any) string { t, _ := v.(string); return t }
func number(v any) int  { n, _ := v.(int); return n }
