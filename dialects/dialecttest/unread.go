package dialecttest

import (
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
)

// Unreadable parses input that has unreadable content. It returns what is wrong, and whether the input was accepted
// without that content. Accepted input must be exported unchanged, and make a valid request.
func Unreadable(t tHelper, d dialect.Dialect, raw []byte) (wrong *dialect.InputError, accepted bool) {
	t.Helper()
	parsed, err := d.Parse(raw)
	if err != nil {
		require.ErrorAs(t, err, &wrong)
		return wrong, false
	}
	requireHandled(t, d, raw)
	for _, f := range parsed.Findings {
		if f.Cause != nil {
			return f.Cause, true
		}
	}
	require.Fail(t, "all of the input could be read")
	return nil, true
}
