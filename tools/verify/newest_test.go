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
	project := `tests = ["typing-extensions>=4", "uvloop[dev,docs]>=0.21; python_version >= '3.11'", "other[all]"]`
	require.Equal(t,
		"typing-extensions\nuvloop[dev,docs] ; sys_platform != 'win32' and python_full_version >= '3.11'\n",
		unpinned(lockFile, project))
}

func TestDifferences(t *testing.T) {
	require.Equal(t, []string{"nothing"}, differences(lockFile, "typing_extensions==4.15.0\npip==26.0\n"))
	require.Equal(t, []string{"typing-extensions 4.16.0, pinned 4.15.0"},
		differences(lockFile, "pip==26.0\ntyping_extensions==4.16.0\nuvloop==0.21.0"))
}

func TestDifferencesOfNode(t *testing.T) {
	own := nodePackage{
		Dependencies: map[string]string{"ai": "7.0.1", "zod": "4.6.7"},
		DevDependencies: map[string]string{
			"typescript": "5.9.3", "@types/node": "20.0.0", "@connectrpc/connect": "2.1.2", "fast-check": "4.11.0",
		},
	}
	pinned := own.pinned()
	require.Equal(t, []string{"ai@>=7.0.1", "fast-check@>=4.11.0", "zod@>=4.6.7"}, newest(pinned))
	require.Equal(t, map[string]string{"ai": "7.0.1", "zod": "4.6.7", "fast-check": "4.11.0"}, pinned)
	require.Equal(t, []string{"nothing"}, differencesOfNode(pinned, pinned))
	require.Equal(t, []string{"ai 7.1.0, pinned 7.0.1"},
		differencesOfNode(pinned, map[string]string{"ai": "7.1.0", "zod": "4.6.7", "fast-check": "4.11.0"}))
}
