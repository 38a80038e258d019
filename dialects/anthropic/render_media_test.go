package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestRequestMedia(t *testing.T) {
	t.Parallel()
	const line = `{"type":"text","text":"[Attached MIME: plan]"}`
	for _, c := range []struct {
		name string
		m    *compactordv1.MediaPart
		// want is the block. Empty where a line of text replaces it.
		want string
	}{
		{"image", media("image/webp", []byte{1, 2, 3}, 0), `{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"AQID"}}`},
		{"image by address", media("image/*", "https://example.com/a", 0), `{"type":"image","source":{"type":"url","url":"https://example.com/a"}}`},
		{"image within an address", media("image/png", "data:image/gif;base64,AQID", 0), `{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"AQID"}}`},
		{"file of the provider", media("image/*", fileID("file_1"), kind), `{"type":"image","source":{"type":"file","file_id":"file_1"}}`},
		{"document of the provider", media(dialect.UnknownMime, fileID("file_1"), kind), `{"type":"document","title":"plan","source":{"type":"file","file_id":"file_1"}}`},
		{"PDF", media("application/pdf", []byte{1, 2, 3}, 0), `{"type":"document","title":"plan","source":{"type":"base64","media_type":"application/pdf","data":"AQID"}}`},
		{"plain text", media("text/plain", []byte("läuft"), 0), `{"type":"document","title":"plan","source":{"type":"text","media_type":"text/plain","data":"läuft"}}`},
		{"image of a type that is not taken", media("image/svg+xml", []byte{1}, 0), ""},
		{"image of any type by value", media("image/*", []byte{1}, 0), ""},
		{"sound", media("audio/wav", []byte{1}, 0), ""},
		{"nothing", media("image/png", []byte{}, 0), ""},
		{"text that is none", media("text/plain", []byte{0xff}, 0), ""},
		{"too large", media("image/png", make([]byte, 4<<20), 0), ""},
		{"as large as can be", media("image/png", make([]byte, 5<<20/4*3), 0), `as large`},
		{"address that is not on the web", media("image/png", "gs://bucket/a", 0), ""},
		{"address that is not safe", media("image/png", "http://example.com/a", 0), ""},
		{"address of another provider", media("image/png", "https://example.com/a", chat), ""},
		{"file of another provider", media("image/png", fileID("file-1"), chat), ""},
		{"file of nobody", media("image/png", fileID("file-1"), 0), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == "" {
				want = strings.Replace(line, "MIME", c.m.GetMimeType(), 1)
			}
			messages := []*compactordv1.Message{
				user(mediaPart(c.m)), assistant(call("a", "n", "{}")), tool("a", resultMedia(c.m)),
			}
			r := request(t, messages...)
			if c.want == "as large" {
				require.Empty(t, r.Dropped)
				return
			}
			require.JSONEq(t, `{"messages":[{"role":"user","content":[`+want+`]},`+calling("a")+`,{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"a","content":[`+want+`]}]}]}`, list(r))
			if c.want == "" {
				require.Len(t, r.Dropped, 2)
			} else {
				require.Empty(t, r.Dropped)
			}
			// An assistant's message can hold no media.
			r = request(t, user(textPart("Hi")), assistant(mediaPart(c.m)), user(textPart("Hi")))
			require.JSONEq(t, `{"messages":[`+hiBlocks+`,{"role":"assistant","content":[`+
				strings.Replace(line, "MIME", c.m.GetMimeType(), 1)+`]},`+hiBlocks+`]}`, list(r))
		})
	}
}

func resultMedia(m *compactordv1.MediaPart) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: m}}
}
