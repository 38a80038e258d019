package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const compiled = `{"file": [
  {"name": "other.proto", "messageType": [{"name": "Other"}]},
  {"name": "a.proto", "package": "p.v1", "messageType": [
    {"name": "One", "field": [{"name": "first"}, {"name": "second"}],
     "nestedType": [{"name": "In", "field": [{"name": "deep"}]}]},
    {"name": "Two", "field": [{"name": "third"}]}],
   "sourceCodeInfo": {"location": [
    {"path": [4, 0], "leadingComments": " Of the message.\n"},
    {"path": [4, 0, 2, 0], "leadingComments": " In two\n lines.\n"},
    {"path": [4, 0, 3, 0, 2, 0], "leadingComments": " Deep.\n"},
    {"path": [4, 1, 2, 0], "leadingComments": " Third.\n"}]}}]}`

func TestFieldComments(t *testing.T) {
	comments, err := fieldComments([]byte(compiled), "a.proto")
	require.NoError(t, err)
	require.Equal(t, []comment{
		{"p.v1.One.first", "In two lines."}, {"p.v1.One.second", ""}, {"p.v1.One.In.deep", "Deep."}, {"p.v1.Two.third", "Third."},
	}, comments)
	_, err = fieldComments([]byte(compiled), "b.proto")
	require.ErrorContains(t, err, "no b.proto")
	_, err = fieldComments([]byte("{"), "a.proto")
	require.Error(t, err)
}

func TestStaleDescriptions(t *testing.T) {
	v := &verifier{root: t.TempDir()}
	require.True(t, v.staleDescriptions([]byte("package strategies\n")))
	require.NoError(t, os.MkdirAll(filepath.Dir(v.descriptionsPath()), 0o750))
	require.NoError(t, os.WriteFile(v.descriptionsPath(), []byte("package strategies\n"), 0o600))
	require.False(t, v.staleDescriptions([]byte("package strategies\n")))
	require.True(t, v.staleDescriptions([]byte("package other\n")))
}
