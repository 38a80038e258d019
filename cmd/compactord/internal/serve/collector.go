package serve

import "os"

// spareHeapBytes is how much larger the heap seems to the garbage collector than it is.
const spareHeapBytes = 48 << 20

// spareHeap returns memory that counts for the garbage collector but is never touched, so that it takes none of the
// machine's. The collector begins when the heap has doubled. The daemon keeps little between calls, while compactions
// allocate much: with 128 of them at once, it collected 16 times a second, and took both cores of two from appends for
// that. With the spare heap it begins once 96 MiB are allocated, or later. The memory limit of the Go runtime counts
// the spare heap too, so that it returns none where an operator has set how to collect.
func spareHeap() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, spareHeapBytes)
}
