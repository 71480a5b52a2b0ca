package gcpacing

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"unsafe"
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
	probe, err := syscall.Mmap(-1, 0, 4<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	none := syscall.Madvise(probe, syscall.MADV_HUGEPAGE) // an error from a kernel without huge pages
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

// The kernel refuses an area that does not begin with a page.
func TestAligned(t *testing.T) {
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		area := aligned(make([]byte, 1<<20+page+1)[1:], page)
		if begins := uintptr(unsafe.Pointer(&area[0])); begins%uintptr(page) != 0 || len(area) != 1<<20 {
			t.Errorf("with pages of %d bytes: %d bytes at %#x", page, len(area), begins)
		}
	}
}
