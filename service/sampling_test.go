package service_test

import "testing"

// inFull leaves a test out of a short run, which is one for the race detector: it has one client that waits for each answer
// and takes long, and shorter tests make the same calls.
func inFull(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one client for long: not in a short run")
	}
}

// sampling is which part of the recordings a short run takes: one of so many.
const sampling = 30

// sampled says whether a test takes the recording of this number.
func sampled(i int) bool { return !testing.Short() || i%sampling == 0 }
