package openaichat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
)

func TestWrittenAsItWasParsed(t *testing.T) {
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
			// Each message alone, too.
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
