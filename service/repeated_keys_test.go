package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// repeatedKeys returns the places of the findings about keys that an object has twice.
func repeatedKeys(findings []*compactordv1.Finding) []string {
	var places []string
	for _, f := range findings {
		if f.GetRule() == dialect.InputRepeatedKey {
			places = append(places, fmt.Sprint(f.GetMessage(), ".", f.GetPart()))
		}
	}
	return places
}

// A key that an object has twice is found wherever JSON comes, and a strict request with one is refused.
func TestRepeatedKeysAreFound(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	const twice = `{"a":1,"b":{"c":2,"\u0063":3}}`
	var many strings.Builder
	for range 200_000 {
		many.WriteString(`"k":1,`)
	}
	asking := assistant("I will read it.")
	asking.Parts = append(asking.Parts, &compactordv1.Part{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "1", Name: "read", Arguments: twice}},
	})
	noted := user("x")
	noted.Attachments = []*compactordv1.Attachment{{Dialect: chat, Key: "name", Json: twice}}
	for name, test := range map[string]struct {
		req  *compactordv1.AppendMessagesRequest
		want []string
	}{
		"neutral": {
			&compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{asking, user("y"), noted}},
			[]string{"0.1", "2.0"},
		},
		"provider's": {
			&compactordv1.AppendMessagesRequest{ProviderJson: &compactordv1.ProviderJson{
				Dialect: chat, Json: `[{"role":"user","content":"x"},{"role":"user","content":"y",` + many.String() + `"k":2}]`,
			}}, []string{"1.0"},
		},
		"arguments as a text": {
			&compactordv1.AppendMessagesRequest{ProviderJson: &compactordv1.ProviderJson{
				Dialect: chat, Json: `[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[
				{"id":"2","type":"function","function":{"name":"read","arguments":"{\"a\":1,\"a\":2}"}}]}]`,
			}}, []string{"1.0"},
		},
		"beside the messages": {
			&compactordv1.AppendMessagesRequest{ProviderJson: &compactordv1.ProviderJson{
				Dialect: chat, Json: `{"model":"m","model":"n","messages":[{"role":"user","content":"x"}]}`,
			}}, []string{"0.0"},
		},
		"none": {&compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{user(twice)}}, nil},
	} {
		test.req.SessionId = "s"
		answer, err := d.sessions.AppendMessages(t.Context(), test.req)
		require.NoError(t, err, name)
		require.Equal(t, test.want, repeatedKeys(answer.GetFindings()), name)
	}
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{noted}, Strict: true,
	})
	requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
}
