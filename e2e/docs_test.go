package e2e_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// documents returns the paths of all documents, relative to the root of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	require.NoError(t, err)
	paths := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, path := range found {
		paths = append(paths, "docs/"+filepath.Base(path))
	}
	return paths
}

// sources returns the text of a package's Go files, without tests.
func sources(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(repo, folder), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, all.String())
	return all.String()
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks checks each link within the repository, with its heading.
func TestLinks(t *testing.T) {
	for _, path := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(document(t, path), -1) {
			target, err := url.Parse(match[1])
			require.NoError(t, err)
			if target.IsAbs() {
				continue
			}
			to := path
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(path), target.Path)
			}
			_, err = os.Stat(filepath.Join(repo, to))
			require.NoError(t, err, "%s links to %s", path, match[1])
			if target.Fragment != "" {
				require.Contains(t, anchors(document(t, to)), target.Fragment, "%s links to %s", path, match[1])
			}
		}
	}
}

func anchors(text string) []string {
	var found []string
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		slug := noSlug.ReplaceAllString(strings.ToLower(match[1]), "")
		found = append(found, strings.ReplaceAll(slug, " ", "-"))
	}
	return found
}

// TestIndex requires that the index lists all documents.
func TestIndex(t *testing.T) {
	index := document(t, "docs/README.md")
	for _, path := range documents(t) {
		if name, ok := strings.CutPrefix(path, "docs/"); ok && name != "README.md" {
			require.Contains(t, index, "("+name+")")
		}
	}
}

// TestErrorReasons compares the table of reasons with the contract, and with the reasons that the program can send.
func TestErrorReasons(t *testing.T) {
	contract := document(t, "proto/compactord/v1/error.proto")
	// The table of codes names all reasons, whether sent or not.
	program := strings.ReplaceAll(sources(t, "service"), document(t, "service/apierror/code.go"), "")
	table := make(map[string][]string)
	for _, row := range rows(t, document(t, "docs/api.md"), "reason", "status") {
		table[strings.Trim(row[0], "`")] = row
	}
	values := compactordv1.ErrorReason(0).Descriptor().Values()
	require.Len(t, table, values.Len()-1)
	for i := 1; i < values.Len(); i++ {
		name := string(values.Get(i).Name())
		short := strings.TrimPrefix(name, "ERROR_REASON_")
		row := table[short]
		require.NotNil(t, row, "no row for %s", short)
		status := regexp.MustCompile(`// ([A-Z_]+)[.;,:][^\n]*\n(?:  //[^\n]*\n)*  ` + name + ` =`).FindStringSubmatch(contract)
		require.NotNil(t, status, "%s: the comment in the contract does not begin with a status", name)
		require.Equal(t, status[1], row[1], short)
		sent := regexp.MustCompile(`ErrorReason_` + name + `\b`).MatchString(program)
		require.Equal(t, sent, row[3] != "not yet", "%s: is it sent?", short)
	}
}

// TestCalls requires that each call of the contract has a row in the document.
func TestCalls(t *testing.T) {
	api := document(t, "docs/api.md")
	var named []string
	for _, row := range rows(t, api, "call", "what for") {
		named = append(named, strings.Trim(row[0], "`"))
	}
	var calls []string
	for _, file := range []protoreflect.FileDescriptor{
		compactordv1.File_compactord_v1_session_service_proto, compactordv1.File_compactord_v1_compaction_service_proto,
		compactordv1.File_compactord_v1_store_service_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			calls = append(calls, string(methods.Get(i).Name()))
		}
	}
	require.ElementsMatch(t, calls, named)

	// All fields of the contract are implemented. An exception would have to be documented.
	require.Empty(t, regexp.MustCompile(`NotImplemented\("([a-z_]+)"\)`).FindAllString(sources(t, "service"), -1))
}

// TestStrategies requires that the document lists each strategy of the contract, and says which are implemented.
func TestStrategies(t *testing.T) {
	text := document(t, "docs/strategies.md")
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	kinds := (*compactordv1.Strategy)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	seen := 0
	for _, row := range rows(t, text, "strategy", "what it does") {
		for _, name := range strings.Split(row[0], ", ") {
			name = strings.Trim(name, "`")
			require.NotNil(t, kinds.ByName(protoreflect.Name(name)), name)
			missing := strings.Contains(row[2], "UNIMPLEMENTED")
			if name != "custom" {
				require.Equal(t, slices.Contains(registry.Names(), name), !missing, name)
			}
			seen++
		}
	}
	require.Equal(t, kinds.Len(), seen)
}

// TestPresets computes the triggers of the presets in the document. The presets' other numbers are in a generated
// document.
func TestPresets(t *testing.T) {
	var seen []string
	for _, row := range rows(t, document(t, "docs/strategies.md"), "preset", "window") {
		name := strings.Trim(row[0], "`")
		seen = append(seen, name)
		p, err := strategies.Preset(name, strategies.Limits{Window: number(t, row[1])})
		require.NoError(t, err)
		trigger, _ := session.TriggerTokens(p)
		require.Equal(t, number(t, row[2]), trigger, "%s, window %s", name, row[1])
	}
	require.Equal(t, strategies.PresetNames(), slices.Compact(seen))
}

