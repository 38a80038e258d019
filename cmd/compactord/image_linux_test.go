package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// image is what packaging/Dockerfile makes: a root file system with the program alone, and a volume.
type image struct {
	root, volume     string
	mount            string
	user             int
	env              []string
	entrypoint, args []string
}

// imageUser owns nothing but the volume.
const imageUser = 65532

// inImage is a shell's script for a name space of its own. It mounts the root file system of the first argument
// read-only, with the volume of the second at the place of the third, and becomes the rest in it.
const inImage = `root=$1 volume=$2 place=$3 user=$4 && shift 4 && mount --bind "$root" "$root" && mount --bind "$volume" "$root$place" &&
mount -o remount,bind,ro "$root" && exec chroot --userspec="$user:$user" "$root" "$@"`

// builtImage builds the program as the Dockerfile does, and lays its last stage out in a folder.
func builtImage(t *testing.T) *image {
	t.Helper()
	content, err := os.ReadFile("../../packaging/Dockerfile")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(content), "\\\n", " ")
	_, last, found := strings.Cut(text, "distroless/static")
	require.True(t, found)
	part := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.NotNil(t, m, pattern)
		return m[1]
	}
	i := &image{root: t.TempDir(), volume: t.TempDir(), mount: part(`(?m)^VOLUME (\S+)$`), user: imageUser}
	require.Equal(t, "65532:65532", part(`(?m)^USER (\S+)$`))
	i.env = regexp.MustCompile(`[A-Z_]+=\S+`).FindAllString(regexp.MustCompile(`(?m)^ENV .*$`).FindString(last), -1)
	require.NotEmpty(t, i.env)
	require.NoError(t, json.Unmarshal([]byte(part(`(?m)^ENTRYPOINT (\[.*\])$`)), &i.entrypoint))
	require.NoError(t, json.Unmarshal([]byte(part(`(?m)^CMD (\[.*\])$`)), &i.args))

	program := filepath.Join(i.root, i.entrypoint[0])
	for _, folder := range []string{filepath.Dir(program), filepath.Join(i.root, i.mount)} {
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	build := exec.CommandContext(t.Context(), "go", append(append([]string{"build"},
		strings.Fields(part(`go build (.*) -o /compactord \./cmd/compactord`))...), "-o", program, ".")...)
	build.Env = append(os.Environ(), "CGO_ENABLED="+part(`RUN CGO_ENABLED=(\d)`))
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Chown(i.volume, i.user, i.user))
	// A container's user need not come through the folders of the test.
	for _, folder := range []string{i.root, i.volume} {
		for path := folder; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
			require.NoError(t, os.Chmod(path, 0o755))
		}
	}
	return i
}

// command returns the program in the image, with arguments instead of the image's own.
func (i *image) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	where := []string{"--mount", "sh", "-c", inImage, "sh", i.root, i.volume, i.mount, fmt.Sprint(i.user)}
	cmd := exec.CommandContext(t.Context(), "unshare", append(append(where, i.entrypoint...), args...)...)
	cmd.Env = i.env
	return cmd
}

// ran runs the program in the image to its end.
func (i *image) ran(t *testing.T, args ...string) string {
	t.Helper()
	out, err := i.command(t, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", args, out)
	return string(out)
}

// files returns the files of a folder with their owners.
func files(t *testing.T, folder string) map[string]uint32 {
	t.Helper()
	owners := map[string]uint32{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var info syscall.Stat_t
		err = syscall.Lstat(path, &info)
		owners[strings.TrimPrefix(path, folder)] = info.Uid
		return err
	}))
	return owners
}

// The image needs nothing but the program and its volume: no user database, no folder for temporary files, no writable
// root file system, no rights.
func TestImageRunsOnReadOnlyRoot(t *testing.T) {
	if testing.Short() {
		t.Skip("the program is compiled anew, which takes minutes: run without -short")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as the image's user")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("name spaces cannot be made here: %v: %s", err, out)
	}
	i := builtImage(t)
	before := files(t, i.root)
	addr := ""
	serve := func() *exec.Cmd {
		cmd := i.command(t, append(i.args, "--listen", "127.0.0.1:0")...)
		cmd.Stderr = os.Stderr
		addr = servedBy(t, cmd)
		return cmd
	}
	stop := func(cmd *exec.Cmd) {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	}
	daemon := serve()
	talk := filepath.Join(t.TempDir(), "talk.jsonl")
	require.NoError(t, os.WriteFile(talk, []byte(sample.Talk(120)), 0o644))
	token := []string{"--token-file", filepath.Join(i.volume, "token")}
	outside := func(args ...string) string {
		return programtest.Ran(t, append(append(args, "--addr", addr), token...)...).Ends(t, terminal.ExitDone).Out
	}
	outside("import", talk, "--session", "s")
	i.ran(t, "healthcheck", "--addr", addr)
	i.ran(t, "compact", "--session", "s", "--addr", addr)
	i.ran(t, "backup", i.mount+"/copy.db", "--addr", addr)
	view := i.ran(t, "view", "--session", "s", "--addr", addr)
	stop(daemon)
	i.ran(t, "defrag", "--store", i.mount+"/compactord.db")
	i.ran(t, "check", "--store", i.mount+"/copy.db")
	daemon = serve()
	require.Equal(t, view, i.ran(t, "view", "--session", "s", "--addr", addr))
	stop(daemon)

	require.Equal(t, before, files(t, i.root), "the root file system is as it was")
	for path, owner := range files(t, i.volume) {
		require.EqualValues(t, i.user, owner, path)
	}
}
