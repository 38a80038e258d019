package extractive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// The work on many small things of one kind grows with their number, and not with its square: no list of them is searched
// for each of them. Allocations are counted, and not time.
func TestWorkGrowsWithTheNumberOfStatements(t *testing.T) {
	for name, write := range map[string]func(c *conversation, i int){
		"decisions": func(c *conversation, i int) {
			c.says(fmt.Sprintf("I decided to use boat%d rather than raft%d because it is lighter.", i, i))
		},
		"proposals": func(c *conversation, i int) {
			c.says(fmt.Sprintf("Should I move boat%d to the west quay?", i))
			c.user("yes")
		},
		"values": func(c *conversation, i int) {
			c.user(fmt.Sprintf("The ferry of boat%d now leaves at %d:%d.", i, i%24, 10+i%50))
		},
		"rules": func(c *conversation, i int) { c.user(fmt.Sprintf("Never touch boat%d.", i)) },
	} {
		work := func(n int) float64 {
			var c conversation
			c.user("Please see to the matter of the boats.")
			for i := range n {
				write(&c, i)
			}
			req := &summarizers.Request{Messages: c.log, MaxTokens: 500, Count: chars4}
			return testing.AllocsPerRun(1, func() {
				_, err := extractive.New().Summarize(t.Context(), req, &listener{})
				require.NoError(t, err)
			})
		}
		few, many := work(500), work(4000)
		require.Less(t, many, 12*few, name)
	}
}
