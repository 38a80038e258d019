package anthropic_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
)

// FuzzParse parses any input. What is accepted can be stored, is exported unchanged, and can go into a request.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"everything.json", "oddities.json", "response.json"} {
		f.Add(readFile(f, name))
	}
	for _, c := range ruleCases {
		for _, raw := range append(c.breaks[:len(c.breaks):len(c.breaks)], c.keeps...) {
			if len(raw) < 1<<16 {
				f.Add([]byte(raw))
			}
		}
	}
	// What was between a program's calls and the user's message was dropped, and the two became neighbours.
	f.Add([]byte(`[` + hi + `,` + program + `,{"role":"user"},` + says("assistant", `{"type":"x_tool_result"}`) + `,` + hi + `]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := anthropic.New()
		split, err := d.Split(raw)
		if err == nil {
			d.Validate(split, dialect.Request)
		}
		parsed, refused := d.Parse(raw)
		if refused != nil {
			require.ErrorAs(t, refused, new(*dialect.InputError))
			return
		}
		require.NoError(t, err)
		for _, m := range parsed.Messages {
			require.NoError(t, protovalidate.Validate(m))
			_, err := proto.Marshal(m)
			require.NoError(t, err)
		}
		r := asWritten(t, parsed.Messages)
		dialecttest.RequireSame(t, d, split, &r.List)
		dialecttest.RequireRendered(t, d, dialecttest.ViewOf(parsed.Messages))
	})
}
