package service_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// aToken has the shape of a credential; none was ever issued with it.
const aToken = "ghp_" + "x9Kq2LmN8pRs4TuV6wYz1AbC3dEf5GhJ7kM0"

// promptWith returns the agent's own prompt in a dialect, in readable form, for a session that begins with messages.
func promptWith(
	t *testing.T, kind compactordv1.Dialect, redact bool, messages []*compactordv1.Message, options ...option,
) (string, error) {
	t.Helper()
	var shown string
	failure := errors.New("never drawn")
	model := persisting(func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		var view *summarizers.View
		if view, failure = req.View(ctx, kind); failure == nil {
			shown = readable(strings.Join(listed(view.Messages), "\n"))
		}
		return faithful(ctx, req, p)
	})
	d := start(t, append(options, withSummarizer(model))...)
	policy := by("model", noFallback, small(100))
	policy.Summary.CachedPrefix, policy.Summary.Redact = proto.Bool(true), proto.Bool(redact)
	d.create("s", policy)
	d.append("s", messages...)
	d.append("s", assistant("I see."), user(long(4000)), assistant("Done."))
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	return shown, failure
}

// readable returns a text followed by the decoded base64 in it.
func readable(text string) string {
	for _, encoded := range regexp.MustCompile(`[A-Za-z0-9+/]{40,}=*`).FindAllString(text, -1) {
		if data, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			text += "\n" + string(data)
		}
	}
	return text
}

// A secret anywhere in a message is replaced in the agent's own prompt, or the prompt is not rendered.
func TestSecretsInEveryPlaceOfAMessage(t *testing.T) {
	t.Parallel()
	begin := func(parts ...*compactordv1.Part) *compactordv1.Message {
		m := user("Please look. " + long(2000))
		m.Parts = append(m.Parts, parts...)
		return m
	}
	document := func(mime string, data string) []*compactordv1.Message {
		return []*compactordv1.Message{begin(&compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
			MimeType: mime, Name: "notes", Source: &compactordv1.MediaPart_Data{Data: []byte(data)},
		}}})}
	}
	named := begin()
	named.Name = aToken
	noted := begin(textPart("See there."))
	noted.Parts[1].Attachments = []*compactordv1.Attachment{{
		Dialect: anthropic, Key: "context", Json: string(asJSON(t, "use "+aToken)),
	}}
	resultNamed := toolResult("c", "fine")
	resultNamed.GetParts()[0].GetToolResult().Name = aToken
	withItem := toolResult("c", "fine")
	withItem.GetParts()[0].GetToolResult().Parts = append(withItem.GetParts()[0].GetToolResult().GetParts(),
		&compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{
			Dialect: anthropic, Type: "search_result",
			Json: `{"type":"search_result","source":"x","title":"` + aToken + `","content":[{"type":"text","text":"y"}]}`,
		}}})
	calling := func(id, name string) *compactordv1.Message { return assistant("I call.", call(id, name, "{}")) }
	gemini := compactordv1.Dialect_DIALECT_GEMINI
	for name, c := range map[string]struct {
		kind     compactordv1.Dialect
		messages []*compactordv1.Message
		problem  string
	}{
		"a participant's name":  {chat, []*compactordv1.Message{named}, ""},
		"a tool's name":         {chat, []*compactordv1.Message{begin(), calling("c", aToken), toolResult("c", "fine")}, "name or the id"},
		"a result's name":       {gemini, []*compactordv1.Message{begin(), calling("c", "read"), resultNamed}, "name or the id"},
		"a call's id":           {chat, []*compactordv1.Message{begin(), calling(aToken, "read"), toolResult(aToken, "fine")}, "name or the id"},
		"a document":            {anthropic, document("text/plain", "token: "+aToken), ""},
		"a document in Latin-1": {gemini, document("text/plain", "caf\xe9 token: "+aToken), ""},
		"YAML":                  {gemini, document("text/yaml", "token: "+aToken), ""},
		"XML":                   {gemini, document("application/xml", "<t>"+aToken+"</t>"), ""},
		"RTF": {gemini, document("application/rtf", `{
tf1 `+aToken+"}"), ""},
		"text in a PDF":       {responses, document("application/pdf", "%PDF-1.4 token: "+aToken), ""},
		"an attachment":       {anthropic, []*compactordv1.Message{noted}, ""},
		"an item in a result": {anthropic, []*compactordv1.Message{begin(), calling("c", "read"), withItem}, "item holds a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			shown, err := promptWith(t, c.kind, false, c.messages)
			require.NoError(t, err)
			if name != "a result's name" { // No dialect shows one that the call does not have.
				require.Contains(t, shown, aToken, "it would be there")
			}
			shown, err = promptWith(t, c.kind, true, c.messages)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Contains(t, shown, "Please look.")
			require.NotContains(t, shown, aToken)
		})
	}
}

// strict is a dialect whose provider accepts nothing.
type strict struct{ dialect.Dialect }

func (strict) Validate(*dialect.List, dialect.Mode) []dialect.Violation {
	return []dialect.Violation{{Rule: "nothing.passes"}}
}

// A prompt that its provider would refuse is not sent.
func TestAgentsPromptThatWouldBeRefused(t *testing.T) {
	t.Parallel()
	_, err := promptWith(t, chat, true, []*compactordv1.Message{user("Please look. " + long(2000))},
		func(o *service.ServerOptions) {
			o.Dialects = nil
			for _, d := range dialects.All() {
				o.Dialects = append(o.Dialects, strict{d})
			}
		})
	require.ErrorContains(t, err, "would break the rule nothing.passes")
}

// Of a provider's item in a result, the model is told the type, and nothing of its content.
func TestItemsInResultsToBeWrittenShorter(t *testing.T) {
	t.Parallel()
	writer := observing("All is well there.")
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3}}))
	d.create("s", shortening(noFallback))
	messages := working(2, 3000)
	result := messages[3].GetParts()[0].GetToolResult()
	result.Parts = append(result.Parts, &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{
		Opaque: &compactordv1.OpaquePart{
			Dialect: anthropic, Type: "search_result",
			Json: string(asJSON(t, map[string]any{"type": "search_result", "encrypted": json.RawMessage(`"b3BhcXVl"`)})),
		},
	}})
	d.append("s", messages...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	text := writer.seen()[0].Result.Text
	require.Equal(t, result.GetParts()[0].GetText().GetText()+"\n[Provider's item: search_result]", text)
}
