package sdkcheck_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm"
)

// The daemon reads the same from a stream as the provider's SDK.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, kind := range []compactordv1.Dialect{chat, responses, anthropic, gemini} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			ours, theirs := s.ours(t, kind), s.theirs(t, kind)
			rapid.Check(t, func(rt *rapid.T) {
				_, events := dialecttest.StreamOf(rt, kind)
				s.answer(kind, events)
				if beyondSDKs[kind].MatchString(s.stream) {
					return
				}
				c := &llm.Completion{User: "Say hello.", MaxOutputTokens: 100}
				want, err := theirs(c)
				require.NoError(rt, err, s.stream)
				var deltas strings.Builder
				got, err := ours.Complete(t.Context(), c, func(delta string) { deltas.WriteString(delta) })
				require.NoError(rt, err, s.stream)
				require.Equal(rt, got.Text, deltas.String())
				require.True(rt, proto.Equal(want.Usage, got.Usage), "%s\nwant %v\ngot  %v", s.stream, want.Usage, got.Usage)
				want.Usage, got.Usage = nil, nil
				require.Equal(rt, want, got, s.stream)
			})
		})
	}
}

// beyondSDKs match what no provider writes in a stream and an SDK cannot read: halves of characters, numbers that no
// float64 can hold, a second role, content in parts, and items without a type.
var beyondSDKs = map[compactordv1.Dialect]*regexp.Regexp{
	chat:      regexp.MustCompile(`(?i)\\ud|1e400|"content":\[`),
	responses: regexp.MustCompile(`(?i)\\ud|1e400|"content":"`),
	anthropic: regexp.MustCompile(`(?i)\\ud|1e400`),
	gemini:    regexp.MustCompile(`(?i:\\ud|1e400)|"Role":`),
}
