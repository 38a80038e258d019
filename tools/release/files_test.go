package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	commit = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	binary = bytes.Repeat([]byte("program"), 100_000)
)

func byName(files []entry) map[string]entry {
	named := map[string]entry{}
	for _, f := range files {
		named[f.name] = f
	}
	return named
}

func TestArchivesHoldTheirFiles(t *testing.T) {
	t.Parallel()
	files := []entry{{"a/program", binary, executable}, {"a/empty", nil, plain}, {"a/" + strings.Repeat("long/", 40) + "x", []byte("x"), plain}}
	packed, err := tarball(files, commit)
	require.NoError(t, err)
	unpacked, err := untar(packed)
	require.NoError(t, err)
	require.Len(t, unpacked, len(files))
	for i, f := range files {
		require.Equal(t, f.name, unpacked[i].name)
		require.Equal(t, f.mode, unpacked[i].mode)
		require.True(t, bytes.Equal(f.content, unpacked[i].content), f.name)
	}
	compressed, err := zipped(files[:2], commit)
	require.NoError(t, err)
	unzipped, err := unzip(compressed)
	require.NoError(t, err)
	require.True(t, bytes.Equal(binary, unzipped[0].content))
	for _, archive := range [][]byte{packed, compressed} {
		require.NotContains(t, string(archive), os.TempDir())
	}
	again, err := tarball(files, commit)
	require.NoError(t, err)
	require.True(t, bytes.Equal(packed, again))
}

// pureWheel is a wheel as a build backend makes it.
func pureWheel() []entry {
	return []entry{
		{"compactord/__init__.py", []byte("x = 1\n"), plain},
		{"compactord-0.1.0.dist-info/METADATA", []byte("Metadata-Version: 2.4\nName: compactord\nVersion: 0.1.0\n"), plain},
		{"compactord-0.1.0.dist-info/WHEEL", []byte("Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"), plain},
		{"compactord-0.1.0.dist-info/RECORD", []byte("old\n"), plain},
	}
}

func TestWheelsBringTheProgram(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		name, content, err := platformWheel(pureWheel(), p, binary, []byte("{}"), commit)
		require.NoError(t, err)
		require.Equal(t, "compactord-0.1.0-py3-none-"+strings.Join(p.wheelTags, ".")+".whl", name)
		files, err := unzip(content)
		require.NoError(t, err)
		named := byName(files)
		require.True(t, bytes.Equal(binary, named["compactord-0.1.0.data/scripts/"+p.program()].content), p)
		require.Equal(t, "{}", string(named["compactord-0.1.0.dist-info/sboms/compactord.cdx.json"].content))
		wheel := string(named["compactord-0.1.0.dist-info/WHEEL"].content)
		require.Contains(t, wheel, "Root-Is-Purelib: false\n")
		require.Equal(t, len(p.wheelTags), strings.Count(wheel, "Tag: "))
		requireRecorded(t, files, "compactord-0.1.0.dist-info/RECORD")
	}
	_, _, err := platformWheel([]entry{{"x", nil, plain}}, platforms[0], binary, nil, commit)
	require.ErrorContains(t, err, "WHEEL")
}

// requireRecorded requires that the list of a wheel has each file, and only these, with its digest.
func requireRecorded(t *testing.T, files []entry, name string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(byName(files)[name].content)), "\n")
	require.Len(t, lines, len(files))
	listed := map[string]string{}
	for _, line := range lines {
		path, rest, _ := strings.Cut(line, ",")
		listed[path] = rest
	}
	for _, f := range files {
		digest := sha256.Sum256(f.content)
		want := fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(digest[:]), len(f.content))
		if f.name == name {
			want = ","
		}
		require.Equal(t, want, listed[f.name], f.name)
	}
}

const nodeManifest = `{
  "name": "compactord",
  "version": "0.1.0",
  "license": "Apache-2.0",
  "type": "module",
  "repository": {
    "type": "git"
  },
  "bin": {
    "compactord": "dist/bin.js"
  }
}
`

