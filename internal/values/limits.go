package values

// Limits on input that somebody else wrote. The first two are Helm 4.3.1's (pkg/strvals/parser.go);
// the others have no counterpart there and are far above what charts need.
const (
	// maxSetIndex is the highest list index of --set.
	maxSetIndex = 65536
	// maxSetNesting is how many dots a key of --set may have.
	maxSetNesting = 30
	// maxSetSlots is how many list slots all --set arguments of one merge may
	// create together, so that many high indices can't add up (64 MiB).
	maxSetSlots = 4 << 20
	// maxYAMLBytes is the size of one YAML file (values or chart metadata).
	maxYAMLBytes = 4 << 20
	// MaxYAMLEntries is how many entries one YAML file may have, as manifest.Entries
	// counts. 207 KB of kube-prometheus-stack's values have some 4000.
	MaxYAMLEntries = 300_000
	// maxYAMLDocuments is how many documents a values file may have.
	maxYAMLDocuments = 1000
	// maxYAMLDepth is how deeply maps and lists may nest. encoding/json, which
	// reads release records back, gives up at 10000.
	maxYAMLDepth = 1000
	// maxExpandedBytes is the size of a document once its aliases are written out.
	maxExpandedBytes = 32 << 20
	// maxSchemaSteps is how often a part of a schema may be held against a part
	// of the values, entries of tables counted, too.
	maxSchemaSteps = 150_000
	// maxSchemaPairs is how many pairs of items the lists of a schema may have:
	// its own rules compare each with each.
	maxSchemaPairs = 16_000_000
	// maxEnumerated is how many enumerated values a schema may have, times the
	// parts of the values.
	maxEnumerated = 4_000_000
	// maxHanded is how many global values all subcharts may be handed.
	maxHanded = 500_000
	// maxImportSteps is how many entries all import-values of a chart tree may
	// go over; tables can import each other and double each time.
	maxImportSteps = 4 << 20
)
