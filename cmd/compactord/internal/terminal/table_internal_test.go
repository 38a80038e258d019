package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrappedTables(t *testing.T) {
	require.Equal(t, []string{"one two", "three"}, wrapped("one two three", 8))
	require.Equal(t, []string{"enormously", "a"}, wrapped("enormously a", 4), "a long word has a line of its own")
	require.Equal(t, []string{"a  b"}, wrapped("a  b", 0))
	var out strings.Builder
	table := NewTextTable(&out, Column{"A", 0}, Column{"B", 7}, Column{"C", 0})
	table.Row("é", "one two\nthree", "x")
	table.Row("bb", "", "")
	table.Flush()
	require.Equal(t, "A   B        C\né   one two  x\n    three\nbb\n", out.String())
}
