package apierror

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsOfRules(t *testing.T) {
	for theirs, ours := range map[string]string{
		"must be greater than or equal to 1 and less than or equal to 100000000": "must be from 1 to 100,000,000",
		"must be greater than or equal to 0.1s and less than or equal to 3600s":  "must be from 100ms to 1h0m0s",
		"must be greater than 0 and less than or equal to 0.95":                  "must be above 0, up to 0.95",
		"must be greater than or equal to 64":                                    "must be at least 64",
		"must be less than or equal to 1000":                                     "must be at most 1,000",
		"must be at least 1 bytes":                                               "must not be empty",
		"must be at least 12 bytes":                                              "must have at least 12 bytes",
		"must contain at least 1 item(s)":                                        "must not be empty",
		"must contain no more than 10000 item(s)":                                "must have at most 10,000 entries",
		"something new": "something new",
	} {
		require.Equal(t, ours, inOurWords(theirs))
	}
	require.Equal(t, "must have at most 100,000 entries", TooManyEntries(100_000))
}
