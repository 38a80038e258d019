package dialecttest

import (
	"encoding/json"
	"slices"
	"strings"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// tHelper has the methods that testing.T and rapid.T share.
type tHelper interface {
	require.TestingT
	Helper()
}

// ModeOf returns how strictly to check a list that was made from these messages: as a request where the next message
// would be the model's.
func ModeOf(messages []*compactordv1.Message) dialect.Mode {
	if n := len(messages); n > 0 {
		if last := messages[n-1].GetRole(); last == compactordv1.Role_ROLE_USER || last == compactordv1.Role_ROLE_TOOL {
			return dialect.Request
		}
	}
	return dialect.History
}

// RequireRendered renders messages for a request and checks the result: it is valid, the same each time, and its report
// is correct.
func RequireRendered(t tHelper, d dialect.Dialect, messages []*compactordv1.Message) *dialect.Rendered {
	t.Helper()
	before := clones(messages)
	r, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	for i, m := range messages {
		require.True(t, proto.Equal(before[i], m), "Render changed message %d", i)
	}
	again, err := d.Render(before, dialect.RenderOptions{})
	require.NoError(t, err)
	require.Equal(t, r, again, "the same messages, rendered in another way")

	requireWritten(t, d, messages, r)
	RequireValid(t, d, messages, &r.List)
	requireReport(t, d, messages, r)
	return r
}

// RequireValid requires that a list made from these messages breaks no rule.
func RequireValid(t tHelper, d dialect.Dialect, messages []*compactordv1.Message, list *dialect.List) {
	t.Helper()
	if violations := d.Validate(list, ModeOf(messages)); len(violations) > 0 {
		var lines []string
		for _, v := range violations {
			lines = append(lines, v.String())
		}
		require.Fail(t, "not valid in "+d.Name(), "%s\n\n%s\n\n%s",
			strings.Join(lines, "\n"), d.Document(list), Describe(messages))
	}
	document := d.Document(list)
	require.True(t, json.Valid(document), "the document is no JSON")
	require.Equal(t, rawjson.ObjectKind, rawjson.KindOf(document), "the document is no object")
}

// Describe returns messages as a text for people.
func Describe(messages []*compactordv1.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(prototext.MarshalOptions{}.Format(m))
		b.WriteByte('\n')
	}
	return b.String()
}

func clones(messages []*compactordv1.Message) []*compactordv1.Message {
	var all []*compactordv1.Message
	for _, m := range messages {
		all = append(all, proto.CloneOf(m))
	}
	return all
}

// requireReport requires that positions exist, that reasons are given, and that rules exist.
func requireReport(t tHelper, d dialect.Dialect, messages []*compactordv1.Message, r *dialect.Rendered) {
	t.Helper()
	require.Equal(t, len(r.Messages), len(r.From), "elements and what they are made from")
	for _, span := range r.From {
		require.GreaterOrEqual(t, span.First, 0)
		require.LessOrEqual(t, span.First, span.End)
		require.LessOrEqual(t, span.End, len(messages))
	}
	require.GreaterOrEqual(t, r.Merged, 0)
	require.LessOrEqual(t, r.Merged, len(messages))
	for _, dropped := range r.Dropped {
		requirePlace(t, messages, dropped.Message, dropped.Part)
		requireSentence(t, dropped.Why)
	}
	for _, repair := range r.Repairs {
		requirePlace(t, messages, repair.Message, 0)
		requireSentence(t, repair.What)
		require.True(t, slices.ContainsFunc(d.Rules(), func(rule dialect.Rule) bool { return rule.ID == repair.Rule }),
			"a repair by rule %q, which %s does not have", repair.Rule, d.Name())
	}
}

func requirePlace(t tHelper, messages []*compactordv1.Message, message, part int) {
	t.Helper()
	require.GreaterOrEqual(t, message, 0)
	require.Less(t, message, len(messages))
	require.GreaterOrEqual(t, part, 0)
	require.Less(t, part, max(1, len(messages[message].GetParts())))
}

// requireSentence requires a text that is not empty and quotes nothing from the generators.
func requireSentence(t tHelper, text string) {
	t.Helper()
	require.NotEmpty(t, text)
	for _, secret := range []string{"parser", "rm -rf", "a.g", "Z2VoZWlt", "c2lnbmVk", "läuft", "修复", "example.com"} {
		require.NotContains(t, text, secret, "quotes the conversation")
	}
}

func requireMessages(t tHelper, messages []*compactordv1.Message) {
	t.Helper()
	for i, m := range messages {
		require.NoError(t, protovalidate.Validate(m), "message %d", i)
	}
}

// Equal reports whether two lists are equal JSON, with numbers compared as they are written.
func Equal(a, b []json.RawMessage) bool { return slices.EqualFunc(a, b, rawjson.Equal) }

// RequireSame requires that two lists are equal JSON.
func RequireSame(t tHelper, d dialect.Dialect, want, have *dialect.List) {
	t.Helper()
	for i, element := range want.Messages {
		if i < len(have.Messages) && !rawjson.Equal(element, have.Messages[i]) {
			require.Equal(t, string(element), string(have.Messages[i]), "element %d of %s", i, d.Name())
		}
	}
	require.Len(t, have.Messages, len(want.Messages), "elements of %s", d.Name())
	if w, h := d.Document(want), d.Document(have); !rawjson.Equal(w, h) {
		require.Equal(t, string(w), string(h), "document of %s", d.Name())
	}
}
