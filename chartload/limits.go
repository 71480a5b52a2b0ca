package chartload

// Limits on the content of a chart. Helm 4.3.1 has the first (pkg/chart/loader/archive/archive.go,
// MaxDecompressedChartSize). The others are far above what any real chart needs, and bound the time
// and memory that a malicious one costs.
const (
	// maxTotalBytes limits the size of all files, unpacked, including those of nested archives.
	// (Helm counts each nested archive on its own.)
	maxTotalBytes = 100 << 20
	// maxEntryBytes limits the size of one file.
	maxEntryBytes = 32 << 20
	// maxEntries limits the number of files and folders of a chart with its subcharts.
	maxEntries = 32768
	// maxYAMLEntries limits the entries of all YAML that is parsed while a chart and its subcharts
	// are loaded, as manifest.Entries counts them.
	maxYAMLEntries = 400_000
	// maxYAMLBytes limits the size of all YAML that is parsed while a chart is loaded.
	maxYAMLBytes = 32 << 20
	// maxNesting limits how deep subcharts nest.
	maxNesting = 32
	// maxIgnoreBytes limits the size of a .helmignore.
	maxIgnoreBytes = 1 << 20
	// maxStreamBytes limits how much of one archive is decompressed: its files and tar's headers
	// and padding.
	maxStreamBytes = maxTotalBytes + maxEntries*1024
)
