package dialecttest

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
)

// parsedAndWritten checks that what was parsed is exported unchanged, to the last field.
func parsedAndWritten(t *rapid.T, d dialect.Dialect) {
	source := SourceOf(t, d.Kind())
	parsed, err := d.Parse(source.Raw)
	require.NoError(t, err, "%s", source.Raw)
	requireParsed(t, parsed, len(source.Messages))
	require.Equal(t, source.Response, parsed.Response)
	split, err := d.Split(source.Raw)
	require.NoError(t, err)
	require.Len(t, split.Messages, len(source.Messages))
	require.Len(t, split.System, len(source.System))

	written, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	RequireSame(t, d, &dialect.List{System: split.System, SystemAsText: split.SystemAsText, Messages: source.Messages},
		&written.List)
	require.Empty(t, written.Dropped)
	require.Empty(t, written.Repairs)
	require.Zero(t, written.Merged)
}

// requireParsed requires messages that a log accepts, with positions that exist.
func requireParsed(t tHelper, parsed *dialect.Parsed, elements int) {
	t.Helper()
	requireMessages(t, parsed.Messages)
	require.Equal(t, len(parsed.Messages), len(parsed.Positions))
	require.True(t, slices.IsSorted(parsed.Positions))
	for _, at := range parsed.Positions {
		require.GreaterOrEqual(t, at, 0)
		require.Less(t, at, max(1, elements))
	}
	known := make(map[string]bool)
	for _, r := range dialect.InputRules() {
		known[r.ID] = true
	}
	last := 0
	for _, f := range parsed.Findings {
		require.True(t, known[f.Rule], "a finding by rule %q, which there is not", f.Rule)
		require.GreaterOrEqual(t, f.Message, last, "findings out of order")
		require.Less(t, f.Message, max(1, elements))
		last = f.Message
		requireSentence(t, f.Text)
	}
}

// parsedAndRendered checks that everything that was parsed can go through a log into a request.
func parsedAndRendered(t *rapid.T, d dialect.Dialect) {
	parsed, err := d.Parse(SourceOf(t, d.Kind()).Raw)
	require.NoError(t, err)
	RequireRendered(t, d, ViewOf(parsed.Messages))
}

// mutated checks that a changed list is validated, and accepted, or refused with a reason.
func mutated(t *rapid.T, d dialect.Dialect) {
	raw := json.RawMessage(SourceOf(t, d.Kind()).Raw)
	for range 1 + dice(t, 3) {
		raw = mutate(t, raw)
	}
	requireHandled(t, d, raw)
}

func arbitraryJSON(t *rapid.T, d dialect.Dialect) {
	list := &dialect.List{SystemAsText: chance(t, 20)}
	for range dice(t, 3) {
		list.System = append(list.System, arbitrary(t, 3))
	}
	for range dice(t, 6) {
		list.Messages = append(list.Messages, arbitrary(t, 5))
	}
	requireViolations(t, d, list)
	requireHandled(t, d, arbitrary(t, 5))
}

func arbitraryBytes(t *rapid.T, d dialect.Dialect) {
	raw := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
	if chance(t, 50) {
		raw = SourceOf(t, d.Kind()).Raw
		at := dice(t, len(raw))
		switch dice(t, 3) {
		case 0:
			raw = raw[:at]
		case 1:
			raw = slices.Insert(slices.Clone(raw), at, rapid.Byte().Draw(t, "byte"))
		default:
			raw = slices.Delete(slices.Clone(raw), at, at+1)
		}
	}
	requireHandled(t, d, raw)
}

// requireHandled requires that JSON is refused with an InputError, or otherwise is handled correctly by all functions.
func requireHandled(t tHelper, d dialect.Dialect, raw []byte) {
	t.Helper()
	split, err := d.Split(raw)
	if err != nil {
		requireInputError(t, err)
	} else {
		requireViolations(t, d, split)
	}
	parsed, err := d.Parse(raw)
	if err != nil {
		requireInputError(t, err)
		return
	}
	require.NotNil(t, split, "Parse takes what Split refuses")
	requireParsed(t, parsed, len(split.Messages))
	written, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	if !parsed.Response {
		RequireSame(t, d, split, &written.List)
	}
	RequireRendered(t, d, ViewOf(parsed.Messages))
}

func requireInputError(t tHelper, err error) {
	t.Helper()
	refused := &dialect.InputError{}
	require.ErrorAs(t, err, &refused)
	require.Contains(t, []string{dialect.InputShape, dialect.InputLimit, dialect.InputOtherDialect}, refused.Rule)
	require.GreaterOrEqual(t, refused.Message, -1)
	require.Error(t, refused.Err)
	requireSentence(t, refused.Error())
}

// requireViolations requires violations with places and rules that exist, in the order of the list.
func requireViolations(t tHelper, d dialect.Dialect, list *dialect.List) {
	t.Helper()
	requestOnly := make(map[string]bool)
	for _, r := range d.Rules() {
		requestOnly[r.ID] = r.RequestOnly
	}
	for _, mode := range []dialect.Mode{dialect.Request, dialect.History} {
		last := -1
		for _, v := range d.Validate(list, mode) {
			waived, known := requestOnly[v.Rule]
			require.True(t, known, "a violation of rule %q, which there is not", v.Rule)
			require.False(t, waived && mode == dialect.History, "%s holds for requests only", v.Rule)
			require.GreaterOrEqual(t, v.Message, last, "violations out of order")
			require.Less(t, v.Message, max(1, len(list.Messages)))
			require.GreaterOrEqual(t, v.Part, 0)
			requireSentence(t, v.Detail)
			last = v.Message
		}
	}
	RequireJudgedAsRead(t, d, list)
}
