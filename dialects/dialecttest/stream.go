package dialecttest

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// streamed checks that the events of a streamed response are parsed like its body.
func streamed(t *rapid.T, d dialect.Dialect) {
	body, events := StreamOf(t, d.Kind())
	RequireStreamed(t, d, rawjson.EncodeArray(events), body)
}

// RequireStreamed requires that a stream is parsed like a body.
func RequireStreamed(t tHelper, d dialect.Dialect, stream, body []byte) {
	t.Helper()
	want, err := d.Parse(body)
	require.NoError(t, err, "%s", body)
	got, err := d.Parse(stream)
	require.NoError(t, err, "%s", stream)
	requireParsed(t, got, 1)
	require.True(t, got.Response)
	require.False(t, got.Cut)
	require.Equal(t, want.Findings, got.Findings)
	require.Equal(t, want.ProviderStop, got.ProviderStop)
	require.Equal(t, want.Positions, got.Positions)
	require.Len(t, got.Messages, 1)
	require.True(t, proto.Equal(want.Messages[0], got.Messages[0]),
		"%s\n%s\nwant %v\ngot  %v", stream, body, want.Messages[0], got.Messages[0])
}

// StreamOf draws a response's body, and the events of the same response when it is streamed.
func StreamOf(t *rapid.T, kind compactordv1.Dialect) (body json.RawMessage, events []json.RawMessage) {
	w := &writer{}
	switch kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		body = compacted(w.openaichatResponse(t).Raw)
		return body, openaichatStream(t, fieldsOf(body))
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		body = compacted(w.openairesponsesResponse(t).Raw)
		return body, openairesponsesStream(t, fieldsOf(body))
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		body = compacted(w.anthropicResponse(t).Raw)
		return body, anthropicStream(t, fieldsOf(body))
	case compactordv1.Dialect_DIALECT_GEMINI:
		return geminiStream(t, fieldsOf(compacted(w.geminiResponse(t).Raw)))
	default:
		panic("no such dialect: " + kind.String())
	}
}

func compacted(indented []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, indented); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func fieldsOf(raw json.RawMessage) rawjson.Object {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		panic(err)
	}
	return o
}

func elementsOf(raw json.RawMessage) []json.RawMessage {
	if rawjson.KindOf(raw) != rawjson.Array {
		return nil
	}
	elements, err := rawjson.ParseArray(raw)
	if err != nil {
		panic(err)
	}
	return elements
}

// piecesOf splits a JSON string between its escapes. A piece can be empty, and a character can be split into its
// halves.
func piecesOf(t *rapid.T, text json.RawMessage) []json.RawMessage {
	inner := text[1 : len(text)-1]
	var pieces []json.RawMessage
	var piece []byte
	for len(inner) > 0 {
		size := 2
		switch {
		case inner[0] != '\\':
			_, size = utf8.DecodeRune(inner)
		case inner[1] == 'u':
			size = 6
		}
		piece, inner = append(piece, inner[:size]...), inner[size:]
		if chance(t, 15) {
			pieces, piece = append(pieces, quoted(piece)), nil
		}
	}
	return append(pieces, quoted(piece))
}

func quoted(inner []byte) json.RawMessage {
	return append(append(json.RawMessage{'"'}, inner...), '"')
}

// without returns a copy of an object without these fields.
func without(o rawjson.Object, keys ...string) rawjson.Object {
	rest := make(rawjson.Object, len(o))
	for key, value := range o {
		rest[key] = value
	}
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
}

// streamsMutated checks that a changed or incomplete stream is accepted, or refused with a reason.
func streamsMutated(t *rapid.T, d dialect.Dialect) {
	_, events := StreamOf(t, d.Kind())
	stream := rawjson.EncodeArray(events[:1+dice(t, len(events))])
	for range dice(t, 3) {
		stream = mutate(t, stream)
	}
	requireHandled(t, d, stream)
}
