package gcpacing

import (
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// hugeHeap is how much of the heap may consist of huge pages, in bytes: what rendering a large chart takes.
const hugeHeap = 40 << 20

// useHugePages asks for huge pages for the beginning of the heap, which is all that most commands use: on virtual
// machines, a page fault for each 4 KiB took a third of the processor time of rendering
// (docs/decisions/0012-speed-of-rendering.md). Most distributions leave it to the program to ask, and Go's runtime does
// not (https://go.dev/doc/gc-guide#Linux_transparent_huge_pages). The heap grows by that size and one page, untouched, and
// all of it is free again after a collection, which takes little before anything else is allocated. A kernel without
// huge pages refuses, and nothing else differs. The GC percent is off afterwards.
func useHugePages() {
	debug.SetGCPercent(-1)
	page := os.Getpagesize()
	_ = syscall.Madvise(aligned(make([]byte, hugeHeap+page), page), syscall.MADV_HUGEPAGE)
	runtime.GC()
}

// aligned returns an area without one page's size, from where a page begins: Go aligns to 8 KiB, and a page may have 64.
func aligned(area []byte, page int) []byte {
	start := -uintptr(unsafe.Pointer(&area[0])) % uintptr(page) // a power of two
	return area[start:][:len(area)-page]
}
