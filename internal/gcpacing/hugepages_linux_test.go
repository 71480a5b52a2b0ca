package gcpacing

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestHeapHasHugePages: after Start, the kernel has been asked for huge pages ("hg") for hugeHeap bytes, of which next
// to none are in memory. A kernel without huge pages refuses, and Start goes on.
func TestHeapHasHugePages(t *testing.T) {
	const asked = "HUGE_PAGES"
	if os.Getenv(asked) != "" {
		Start()
		out, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s", out)
		return
	}
	_, none := os.Stat("/sys/kernel/mm/transparent_hugepage") // a kernel without huge pages
	command := exec.Command(os.Args[0], "-test.run", "^TestHeapHasHugePages$", "-test.v")
	command.Env = append(os.Environ(), asked+"=1", "GOGC=", "GOMEMLIMIT=")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	area := regexp.MustCompile(fmt.Sprintf(`\n *Size: +%d kB\n(?:.*\n){2} *Rss: +\d{1,4} kB\n(?: *[^ V].*\n)* *VmFlags:.* hg`, hugeHeap>>10))
	if may := area.Match(out); may != (none == nil) {
		t.Errorf("an area of %d kB may be huge pages: %v; what the kernel has: %v", hugeHeap>>10, may, none)
	}
}
