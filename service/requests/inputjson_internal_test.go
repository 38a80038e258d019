package requests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// jsonRequests are requests of all shapes: deep ones, long lists, maps, texts, times and field masks.
func jsonRequests() map[string]proto.Message {
	return map[string]proto.Message{
		"create": &compactordv1.CreateSessionRequest{}, "update": &compactordv1.UpdateSessionRequest{},
		"append": &compactordv1.AppendMessagesRequest{}, "sync": &compactordv1.SyncMessagesRequest{},
		"compact": &compactordv1.CompactRequest{}, "view": &compactordv1.GetLLMViewRequest{},
		"records": &compactordv1.ListRecordsRequest{}, "commit": &compactordv1.CommitCompactionRequest{},
	}
}

// requireWithin requires that what a text is decoded to takes no more than was reserved before, and that an error quotes
// nothing that is not a name.
func requireWithin(t *testing.T, m proto.Message, text string) {
	t.Helper()
	m = proto.Clone(m)
	most := mostOfJSON(m.ProtoReflect().Descriptor(), []byte(text)) + 2*int64(len(text))
	if err := decodeJSON(m, []byte(text)); err != nil {
		require.Less(t, len(err.Error()), 400)
		return
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		return
	}
	held, err := count(m.ProtoReflect().Descriptor(), wire)
	if err != nil {
		return
	}
	require.LessOrEqual(t, held.memory+int64(len(wire)+len(text)), most, "%.200s", text)
}

func TestWhatJSONBecomesIsReservedBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, text string }{
		"empty":           {"create", `{}`},
		"labels":          {"create", `{"labels":{` + strings.Repeat(`"a":"",`, 1) + `"b":"c"}}`},
		"empty messages":  {"append", `{"messages":[` + strings.Repeat(`{},`, 5000) + `{}]}`},
		"empty parts":     {"append", `{"messages":[{"parts":[` + strings.Repeat(`{"text":{}},`, 5000) + `{}]}]}`},
		"tool calls":      {"append", `{"messages":[{"parts":[` + strings.Repeat(`{"toolCall":{"id":"1"}},`, 5000) + `{}]}]}`},
		"empty elements":  {"sync", `{"elements":[` + strings.Repeat(`{"json":""},`, 5000) + `{}]}`},
		"texts":           {"sync", `{"systemJson":[` + strings.Repeat(`"",`, 5000) + `""]}`},
		"paths in a text": {"update", `{"updateMask":"` + strings.Repeat("a,", 5000) + `a"}`},
		"strategies":      {"create", `{"policy":{"strategy":{"ladder":{"rungs":[` + strings.Repeat(`{"strategy":{"summarize":{}}},`, 1000) + `{}]}}}}`},
		"times":           {"append", `{"messages":[` + strings.Repeat(`{"createdAt":"2020-01-01T00:00:00Z"},`, 1000) + `{}]}`},
		"prunes":          {"view", `{"history":{"prunes":[` + strings.Repeat(`{"edits":[{}]},`, 3000) + `{}]}}`},
	} {
		m := proto.Clone(jsonRequests()[c.kind])
		if name != "times" {
			require.NoError(t, protojson.Unmarshal([]byte(c.text), m), name)
		}
		requireWithin(t, m, c.text)
	}
}

// FuzzJSON decodes any text as any request: it must neither panic, nor take more than is reserved.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"labels":{"a":"b"}}`, `{"messages":[{"role":"ROLE_USER","parts":[{"text":{"text":"x"}}]}]}`, `{"updateMask":"a,b"}`,
		`{"policy":{"strategy":{"ladder":{"rungs":[{"strategy":{"summarize":{}}}]}}}}`, `{"elements":[{"digest":"AAAA"}]}`, `[`, `"`, `{"a":`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range jsonRequests() {
			requireWithin(t, m, text)
		}
	})
}
