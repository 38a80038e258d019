package extractive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// decodeMessages reads messages from any bytes: lines whose first byte gives the role. A line that is an encoded
// message is decoded, so that every field can occur.
func decodeMessages(data []byte) []*compactordv1.LoggedMessage {
	var log []*compactordv1.LoggedMessage
	add := func(m *compactordv1.Message) {
		log = append(log, &compactordv1.LoggedMessage{Index: uint32(len(log)) * 3, Message: m})
	}
	var whole compactordv1.Message
	if proto.Unmarshal(data, &whole) == nil {
		add(&whole)
	}
	for chunk := range strings.SplitSeq(string(data), "\x00") {
		if chunk == "" {
			log = append(log, nil)
			continue
		}
		kind, text := chunk[0], chunk[1:]
		m := &compactordv1.Message{Role: compactordv1.Role(kind % 7), Origin: compactordv1.Origin(kind / 7 % 7)}
		switch m.GetRole() {
		case compactordv1.Role_ROLE_ASSISTANT:
			prose, call, _ := strings.Cut(text, "\x01")
			name, arguments, _ := strings.Cut(call, "\x02")
			m.Parts = append(m.Parts, textPart(prose), callPart(string(kind), name, arguments))
			m.StopReason = compactordv1.StopReason(kind % 10)
		case compactordv1.Role_ROLE_TOOL:
			m.Parts = append(m.Parts, resultPart(string(kind-1), "bash", text, kind > 128))
		default:
			m.Parts = append(m.Parts, textPart(text), nil)
		}
		add(m)
	}
	return log
}

func FuzzSummarize(f *testing.F) {
	f.Add([]byte("\x03Fix `a.go`. Never push.\x00\x04Let me\x01bash\x02{\"command\":\"go test ./... | tail\"}\x00\x05FAIL\nError: E12 broke\n"), "a.go", uint16(64))
	f.Add([]byte("\x03必须用 UTC。\x00\x04决定用 B，因为快。\x01TodoWrite\x02{\"todos\":[{\"content\":\"x\",\"status\":\"pending\"}]}"), "", uint16(500))
	f.Add([]byte("\x03## Goal\n- [ ] x [#1]\n(none)\n\x00\x04- [x] x\n```\n# y"), "", uint16(300))
	f.Add([]byte("\x04\x01edit\x02{\"path\":\"\\ud800\\\"\",\"x\":[[[{\x00\x05\xff\xfe\xf0"), "\xff", uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, focus string, budget uint16) {
		for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix, summarizers.Range} {
			req := &summarizers.Request{Kind: kind, Messages: decodeMessages(data), Focus: focus, MaxTokens: max(64, uint32(budget))}
			text := summarize(t, req)
			require.True(t, utf8.ValidString(text))
			requireSections(t, text, kind, nil)
			requireCited(t, text)
			req.PreviousSummary, req.Messages = text, nil
			again := summarize(t, req)
			requireSections(t, again, kind, nil)
			for _, c := range summarizers.Citations(again) {
				require.Contains(t, summarizers.Citations(text), c)
			}
		}
	})
}

func FuzzPreviousSummary(f *testing.F) {
	f.Add("## Goal\nFix it [#1]\n## Constraints & Preferences\n- (system) never [#2, #3]\n### Done\n- [x] a\n```\n## no\n```", uint16(200))
	f.Add("They worked on the parser.\n\n1. It must stay fast.\n   - nested: \n     - deeper [#4]\n**Next**\n- [ ] b [#5]", uint16(64))
	f.Add("\\\\# x [\\#1] [#\n- \\[ ] y [#18446744073709551616]\n- Identifiers: a, b, , [#1]\n- `x` modified: [#2]\n## Relevant Files\n- ` [#3]", uint16(400))
	round := planted.Rounds(1, planted.Chinese, 1, fiveRounds)[0]
	f.Fuzz(func(t *testing.T, previous string, budget uint16) {
		for _, set := range append(sectionSets, nil) {
			for _, messages := range [][]*compactordv1.LoggedMessage{nil, round.Messages[:4]} {
				req := &summarizers.Request{Sections: set, Messages: messages, PreviousSummary: previous, MaxTokens: max(64, uint32(budget))}
				text := summarize(t, req)
				require.True(t, utf8.ValidString(text))
				requireSections(t, text, summarizers.History, set)
				req.PreviousSummary, req.Messages = text, nil
				requireSections(t, summarize(t, req), summarizers.History, set)
			}
		}
	})
}
