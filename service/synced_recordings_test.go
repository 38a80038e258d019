package service_test

import (
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxSyncedMessages is how many messages of a recording are synced: a list that is compared as a whole is read anew.
const maxSyncedMessages = 120

// Lists of recorded conversations grow, are cut, and are replaced by views, in each dialect. The log always holds just the
// list.
func TestSyncsOfRecordings(t *testing.T) {
	t.Parallel()
	for i, path := range corpusFiles(t) {
		if !sampled(i) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			messages := readTranscript(t, path)
			seed := fnv.New64a()
			_, _ = seed.Write([]byte(filepath.Base(path)))
			random := rand.New(rand.NewPCG(seed.Sum64(), 1))
			d := start(t)
			d.create("recorded", nil)
			d.append("recorded", messages[:min(len(messages), maxSyncedMessages)]...)
			d.append("recorded", user("Go on."))
			for _, kind := range listDialects[1:] {
				id := kind.String()
				d.create(id, nil)
				c := &syncing{t: t, d: d, id: id, kind: kind}
				view, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
					Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "recorded"},
					Dialect: kind, MaxBytes: 64 << 20,
				})
				require.NoError(t, err)
				syncRecording(t, c, c.stored(view), view.GetSystemJson(), random)
			}
		})
	}
}

func syncRecording(t *testing.T, c *syncing, list []listElement, system []string, random *rand.Rand) {
	t.Helper()
	// A list without leading messages leaves those of the session.
	lead := leadingElements(c, list)
	for end := lead; end < len(list); {
		end = min(len(list), end+1+random.IntN(12))
		if random.IntN(5) == 0 {
			end = lead + random.IntN(end+1-lead)
			c.known = min(c.known, end)
		}
		if random.IntN(4) == 0 {
			c.known, c.point = end*random.IntN(2), nil
		}
		before := c.known
		c.sync(list[:end], system...)
		if before > 0 && c.calls == 1 {
			require.Equal(t, end-before, c.sent)
		}
		require.Equal(t, spokenWith(c, list[:end], system), spoken(c.d.active(c.id)))
	}
	compacted, err := c.d.compact(compactRequest(c.id, small(2000)))
	require.NoError(t, err)
	require.NotEmpty(t, compacted)
	whole := c.sync(list, system...)
	require.Zero(t, whole.GetAppendedMessages())
	require.Nil(t, whole.GetRevert())
	stored := c.stored(whole.view)
	c.known = 0
	handed := c.sync(stored, whole.view.GetSystemJson()...)
	require.Zero(t, handed.GetAppendedMessages())
	require.Nil(t, handed.GetRevert())
	require.False(t, handed.GetInstructionsReplaced())
}

// leadingElements returns how many elements at the start of a list are leading messages.
func leadingElements(c *syncing, list []listElement) int {
	lead := 0
	for _, said := range spokenIn(c.d, c.kind, list) {
		if !strings.HasPrefix(said, "SYSTEM") && !strings.HasPrefix(said, "DEVELOPER") {
			break
		}
		lead++
	}
	return lead
}

// spokenWith returns what a list says, and before that what the session's leading messages say where the system prompt
// stands apart.
func spokenWith(c *syncing, list []listElement, system []string) []string {
	var said []string
	if len(system) > 0 {
		for _, m := range c.d.active(c.id) {
			if m.GetRole() != compactordv1.Role_ROLE_SYSTEM && m.GetRole() != compactordv1.Role_ROLE_DEVELOPER {
				break
			}
			said = append(said, spoken([]*compactordv1.Message{m})...)
		}
	}
	return append(said, spokenIn(c.d, c.kind, list)...)
}
