package dialecttest

import (
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// dialectsOf are the dialects whose attachments and items a message can have.
var dialectsOf = []compactordv1.Dialect{
	compactordv1.Dialect_DIALECT_OPENAI_CHAT, compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
	compactordv1.Dialect_DIALECT_ANTHROPIC, compactordv1.Dialect_DIALECT_GEMINI,
}

type field struct{ key, json string }

// knownFields are fields of messages and parts that providers themselves write or accept, with values that they accept.
var knownFields = map[compactordv1.Dialect][]field{
	compactordv1.Dialect_DIALECT_OPENAI_CHAT: {
		{"annotations", "[]"}, {"audio", `{"id":"audio_1"}`}, {"reasoning_content", `"As I see it."`}, {"index", "0"},
	},
	compactordv1.Dialect_DIALECT_OPENAI_RESPONSES: {
		{"id", `"msg_68a1"`},
		{"status", `"completed"`},
		{"encrypted_content", `"Z2VoZWlt"`},
		{"phase", `"commentary"`},
		{"annotations", "[]"},
		{"logprobs", "[]"},
	},
	compactordv1.Dialect_DIALECT_ANTHROPIC: {
		{"signature", `"c2lnbmVk"`},
		{"cache_control", `{"type":"ephemeral","ttl":"1h"}`},
		{"citations", "null"},
		{"caller", `{"type":"direct"}`},
	},
	compactordv1.Dialect_DIALECT_GEMINI: {
		{"thoughtSignature", `"c2lnbmVk"`}, {"videoMetadata", `{"fps":2}`}, {"willContinue", "false"},
	},
}

// attachments draws attachments of one or several dialects, but mostly none.
func (g *Generator) attachments(t *rapid.T) []*compactordv1.Attachment {
	if !chance(t, 25) {
		return nil
	}
	var list []*compactordv1.Attachment
	for range 1 + dice(t, 3) {
		list = append(list, g.attachment(t))
	}
	return list
}

func (g *Generator) attachment(t *rapid.T) *compactordv1.Attachment {
	a := &compactordv1.Attachment{Dialect: oneOf(t, dialectsOf)}
	switch dice(t, 8) {
	case 4:
		a.Key, a.Json = "x_unknown", oneOf(t, oddValues)
		g.count(AttachmentUnknown, true)
	case 5:
		a.Key, a.Json = oneOf(t, knownFields[a.GetDialect()]).key, oneOf(t, notJSON)
		g.count(AttachmentNoJSON, true)
	case 6:
		a.Key = oneOf(t, knownFields[a.GetDialect()]).key
		g.count(AttachmentMissing, true)
	case 7:
		a.Key, a.Json = "$"+oneOf(t, []string{"form", "text", "content", "x"}), oneOf(t, notes)
	default:
		f := oneOf(t, knownFields[a.GetDialect()])
		a.Key, a.Json = f.key, f.json
		g.count(AttachmentKnown, true)
	}
	return a
}

var (
	// oddValues are valid JSON that changes when it is decoded into Go's own types and encoded again.
	oddValues = []string{
		"null", "1.0", "-0", "1e400", "12345678901234567890123", `{"a":[1.50,{"b":null}]}`, `"\ud83d half"`, `"\u0000"`,
		"[ ]", `{ "z" : 1, "a" : 2 }`, "true", `""`,
	}
	notJSON = []string{"{", "nope", "'", "[1,", `"open`, "1 2", "\x00", "NaN", "{}}", " "}
	notes   = []string{`"string"`, `"list"`, `"null"`, `"absent"`, `"0"`, `"99"`, "7", "{", ""}
)
