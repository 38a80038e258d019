package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const lockFile = `# This file was made by a program.
typing-extensions==4.15.0 \
    --hash=sha256:aa \
    --hash=sha256:bb
    # via one
uvloop==0.21.0 ; sys_platform != 'win32' and python_full_version >= '3.11' \
    --hash=sha256:cc
    # via two==3
`

func TestUnpinned(t *testing.T) {
	require.Equal(t,
		"typing-extensions\nuvloop ; sys_platform != 'win32' and python_full_version >= '3.11'\n", unpinned(lockFile))
}

func TestDifferences(t *testing.T) {
	require.Equal(t, []string{"nothing"}, differences(lockFile, "typing_extensions==4.15.0\npip==26.0\n"))
	require.Equal(t, []string{"typing-extensions 4.16.0, pinned 4.15.0"},
		differences(lockFile, "pip==26.0\ntyping_extensions==4.16.0\nuvloop==0.21.0"))
}
