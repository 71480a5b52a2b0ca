package chartload

// Limits on what a chart may hold. Helm 4.3.1 has the first
// (pkg/chart/loader/archive/archive.go, MaxDecompressedChartSize); the others are far
// above any real chart and keep a hostile one from taking time and memory.
const (
	// maxTotalBytes is the size of all files, unpacked, those of nested archives
	// included. (Helm counts each nested archive by itself.)
	maxTotalBytes = 100 << 20
	// maxEntryBytes is the size of one file.
	maxEntryBytes = 32 << 20
	// maxEntries is how many files and folders a chart may have, subcharts included.
	maxEntries = 32768
	// maxYAMLEntries is how many entries all YAML that is parsed while loading may
	// have, subcharts' included, as manifest.Entries counts.
	maxYAMLEntries = 400_000
	// maxYAMLBytes is the size of all YAML that is parsed while loading.
	maxYAMLBytes = 32 << 20
	// maxNesting is how deeply subcharts may nest.
	maxNesting = 32
	// maxIgnoreBytes is the size of a .helmignore.
	maxIgnoreBytes = 1 << 20
	// maxStreamBytes is how much of one archive is ever decompressed: the files
	// and what tar puts around them.
	maxStreamBytes = maxTotalBytes + maxEntries*1024
)
