package dialecttest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// requireWritten renders messages with a Writer. The list must be the same as without, the Writer must know exactly what
// its JSON says, and by that the list must break no rule.
func requireWritten(t tHelper, d dialect.Dialect, messages []*compactordv1.Message, want *dialect.Rendered) {
	t.Helper()
	by := dialect.NewWriter(len(messages))
	have, err := d.Render(messages, dialect.RenderOptions{Writer: by})
	require.NoError(t, err)
	require.Equal(t, want, have, "the same messages, rendered with a Writer")
	for _, raw := range slices.Concat(have.System, have.Messages) {
		requireKnown(t, by, raw)
	}
	require.Empty(t, d.Judge(&have.List, by, ModeOf(messages)))
}

// requireKnown requires that what a Writer knows of a value, and of those in it, is what its JSON says.
func requireKnown(t tHelper, by *dialect.Writer, raw json.RawMessage) {
	t.Helper()
	switch kind := rawjson.KindOf(raw); {
	case !by.Wrote(raw):
	case kind == rawjson.ObjectKind:
		known, err := by.SplitObject(raw)
		require.NoError(t, err)
		read, err := rawjson.SplitObject(raw)
		require.NoError(t, err)
		require.Len(t, known, len(read), "%s", raw)
		for key, value := range known {
			requireSays(t, read[key], value)
			requireKnown(t, by, value)
		}
	default:
		known, err := by.SplitArray(raw)
		require.NoError(t, err)
		read, err := rawjson.SplitArray(raw)
		require.NoError(t, err)
		require.Len(t, known, len(read), "%s", raw)
		for i, value := range known {
			requireSays(t, read[i], value)
			requireKnown(t, by, value)
		}
	}
}

func requireSays(t tHelper, read, known json.RawMessage) {
	t.Helper()
	if !bytes.Equal(read, bytes.TrimSpace(known)) {
		require.Equal(t, string(read), string(known))
	}
}

// requireJudged requires that a list is judged by what its Writer knows as by its JSON.
func requireJudged(t tHelper, d dialect.Dialect, list *dialect.List, by *dialect.Writer) {
	t.Helper()
	for _, mode := range []dialect.Mode{dialect.Request, dialect.History} {
		require.Equal(t, d.Validate(list, mode), d.Judge(list, by, mode), "%s", d.Document(list))
	}
}

// RequireJudgedAsRead has a Writer write any list anew, and requires that it is judged by what the Writer knows as by its
// JSON. What is no JSON stays as it is.
func RequireJudgedAsRead(t tHelper, d dialect.Dialect, list *dialect.List) {
	t.Helper()
	by := dialect.NewWriter(len(list.Messages))
	again := *list
	again.System, again.Messages = writtenAnew(by, list.System), writtenAnew(by, list.Messages)
	requireJudged(t, d, &again, by)
}

func writtenAnew(by *dialect.Writer, values []json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	for _, value := range values {
		if rawjson.Valid(value) {
			value = writeAnew(by, bytes.TrimSpace(value))
		}
		all = append(all, value)
	}
	return all
}

func writeAnew(by *dialect.Writer, value json.RawMessage) json.RawMessage {
	if o, err := rawjson.SplitObject(value); err == nil {
		for key, inner := range o {
			o[key] = writeAnew(by, inner)
		}
		return by.Object(o)
	}
	if list, err := rawjson.SplitArray(value); err == nil {
		for i, inner := range list {
			list[i] = writeAnew(by, inner)
		}
		return by.Array(list)
	}
	return value
}
