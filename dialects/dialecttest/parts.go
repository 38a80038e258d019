package dialecttest

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// inParts checks that a list rendered in parts is the whole list, and that each part passes the checks alone.
func inParts(t *rapid.T, d dialect.Dialect) {
	var messages []*compactordv1.Message
	for range 1 + dice(t, 5) {
		if chance(t, 50) {
			messages = append(messages, history(t)...)
			continue
		}
		parsed, err := d.Parse(SourceOf(t, d.Kind()).Raw)
		require.NoError(t, err)
		messages = append(messages, ViewOf(parsed.Messages)...)
	}
	RequireParts(t, d, messages, dialect.RenderOptions{
		Breakpoints: drawnBreakpoints(t, len(messages)), Adaptive: chance(t, 30),
	})
}

func drawnBreakpoints(t *rapid.T, messages int) []int {
	if chance(t, 50) {
		return nil
	}
	at := []int{}
	for range dice(t, 4) {
		at = append(at, dice(t, max(messages, 1)))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// RequireParts checks that a list with these breakpoints and this thinking, rendered in parts, is the whole list. It
// returns how many parts there were.
func RequireParts(t *rapid.T, d dialect.Dialect, messages []*compactordv1.Message, opts dialect.RenderOptions) int {
	whole, err := d.Render(messages, opts)
	require.NoError(t, err)
	var joined dialect.Rendered
	var before *dialect.Carried
	seams := new(dialect.Seams)
	start, parts := 0, 0
	for at := range len(messages) + 1 {
		end := at == len(messages)
		if !end && (at == start || !seams.Before(messages[at]) || chance(t, 20)) {
			seams.Pass(messages[at])
			continue
		}
		part, err := d.Render(messages[start:at], dialect.RenderOptions{
			Breakpoints: breakpointsIn(opts.Breakpoints, start, at), Before: before, More: !end, Adaptive: opts.Adaptive,
		})
		require.NoError(t, err)
		if !end {
			seams.Pass(messages[at])
			if part.After == nil {
				continue
			}
		}
		join(&joined, part)
		RequireValid(t, d, messages, &part.List)
		start, before = at, part.After
		parts++
	}
	requireJoined(t, whole, &joined, messages)
	return parts
}

func breakpointsIn(breakpoints []int, start, end int) []int {
	if breakpoints == nil {
		return nil
	}
	within := []int{}
	for _, at := range breakpoints {
		if start <= at && at < end {
			within = append(within, at-start)
		}
	}
	return within
}

func join(joined, part *dialect.Rendered) {
	joined.System = append(joined.System, part.System...)
	joined.Messages = append(joined.Messages, part.Messages...)
	joined.From = append(joined.From, part.From...)
	joined.Dropped = append(joined.Dropped, part.Dropped...)
	joined.Repairs = append(joined.Repairs, part.Repairs...)
	joined.Merged += part.Merged
	joined.DisableThinking = part.DisableThinking
}

func requireJoined(t *rapid.T, whole, joined *dialect.Rendered, messages []*compactordv1.Message) {
	slices.SortStableFunc(joined.Dropped, func(a, b dialect.Dropped) int { return a.Message - b.Message })
	slices.SortStableFunc(joined.Repairs, func(a, b dialect.Repair) int { return a.Message - b.Message })
	require.Equal(t, texts(whole.System), texts(joined.System))
	require.Equal(t, texts(whole.Messages), texts(joined.Messages), "%s", Describe(messages))
	require.Equal(t, len(whole.From), len(joined.From))
	for i := range whole.From {
		require.Equal(t, whole.From[i], joined.From[i])
	}
	require.Equal(t, len(whole.Dropped), len(joined.Dropped), "%v\n%v", whole.Dropped, joined.Dropped)
	for i := range whole.Dropped {
		require.Equal(t, whole.Dropped[i], joined.Dropped[i])
	}
	require.Equal(t, len(whole.Repairs), len(joined.Repairs), "%v\n%v", whole.Repairs, joined.Repairs)
	for i := range whole.Repairs {
		require.Equal(t, whole.Repairs[i], joined.Repairs[i])
	}
	require.Equal(t, whole.Merged, joined.Merged)
	require.Equal(t, whole.DisableThinking, joined.DisableThinking)
}

func texts[T ~[]byte](list []T) []string {
	written := make([]string, len(list))
	for i, raw := range list {
		written[i] = string(raw)
	}
	return written
}
