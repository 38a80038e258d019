package openaichat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func parse(t *testing.T, raw []byte) *dialect.Parsed {
	t.Helper()
	parsed, err := openaichat.New().Parse(raw)
	require.NoError(t, err)
	for _, m := range parsed.Messages {
		require.NoError(t, protovalidate.Validate(m))
	}
	return parsed
}

func render(t *testing.T, messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	t.Helper()
	rendered, err := openaichat.New().Render(messages, opts)
	require.NoError(t, err)
	require.Len(t, rendered.From, len(rendered.Messages))
	return rendered
}

// requireKept holds a list against what comes back of it.
func requireKept(t *testing.T, raw []byte) *dialect.Parsed {
	t.Helper()
	list, err := openaichat.New().Split(raw)
	require.NoError(t, err)
	parsed := parse(t, raw)
	back := render(t, parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.Len(t, back.Messages, len(list.Messages))
	for i, m := range list.Messages {
		if !rawjson.Equal(m, back.Messages[i]) {
			require.Failf(t, "a message came back changed", "message %d\nwas  %s\nnow  %s", i, m, back.Messages[i])
		}
	}
	require.Empty(t, back.Dropped)
	require.Empty(t, back.Repairs)
	return parsed
}

func TestListsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			requireKept(t, raw)
			// One message at a time too.
			list, err := openaichat.New().Split(raw)
			require.NoError(t, err)
			for _, m := range list.Messages {
				requireKept(t, m)
				one, _, err := openaichat.ParseMessage(m)
				require.NoError(t, err)
				require.NoError(t, protovalidate.Validate(one))
			}
		})
	}
}

func TestBodiesComeBackAsTheirLists(t *testing.T) {
	t.Parallel()
	const list = `[{"role":"user","content":"hi"}]`
	for name, raw := range map[string]string{
		"list":         list,
		"blanks":       " \r\n\t" + list + "\n ",
		"message":      `{"role":"user","content":"hi"}`,
		"request body": `{"model":"m","tools":[],"messages":` + list + `,"stream":true}`,
	} {
		parsed := requireKept(t, []byte(raw))
		require.False(t, parsed.Response, name)
		require.Equal(t, []int{0}, parsed.Positions, name)
	}
	require.JSONEq(t, `{"messages":`+list+`}`, string(openaichat.New().Document(&dialect.List{
		Messages: []json.RawMessage{[]byte(`{"role":"user","content":"hi"}`)},
	})))
	requireKept(t, []byte("[]"))
}
