package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTypeScriptCode(t *testing.T) {
	folder := t.TempDir()
	for _, stub := range []string{"compactord/v1/b_pb.ts", "compactord/v1/a_pb.ts", "google/rpc/error_details_pb.ts"} {
		require.NoError(t, write(folder, tsSource+"/gen/"+stub, ""))
	}
	places, err := (&verifier{}).typescriptCode(t.Context(), folder)
	require.NoError(t, err)
	made, err := readStubs(folder, places)
	require.NoError(t, err)
	require.Len(t, made, 4)
	require.Regexp(t, `(?s)^// Generated from .*\n \*/\n`+
		`export \* from "\./gen/compactord/v1/a_pb\.js";\nexport \* from "\./gen/compactord/v1/b_pb\.js";\n$`,
		string(made[tsSource+"/v1.ts"]))
}

func TestCopies(t *testing.T) {
	v, folder := &verifier{root: t.TempDir()}, t.TempDir()
	_, err := v.copies(folder)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, write(v.root, "LICENSE", "the terms"))
	require.NoError(t, write(v.root, "clients/tools.json", "[{\"name\": \"recall\"}]\n"))
	require.NoError(t, write(v.root, "clients/texts.json", "{\"no_hits\": \"Nothing.\"}\n"))
	places, err := v.copies(folder)
	require.NoError(t, err)
	made, err := readStubs(folder, places)
	require.NoError(t, err)
	require.Equal(t, stubs{
		"clients/python/LICENSE":                   []byte("the terms"),
		"clients/ts/LICENSE":                       []byte("the terms"),
		"clients/python/src/compactord/tools.json": []byte("[{\"name\": \"recall\"}]\n"),
		"clients/python/src/compactord/texts.json": []byte("{\"no_hits\": \"Nothing.\"}\n"),
		"clients/ts/src/gen/texts.ts": []byte("// Generated from clients/texts.json by " +
			"`go run -C tools ./verify generate`. Do not edit.\n" +
			"export const texts = {\"no_hits\": \"Nothing.\"} as const;\n"),
		"clients/ts/src/gen/tools.ts": []byte("// Generated from clients/tools.json by " +
			"`go run -C tools ./verify generate`. Do not edit.\n" +
			"export const definitions = [{\"name\": \"recall\"}] as const;\n"),
	}, made)
}
