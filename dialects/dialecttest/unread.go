package dialecttest

import (
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
)

// Unreadable parses input of which something cannot be read. It returns what is wrong, be it that the input is refused or
// that it is taken without, and whether it is taken. What is taken is written as it was, and can go into a request.
func Unreadable(t tHelper, d dialect.Dialect, raw []byte) (wrong *dialect.InputError, taken bool) {
	t.Helper()
	parsed, err := d.Parse(raw)
	if err != nil {
		require.ErrorAs(t, err, &wrong)
		return wrong, false
	}
	requireVerdict(t, d, raw)
	for _, f := range parsed.Findings {
		if f.Cause != nil {
			return f.Cause, true
		}
	}
	require.Fail(t, "all of the input could be read")
	return nil, true
}