// number parses a figure of a table. `unknown` and `never` are 0.
func number(t *testing.T, cell string) uint32 {
	t.Helper()
	if cell == "unknown" || cell == "never" {
		return 0
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(cell, ",", ""), 10, 32)
	require.NoError(t, err)
	return uint32(n)
}

var (
	flagLine   = regexp.MustCompile(`(?m)^ +(?:-\w, )?--(\[no-\])?([a-z-]+)`)
	ofVariable = regexp.MustCompile(`\(\$([A-Z_]+)\)`)
	ofDefault  = regexp.MustCompile(`\(default: ([^)]*)\)`)
)

// TestConfiguration compares the table of settings with the program's help.
func TestConfiguration(t *testing.T) {
	table := rows(t, document(t, "docs/configuration.md"), "flag", "environment")
	help, _ := run(t, 0, "serve", "--help")
	at := flagLine.FindAllStringSubmatchIndex(help, -1)
	var keys []string
	seen := 0
	for i, match := range at {
		flag := help[match[4]:match[5]]
		if flag == "help" {
			continue
		}
		end := len(help)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		output := strings.Join(strings.Fields(help[match[0]:end]), " ")
		row := slices.IndexFunc(table, func(r []string) bool { return strings.HasPrefix(r[0], "`--"+flag+"`") })
		require.GreaterOrEqual(t, row, 0, "no row for --%s", flag)
		cells := table[row]
		seen++
		require.Equal(t, match[2] >= 0, strings.Contains(cells[0], "`--no-"+flag+"`"), flag)
		variable := ofVariable.FindStringSubmatch(output)
		require.NotNil(t, variable, output)
		require.Equal(t, "`"+variable[1]+"`", cells[1])
		if flag != "config" {
			key := strings.ReplaceAll(flag, "-", "_")
			require.Equal(t, "`"+key+"`", cells[2])
			keys = append(keys, key)
		}
		standard := ofDefault.FindStringSubmatch(output)
		switch {
		case flag == "store" || flag == "token-file": // depend on the user; a paragraph describes them
		case standard == nil:
			require.Empty(t, cells[3], flag)
		default:
			require.Equal(t, "`"+standard[1]+"`", cells[3], flag)
		}
	}
	require.Len(t, table, seen)

	// The error about an unknown key lists the known ones.
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("no_such_key: 1\n"), 0o600))
	_, output := run(t, 2, "serve", "--config", file)
	_, known, ok := strings.Cut(strings.SplitN(output, "\n", 2)[0], "there are ")
	require.True(t, ok, output)
	require.ElementsMatch(t, append(keys, "jwt", "overflow", "policies", "quotas", "retention", "summarizers", "tenant_policies"), strings.Split(known, ", "))
}

// TestConfigurationFile reads the example file as it is, except for folders that only an operator can create.
func TestConfigurationFile(t *testing.T) {
	found := blocks(t, document(t, "docs/configuration.md"), "A file")
	folder := t.TempDir()
	text := regexp.MustCompile(`/(run|var/lib)/compactord`).ReplaceAllString(found[0].text, folder)
	require.NotEqual(t, found[0].text, text)
	// A wrong flag stops the daemon after the file was read and found right.
	file := filepath.Join(folder, "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	_, output := run(t, 2, "serve", "--config", file, "--log-level", "wrong")
	require.Equal(t, 1, strings.Count(output, "wrong"), output)
	require.NotContains(t, output, "listen")
	require.NotContains(t, output, "config")
}

// TestModels reads the example of models as it is, and compares the table of their settings with the program's.
func TestModels(t *testing.T) {
	text := document(t, "docs/configuration.md")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "openai.key"), []byte("not-a-key\n"), 0o600))
	t.Setenv("ANTHROPIC_API_KEY", "not-a-key")
	file := filepath.Join(folder, "settings.yaml")
	example := strings.ReplaceAll(blocks(t, text, "Models")[0].text, "/etc/compactord", folder)
	require.NoError(t, os.WriteFile(file, []byte(example), 0o600))
	listed, _ := run(t, 0, "summarizers", "--config", file)
	for _, name := range []string{"extractive", "fast", "thorough", "local"} {
		require.Contains(t, listed, "\n"+name+" ")
	}
	require.NotContains(t, listed, "not-a-key")

	require.NoError(t, os.WriteFile(file, []byte("summarizers: {a: {no_such_key: 1}}\n"), 0o600))
	_, output := run(t, 2, "serve", "--config", file)
	_, known, ok := strings.Cut(strings.SplitN(output, "\n", 2)[0], "there are ")
	require.True(t, ok, output)
	var keys []string
	for _, row := range rows(t, text, "key", "default") {
		keys = append(keys, strings.Trim(row[0], "`"))
	}
	require.Equal(t, strings.Split(known, ", "), keys)
}
