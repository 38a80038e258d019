package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChosenPlatforms(t *testing.T) {
	t.Parallel()
	all, err := chosenPlatforms(nil)
	require.NoError(t, err)
	require.Equal(t, platforms, all)
	some, err := chosenPlatforms([]string{"windows/amd64", "linux/arm64"})
	require.NoError(t, err)
	require.Equal(t, []platform{platforms[4], platforms[1]}, some)
	_, err = chosenPlatforms([]string{"plan9/amd64"})
	require.ErrorContains(t, err, "plan9/amd64")
}

func TestBothClientsHaveOneVersion(t *testing.T) {
	t.Parallel()
	_, err := versionOf(filepath.Join("..", ".."))
	require.NoError(t, err)

	folder := t.TempDir()
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, path), []byte(text), plain))
	}
	write("clients/python/pyproject.toml", "[project]\nversion = \"1.2.3\"\n")
	write("clients/ts/package.json", `{"version": "1.2.4"}`)
	_, err = versionOf(folder)
	require.EqualError(t, err, "clients/python has version 1.2.3, clients/ts 1.2.4")
	write("clients/ts/package.json", `{"version": "1.2.3"}`)
	version, err := versionOf(folder)
	require.NoError(t, err)
	require.Equal(t, "1.2.3", version)
}

// A part without a licence cannot be given on.
func TestEachPartHasALicence(t *testing.T) {
	t.Parallel()
	r := &release{settings: &settings{repository: filepath.Join("..", "..")}}
	modules, err := r.modules(t.Context(), platforms)
	require.NoError(t, err)
	text, err := r.notices(t.Context(), platforms)
	require.NoError(t, err)
	for _, m := range modules {
		require.Contains(t, string(text), "\n"+m.Path+" "+m.Version+"\n")
	}
	for _, part := range []string{"go.etcd.io/bbolt v", "third_party/gitleaks\n", "Go's standard library go1."} {
		require.Contains(t, string(text), "\n"+part)
	}
	_, err = licencesIn(t.TempDir())
	require.ErrorContains(t, err, "no licence")
}

// A program's list of parts has what the program says, and is the same each time.
func TestPartsOfAProgram(t *testing.T) {
	t.Parallel()
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	list, err := partsOf(self, commit)
	require.NoError(t, err)
	again, err := partsOf(self, commit)
	require.NoError(t, err)
	require.Equal(t, string(list), string(again))
	var parts struct {
		BOMFormat  string
		Metadata   struct{ Timestamp string }
		Components []struct{ Name, Version, Purl string }
	}
	require.NoError(t, json.Unmarshal(list, &parts))
	require.Equal(t, "CycloneDX", parts.BOMFormat)
	require.Equal(t, "2026-05-04T03:02:01Z", parts.Metadata.Timestamp)
	for _, c := range parts.Components {
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.Purl)
	}
	_, err = partsOf(binary, commit)
	require.Error(t, err)
}

// Two runs on one commit, in two clones, make the same files, and the list of digests is right.
func TestReleasesAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a release twice, which takes minutes: run without -short")
	}
	origin, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	var sums [2][]byte
	for i := range sums {
		clone, out := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "dist")
		r := &release{settings: &settings{repository: origin}}
		_, err = r.output(t.Context(), "git", "clone", "--quiet", origin, clone)
		require.NoError(t, err)
		// The second clone is one of the first, since commits may come meanwhile.
		origin = clone
		require.NoError(t, run(t.Context(), []string{"--repository", clone, "--out", out, "--clients=false", "--platforms", "linux/amd64,windows/amd64"}))
		sums[i], err = os.ReadFile(filepath.Join(out, sumsName))
		require.NoError(t, err)
		program := archived(t, out, "compactord-*-linux-amd64.tar.gz")
		require.Less(t, 1<<20, len(program))
		require.False(t, bytes.Contains(program, []byte(clone)), "a path of this machine")
	}
	require.Equal(t, string(sums[0]), string(sums[1]))
	require.Equal(t, 7, strings.Count(string(sums[0]), "\n"))
}

// archived returns the program of an archive.
func archived(t *testing.T, folder, pattern string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1)
	content, err := os.ReadFile(found[0])
	require.NoError(t, err)
	files, err := untar(content)
	require.NoError(t, err)
	for _, f := range files {
		if filepath.Base(f.name) == "compactord" {
			return f.content
		}
	}
	require.Fail(t, "no program in "+found[0])
	return nil
}
