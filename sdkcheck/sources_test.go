package sdkcheck_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/sdkcheck"
)

// beyond matches what providers accept and their SDKs do not: future types of items, ids and statuses of messages in
// requests, and base64 without padding or with the other alphabet.
var beyond = regexp.MustCompile(`something_new|msg_in|"iVBORw0KGgo"|"_-8="|"fco_1"`)

// The inputs of the dialects' tests are what the providers document.
func TestSources(t *testing.T) {
	t.Parallel()
	for _, kind := range []compactordv1.Dialect{chat, responses, anthropic, gemini} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			for range 5 {
				rapid.Check(t, func(t *rapid.T) {
					source := dialecttest.SourceOf(t, kind)
					for _, element := range source.Messages {
						if beyond.Match(element) {
							continue
						}
						list := &dialect.List{Messages: []json.RawMessage{element}}
						require.NoError(t, sdkcheck.Check(kind, list), "%s", element)
					}
				})
			}
		})
	}
}
