package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The service config of docs/stubs.md retries only calls that are safe to repeat, and names existing calls.
func TestDocumentedServiceConfig(t *testing.T) {
	type method struct{ Service, Method string }
	var config struct {
		MethodConfig []struct {
			Name        []method
			RetryPolicy map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(documented(t, "(?s)```json\n(.*?)```")), &config))
	resent := map[method]bool{}
	for _, entry := range config.MethodConfig {
		for _, name := range entry.Name {
			resent[name] = entry.RetryPolicy != nil
		}
	}
	var not []string
	services := 0
	for _, file := range []protoreflect.FileDescriptor{
		compactordv1.File_compactord_v1_session_service_proto, compactordv1.File_compactord_v1_compaction_service_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			services++
			require.True(t, resent[method{Service: string(service.FullName())}], service.FullName())
			for j := range service.Methods().Len() {
				name := method{string(service.FullName()), string(service.Methods().Get(j).Name())}
				if again, named := resent[name]; named && !again {
					not = append(not, name.Method)
				}
			}
		}
	}
	// Streams are resumed, not repeated. A revert with a summary is UNAVAILABLE when its summarizer is.
	want := []string{"DeleteSession", "RevertToCheckpoint", "WatchSession", "Compact", "CancelCompaction"}
	require.ElementsMatch(t, want, not)
	require.Len(t, resent, services+len(want))
}

// The commands with protoc run in a clone without generated files.
func TestDocumentedProtoc(t *testing.T) {
	protoc := tool(t, "clients/python/.venv/bin/protoc")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("not run: there is no sh on the PATH")
	}
	clone := t.TempDir()
	for _, folder := range []string{"proto", "third_party"} {
		require.NoError(t, os.CopyFS(filepath.Join(clone, folder), os.DirFS(filepath.Join(root, folder))))
	}
	cmd := exec.CommandContext(t.Context(), shell, "-ec", documented(t, "(?s)```sh\n([^`]*\nprotoc .*?)```"))
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(protoc)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.FileExists(t, filepath.Join(clone, "gen", "compactord", "v1", "session_service_pb.rb"))
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	require.NoError(t, err)
	require.Contains(t, string(ignored), "\n/gen/\n")
}

// documented returns the content of a block of docs/stubs.md.
func documented(t *testing.T, block string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "stubs.md"))
	require.NoError(t, err)
	found := regexp.MustCompile(block).FindSubmatch(text)
	require.NotNil(t, found, block)
	return string(found[1])
}
