package summarizers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

func TestCitations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []uint32
	}{
		{"none", "## Goal\n(none)", nil},
		{"one", "- Fix it [#12]", []uint32{12}},
		{"several, ascending and once", "- a [#12, #3]\n- b [#3,#7]\n", []uint32{3, 7, 12}},
		{"the ends of a run", "- [#12 to #15] names: a", []uint32{12, 15}},
		{"escaped", `- they wrote [\#9] there [#1]`, []uint32{1}},
		{"the largest index", "[#4294967295]", []uint32{4294967295}},
		{"more than an index can be", "[#4294967296]", nil},
		{"not closed", "[#12", nil},
		{"no number", "[#] [#x] [#1; #2]", nil},
		{"one within another that is broken", "[#1, [#2]", []uint32{2}},
		{"text in brackets", "[see #12]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, summarizers.Citations(c.text))
		})
	}
}
