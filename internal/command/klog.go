package command

import (
	"flag"
	"io"
	"strconv"

	"k8s.io/klog/v2"
)

// silenceClient keeps client-go's own log quiet unless -v asks for it.
func silenceClient(verbosity int, w io.Writer) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	_ = flags.Set("v", strconv.Itoa(verbosity))
	if verbosity == 0 {
		w = io.Discard
	}
	klog.SetOutput(w)
}
