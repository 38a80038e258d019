package service_test

import "testing"

// inFull skips a test in short runs, which are for the race detector. The test has one client that waits for each
// response, takes long, and makes the same calls as shorter tests.
func inFull(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one client for long: not in a short run")
	}
}

// A short run uses one of this many recordings.
const sampling = 30

// sampled says whether a test uses the recording with this number.
func sampled(i int) bool { return !testing.Short() || i%sampling == 0 }
