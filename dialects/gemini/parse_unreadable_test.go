package gemini_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	part := func(raw string) string { return `[` + hello + `,{"role":"model","parts":[{"text":"a"},` + raw + `]}]` }
	answer := func(raw string) string { return `[{"role":"user","parts":[{"functionResponse":` + raw + `}]}]` }
	for _, c := range []struct {
		raw           string
		message, part int
		field, err    string
	}{
		{``, -1, 0, "", "breaks off"},
		{`[{]`, -1, 0, "", "not valid JSON"},
		{"[{\"role\":\"\xff\"}]", -1, 0, "", "UTF-8"},
		{`7`, -1, 0, "", "must be an object"},
		{`{"messages":[]}`, -1, 0, "", "no list of contents"},
		{`{"error":{"code":400,"message":"x"}}`, -1, 0, "", "ClassifyError"},
		{`{"promptFeedback":{"blockReason":"SAFETY"}}`, -1, 0, "", "blocked"},
		{`{"candidates":[],"usageMetadata":{}}`, -1, 0, "", "without candidates"},
		{`{"contents":"a"}`, -1, 0, "contents", "must be an array"},
		{`{"systemInstruction":{"parts":[{"functionCall":{"name":"a"}}]},"contents":[]}`, -1, 0, "systemInstruction.parts[0]", "no text"},
		{`[{"parts":[{"text":"a"}]},{"candidates":[]}]`, 1, 0, "", "streamed"},
		{`[` + hello + `,7]`, 1, 0, "", "must be an object"},
		{`[{"role":"assistant","parts":[]}]`, 0, 0, "role", "user or model"},
		{`[{}]`, 0, 0, "parts", "missing"},
		{`[{"role":"user","parts":"a"}]`, 0, 0, "parts", "must be an array"},
		{part(`"a"`), 1, 1, "parts[1]", "must be an object"},
		{part(`{"text":7}`), 1, 1, "parts[1].text", "must be a string"},
		{part(`{"text":"a","functionCall":{"name":"a"}}`), 1, 1, "parts[1]", "two things"},
		{part(`{"functionCall":7}`), 1, 1, "parts[1].functionCall", "must be an object"},
		{part(`{"functionCall":{}}`), 1, 1, "parts[1].functionCall.name", "missing"},
		{part(`{"functionCall":{"name":"a","id":7}}`), 1, 1, "parts[1].functionCall.id", "must be a string"},
		{part(`{"functionResponse":{"name":"a","response":{}}}`), 1, 1, "parts[1].functionResponse", "the user's"},
		{part(`{"inlineData":{"mimeType":"image/png"}}`), 1, 1, "parts[1].inlineData.data", "missing"},
		{part(`{"inline_data":{"mime_type":"image/png","data":"!"}}`), 1, 1, "parts[1].inlineData.data", "base64"},
		{part(`{"fileData":{"mimeType":"image/png"}}`), 1, 1, "parts[1].fileData.fileUri", "missing"},
		{part(`{"text":"a","$text":1}`), 1, 1, "parts[1]", "begins with $"},
		{part(`{"functionCall":{"name":"a"},"functionCall.x":1}`), 1, 1, "parts[1]", "another field"},
		{`[{"role":"user","parts":[{"functionCall":{"name":"a"}}]}]`, 0, 0, "parts[0].functionCall", "only the model"},
		{answer(`{"response":{},"parts":{}}`), 0, 0, "parts[0].functionResponse.parts", "must be an array"},
		{answer(`{"response":{},"parts":[{"inlineData":{}}]}`), 0, 0, "parts[0].functionResponse.parts[0].inlineData.data", "missing"},
		{`{"candidates":[{"content":{"role":"user","parts":[]}}]}`, 0, 0, "role", "user or model"},
		{`{"candidates":[{"content":7}]}`, -1, 0, "candidates[0].content", "must be an object"},
		{`{"candidates":[{}],"usageMetadata":{"promptTokenCount":-1}}`, 0, 0, "usageMetadata.promptTokenCount", "whole number"},
		{`{"candidates":[{}],"modelVersion":7}`, 0, 0, "modelVersion", "must be a string"},
	} {
		requireUnreadable(t, c.raw, dialect.InputShape, c.message, c.part, c.field, c.err)
	}
}

func TestWhatIsLargerThanALogTakes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", dialect.MaxID+1)
	content := func(part string) string { return `[{"role":"model","parts":[` + part + `]}]` }
	fields := make([]string, dialect.MaxAttachments+1)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"x%d":0`, i)
	}
	for _, c := range []struct{ raw, field string }{
		{content(`{"functionCall":{"name":"` + long + `"}}`), "parts[0].functionCall.name"},
		{content(`{"functionCall":{"name":"a","id":"` + long + `"}}`), "parts[0].functionCall.id"},
		{content(`{"fileData":{"fileUri":"` + strings.Repeat("x", dialect.MaxURI+1) + `"}}`), "parts[0].fileData.fileUri"},
		{content(`{"inlineData":{"mimeType":"` + long + `","data":""}}`), "parts[0].inlineData.mimeType"},
		{content(`{"text":"a",` + strings.Join(fields, ",") + `}`), "parts[0]"},
		// Each object alone has room for its attachments, but the part has not for both.
		{content(`{"functionCall":{"name":"a",` + strings.Join(fields[:40], ",") + `},` + strings.Join(fields[:40], ",") + `}`), "parts[0]"},
		{`[{"role":"model","parts":[{}` + strings.Repeat(`,{}`, dialect.MaxParts) + `]}]`, "parts"},
		{
			`[{"role":"user","parts":[{"functionResponse":{"response":{},"parts":[{}` + strings.Repeat(`,{}`, dialect.MaxResultParts) + `]}}]}]`,
			"parts[0].functionResponse.parts",
		},
		{content(`{"inlineData":{"mimeType":"a","data":"` + base64.StdEncoding.EncodeToString(make([]byte, dialect.MaxText+1)) + `"}}`), "parts[0].inlineData.data"},
	} {
		requireUnreadable(t, c.raw, dialect.InputLimit, 0, 0, c.field, "")
	}
	requireUnreadable(t, `[`+hello+strings.Repeat(`,`+hello, dialect.MaxMessages)+`]`, dialect.InputLimit, -1, 0, "contents", "")
}

func requireUnreadable(t *testing.T, raw, rule string, message, part int, field, err string) {
	t.Helper()
	shown := raw[:min(len(raw), 200)]
	refused, taken := dialecttest.Unreadable(t, gemini.New(), []byte(raw))
	// A list is refused as a whole only where none of its contents can be read.
	whole := message < 0 && !strings.HasPrefix(field, "systemInstruction") || field == "role" || field == "parts" && err == "missing" ||
		strings.Contains(raw, "candidates\":[]}") || len(raw) > dialect.MaxText
	require.Equal(t, !whole, taken, shown)
	require.Equal(t, rule, refused.Rule, shown)
	require.Equal(t, message, refused.Message, shown)
	require.Equal(t, part, refused.Part, shown)
	require.Equal(t, field, refused.Field, shown)
	require.ErrorContains(t, refused.Err, err, shown)
}