func TestPackagesOfNpm(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		packed, err := platformPackage([]byte(nodeManifest), p, binary, []entry{{"LICENSE", []byte("free"), plain}}, commit)
		require.NoError(t, err)
		files, err := untar(packed)
		require.NoError(t, err)
		named := byName(files)
		require.Equal(t, "free", string(named["package/LICENSE"].content))
		program := named["package/bin/"+p.program()]
		require.True(t, bytes.Equal(binary, program.content))
		require.EqualValues(t, executable, program.mode)
		var m map[string]any
		require.NoError(t, json.Unmarshal(named["package/package.json"].content, &m))
		require.Equal(t, "@compactord/"+p.npmOS+"-"+p.npmCPU, m["name"])
		require.Equal(t, []any{p.npmOS}, m["os"])
		require.Equal(t, []any{p.npmCPU}, m["cpu"])
		require.Equal(t, "Apache-2.0", m["license"])
		require.Equal(t, "module", m["type"])
		require.Equal(t, map[string]any{"type": "git"}, m["repository"])
		require.NotContains(t, m, "bin", "the client's package has the command")
	}
	whole, err := withPrograms([]entry{{"package/package.json", []byte(nodeManifest), plain}, {"package/a", nil, plain}}, platforms, "0.1.0", commit)
	require.NoError(t, err)
	files, err := untar(whole)
	require.NoError(t, err)
	require.Len(t, files, 2)
	var m struct {
		Bin                  map[string]string
		OptionalDependencies map[string]string
	}
	require.NoError(t, json.Unmarshal(files[0].content, &m))
	require.Equal(t, "dist/bin.js", m.Bin["compactord"])
	require.Len(t, m.OptionalDependencies, len(platforms))
	require.Equal(t, "0.1.0", m.OptionalDependencies["@compactord/win32-x64"])
	_, err = withPrograms(nil, platforms, "0.1.0", commit)
	require.ErrorContains(t, err, "package.json")
}

func documentsOf(t *testing.T) *documents {
	t.Helper()
	unit, err := os.ReadFile(filepath.Join("..", "..", "packaging", "systemd", "compactord.service"))
	require.NoError(t, err)
	d := &documents{
		licence: []byte("free"), notices: []byte("others"), readme: []byte("read"),
		manual: []byte(".TH X"), sample: []byte("a: 1"), unit: unit, completions: map[string][]byte{},
	}
	for _, shell := range shells {
		d.completions[shell] = []byte("complete in " + shell)
	}
	return d
}

func TestPackagesOfLinux(t *testing.T) {
	t.Parallel()
	d := documentsOf(t)
	made := map[string][]byte{}
	for range 2 {
		r := &release{settings: &settings{out: t.TempDir()}, version: "0.1.0", at: commit}
		require.NoError(t, r.writeLinuxPackages(platforms[1], binary, d))
		for _, name := range []string{"compactord_0.1.0-1_arm64.deb", "compactord-0.1.0-1.aarch64.rpm"} {
			content, err := os.ReadFile(filepath.Join(r.out, name))
			require.NoError(t, err)
			if before := made[name]; before != nil {
				require.True(t, bytes.Equal(before, content), "%s differs", name)
			}
			made[name] = content
		}
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there is no dpkg-deb to read the package with")
	}
	file := filepath.Join(t.TempDir(), "x.deb")
	require.NoError(t, os.WriteFile(file, made["compactord_0.1.0-1_arm64.deb"], plain))
	root := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--extract", file, root).CombinedOutput()
	require.NoError(t, err, "%s", out)
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/compactord.service"))
	require.NoError(t, err)
	require.Contains(t, string(unit), "\nExecStart=/usr/bin/compactord serve --config /etc/compactord/compactord.yaml --store ")
	require.NotContains(t, string(unit), "ExecStart="+unitProgram)
	program, err := os.ReadFile(filepath.Join(root, "usr/bin/compactord"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(binary, program))
	for _, path := range []string{
		"etc/compactord/compactord.yaml", "usr/share/man/man1/compactord.1", "usr/share/bash-completion/completions/compactord",
		"usr/share/zsh/site-functions/_compactord", "usr/share/fish/vendor_completions.d/compactord.fish", "usr/share/doc/compactord/NOTICES.txt",
	} {
		require.FileExists(t, filepath.Join(root, path))
	}
}
