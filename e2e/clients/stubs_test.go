package clients_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/e2e/daemontest"
)

// root is the root of the repository.
const root = "../.."

// generation is the part of a buf.gen.yaml that the tests read.
type generation struct {
	Version string           `yaml:"version"`
	Inputs  []map[string]any `yaml:"inputs"`
	Plugins []map[string]any `yaml:"plugins"`
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The commands of docs/stubs.md with protoc work: they generate at least one file for each file of the contract, and
// none that needs the validation rules.
func TestDocumentedStubs(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs other programs, which do not change with ours")
	}
	protoc, buf := tool(t, "clients/python/.venv/bin/protoc"), tool(t, ".bin/buf")
	text, err := os.ReadFile(filepath.Join(root, "docs", "stubs.md"))
	require.NoError(t, err)
	contract, err := filepath.Glob(filepath.Join(root, "proto", "compactord", "v1", "*.proto"))
	require.NoError(t, err)
	require.NotEmpty(t, contract)
	languages := map[string]bool{}
	for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
		var documented generation
		require.NoError(t, yaml.Unmarshal([]byte(block[1]), &documented))
		local := documented
		local.Plugins = nil
		for _, plugin := range documented.Plugins {
			language, ok := plugin["protoc_builtin"].(string)
			if !ok {
				continue
			}
			languages[language] = true
			plugin["protoc_path"] = protoc
			local.Plugins = append(local.Plugins, plugin)
		}
		folder := t.TempDir()
		generate(t, buf, local, folder)
		for _, plugin := range local.Plugins {
			out, ok := plugin["out"].(string)
			require.True(t, ok)
			requireStubs(t, filepath.Join(folder, out), len(contract))
		}
	}
	require.Equal(t, map[string]bool{
		"java": true, "kotlin": true, "csharp": true, "ruby": true, "php": true, "cpp": true, "objc": true,
	}, languages)
}

// generate runs buf generate on the contract.
func generate(t *testing.T, buf string, template generation, folder string) {
	t.Helper()
	text, err := yaml.Marshal(template)
	require.NoError(t, err)
	path := filepath.Join(folder, "buf.gen.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, buf, "generate", "--template", path, "--output", folder)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// rules matches imports of the validation rules in generated code of any language.
var rules = regexp.MustCompile(`(?i)(buf|build\.buf)[./\\:]+validate`)

// requireStubs requires a folder to have a minimum of files, none of which needs the validation rules.
func requireStubs(t *testing.T, folder string, least int) {
	t.Helper()
	files := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		require.False(t, rules.Match(text), "%s needs the rules", path)
		return err
	}))
	require.GreaterOrEqual(t, files, least, folder)
}

// The Java example runs against the daemon, and prints the view: the appended messages in OpenAI's shape.
func TestJavaExample(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs other programs, which do not change with ours")
	}
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("not run: there is no %s on the PATH", program)
		}
	}
	d := daemontest.Start(t, daemontest.Options{})
	// The first run downloads the dependencies of the pom.
	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mvn", "--quiet", "--batch-mode", "--file", "examples/java/pom.xml",
		"compile", "exec:java", "-Dexec.args="+d.Address)
	cmd.Dir = root
	// By default Java writes in the encoding of the locale.
	cmd.Env = append(os.Environ(), "JAVA_TOOL_OPTIONS=-Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && unreachable.Match(out) {
		t.Skipf("not run: Maven has no network to download dependencies: %s", lastLines(string(out), 5))
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `{"role":"user","content":"Grüß Gott, Java!"}`)
}

// unreachable matches Maven's errors where there is no network. A version that does not exist is an error of the pom
// instead.
var unreachable = regexp.MustCompile(`(?i)unknown host|connection (refused|reset|timed out)|(connect|read) timed out|network is unreachable|` +
	`no route to host|name resolution|cannot access .* in offline mode`)

func TestUnreachable(t *testing.T) {
	const where = "Could not transfer artifact io.grpc:grpc-stub:pom:1.76.0 from/to central (https://repo.example/maven2): "
	for _, says := range []string{
		where + "repo.example: Unknown host repo.example: Temporary failure in name resolution",
		where + "Connect to repo.example:443 [repo.example/192.0.2.1] failed: Connection refused",
		where + "Connect to repo.example:443 failed: connect timed out",
		"Cannot access central (https://repo.example/maven2) in offline mode and the artifact io.grpc:grpc-stub:jar:1.76.0 " +
			"has not been downloaded from it before.",
	} {
		require.Regexp(t, unreachable, says)
	}
	for _, says := range []string{
		"Could not resolve dependencies for project compactord:example:jar:1: Could not find artifact " +
			"io.grpc:grpc-stub:jar:1.760.0 in central (https://repo.example/maven2)",
		"Plugin org.codehaus.mojo:exec-maven-plugin:99 or one of its dependencies could not be resolved",
		"io.grpc:grpc-stub:jar:1.760.0 was not found in https://repo.example/maven2 during a previous attempt. This failure was " +
			"cached in the local repository",
		"package compactord.v1.CompactionServiceOuterClass does not exist",
	} {
		require.NotRegexp(t, unreachable, says)
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// tool returns the path of a program that verify installs. It skips the test if the program is missing.
func tool(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join(root, path))
	require.NoError(t, err)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("not run: there is no %s; verify generate sets it up", path)
	}
	return full
}
