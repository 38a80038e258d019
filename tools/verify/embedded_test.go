package main

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackTokens(t *testing.T) {
	packed, err := packTokens([]byte("YQ== 0\nYmM= 1\n"))
	require.NoError(t, err)
	require.Equal(t, "\x01a\x02bc", string(packed))
	for _, published := range []string{"YQ== 1\n", "YQ==\n", "!!! 0\n", " 0\n", "YQ== 0\nYQ== 0\n"} {
		_, err := packTokens([]byte(published))
		require.ErrorContains(t, err, "line ", published)
	}
}

func TestStaleFilesAreTold(t *testing.T) {
	v := &verifier{root: t.TempDir()}
	require.NoError(t, write(v.root, "a/fresh", "1"))
	require.NoError(t, write(v.root, "a/stale", "1"))
	says := func(text string, err error) func(*verifier, context.Context) ([]byte, error) {
		return func(*verifier, context.Context) ([]byte, error) { return []byte(text), err }
	}
	var stale []string
	note := func(path string, fresh []byte) error {
		stale = append(stale, path+"="+string(fresh))
		return nil
	}
	require.NoError(t, v.eachStale(t.Context(), []embeddedFile{
		{"a/fresh", says("1", nil)}, {"a/stale", says("2", nil)}, {"a/missing", says("3", nil)},
	}, note))
	require.Equal(t, []string{"a/stale=2", "a/missing=3"}, stale)
	require.ErrorIs(t, v.eachStale(t.Context(), []embeddedFile{{"a/fresh", says("", os.ErrNotExist)}}, note), os.ErrNotExist)
}
