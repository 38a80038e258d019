package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// Lines of results that said nothing of the file in them took the room of others.
func TestLinesThatOnlyNameAFileAreNotQuoted(t *testing.T) {
	t.Parallel()
	for line, alone := range map[string]bool{
		"/quays/plan/tides.go-12- if err != nil {":            true,
		"/quays/plan/tides.go-12-\treturn nil":                true,
		"Here is what the file has on /quays/plan/tides.go:":  true,
		"/quays/plan/tides.go-12- if tideHeight > 0 {":        false,
		"/quays/plan/tides.go:12: if err != nil {":            false,
		"Here is what limitRows has on /quays/plan/tides.go:": false,
		"The tests need the file /quays/plan/tides.go":        false,
	} {
		c := evidence.New(9)
		c.Add(piece(1, evidence.Result, line))
		picks := c.Rank("", "", 1000)
		require.Equal(t, alone, picks[0].Alone && picks[0].Text == "/quays/plan/tides.go" && len(picks) == 1, line)
	}
	c := evidence.New(9)
	c.Add(piece(1, evidence.Arguments, "Here is what the file has on /quays/plan/tides.go:"))
	require.Contains(t, texts(c.Rank("", "", 1000)), "Here is what the file has on /quays/plan/tides.go:", "what the agent wrote")
}

// What the agent says before it does something says less than what it found out, of equal lines even if it is newer.
func TestAnnouncementsComeLater(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Agent, "The tide is read by tideHeight alone."))
	c.Add(piece(1, evidence.Agent, "Now I read the mooringLine of a quay:"))
	var lines []string
	for _, pick := range c.Rank("", "", 1000) {
		if !pick.Alone {
			lines = append(lines, pick.Text)
		}
	}
	require.Equal(t, []string{"The tide is read by tideHeight alone.", "Now I read the mooringLine of a quay:"}, lines)
}
