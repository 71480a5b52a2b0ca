package values

// Limits on untrusted input. The first two are Helm 4.3.1's (pkg/strvals/parser.go); Helm does not
// have the others, which are far above what charts need.
const (
	// maxSetIndex is the highest index of a list in --set.
	maxSetIndex = 65536
	// maxSetNesting limits the dots in a key of --set.
	maxSetNesting = 30
	// maxSetSlots limits the entries that all --set arguments of one merge add to lists, so that
	// many high indices can't add up (64 MiB).
	maxSetSlots = 4 << 20
	// maxYAMLBytes limits the size of one YAML file (values or chart metadata).
	maxYAMLBytes = 4 << 20
	// MaxYAMLEntries limits the entries of one YAML file, as manifest.Entries counts them. The 207
	// KB of kube-prometheus-stack's values have some 4000.
	MaxYAMLEntries = 300_000
	// maxYAMLDocuments limits the documents in a values file.
	maxYAMLDocuments = 1000
	// maxYAMLDepth limits how deep maps and lists nest. encoding/json, which decodes release
	// records, gives up at 10000.
	maxYAMLDepth = 1000
	// maxExpandedBytes limits the size of a document with its aliases expanded.
	maxExpandedBytes = 32 << 20
	// maxSchemaSteps limits how often a part of a schema is checked against a part of the values,
	// with entries of tables counted as well.
	maxSchemaSteps = 150_000
	// maxSchemaPairs limits the pairs of items in a schema's lists: the metaschema compares each
	// with each.
	maxSchemaPairs = 16_000_000
	// maxEnumerated limits the enumerated values in a schema, multiplied by the parts of the
	// values.
	maxEnumerated = 4_000_000
	// maxHanded limits the global values that are passed to all subcharts.
	maxHanded = 500_000
	// maxComparedVersions limits the versions of subcharts that a chart's dependencies of the same name are
	// compared with; a long range counts more.
	maxComparedVersions = 200_000
	// maxImportSteps limits the entries that all import-values of a chart tree visit; tables can
	// import each other and double each time.
	maxImportSteps = 4 << 20
	// maxSwitched limits the values in which conditions and tags of dependencies are looked up: for each
	// chart that has dependencies its own, the tags, the globals, and what else has a subchart's name.
	maxSwitched = 2 << 20
)
