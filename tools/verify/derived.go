package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of which the clients hold copies, since packages cannot use files outside their own folder.
const (
	licence    = "LICENSE"
	agentTools = "clients/tools.json"
	// modelTexts are the texts of the clients for the agent's model.
	modelTexts = "clients/texts.json"
)

const (
	pythonSource = "clients/python/src/compactord"
	tsSource     = "clients/ts/src"
)

const generatedFrom = "// Generated from %s by `go run -C tools ./verify generate`. Do not edit.\n"

// pythonCode returns the places of the Python stubs. A plugin generates them all, with the module that holds the whole
// contract.
func (v *verifier) pythonCode(context.Context, string) ([]place, error) {
	return []place{{path: pythonSource + "/v1", suffixes: []string{".py", ".pyi"}}}, nil
}

// fromPython generates the synchronous Python client from the asynchronous one, and the API document from both. With
// --check it only compares.
func (v *verifier) fromPython(ctx context.Context, args ...string) error {
	client := pythonClient()
	if _, lack := client.language(v, ctx); lack != "" {
		return ctx.Err()
	}
	for _, script := range []string{"scripts/unasync.py", "scripts/api_docs.py"} {
		err := v.run(ctx, command{
			args:   slices.Concat([]string{v.venv("python"), script}, args),
			folder: client.folder,
			hint:   "`go run -C tools ./verify generate` writes it",
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// typescriptCode generates the module that exports the whole contract.
func (v *verifier) typescriptCode(_ context.Context, folder string) ([]place, error) {
	const contract = "gen/compactord/v1"
	stubs, err := fs.Glob(os.DirFS(filepath.Join(folder, filepath.FromSlash(tsSource))), contract+"/*_pb.ts")
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, generatedFrom, contract)
	text.WriteString("\n/**\n * The messages, enums and services of the contract, as protobuf-es generates them.\n *\n * @module\n */\n")
	for _, stub := range stubs {
		fmt.Fprintf(&text, "export * from \"./%s.js\";\n", strings.TrimSuffix(stub, ".ts"))
	}
	places := []place{{path: tsSource + "/gen", suffixes: []string{"_pb.ts"}}, {path: tsSource + "/v1.ts"}}
	return places, write(folder, tsSource+"/v1.ts", text.String())
}

// copies writes the clients' copies. It needs no tools.
func (v *verifier) copies(folder string) ([]place, error) {
	terms, err := os.ReadFile(v.in(licence))
	if err != nil {
		return nil, err
	}
	tools, err := os.ReadFile(v.in(agentTools))
	if err != nil {
		return nil, err
	}
	texts, err := os.ReadFile(v.in(modelTexts))
	if err != nil {
		return nil, err
	}
	var places []place
	for path, text := range map[string]string{
		"clients/python/LICENSE":     string(terms),
		"clients/ts/LICENSE":         string(terms),
		pythonSource + "/tools.json": string(tools),
		pythonSource + "/texts.json": string(texts),
		tsSource + "/gen/tools.ts": fmt.Sprintf(generatedFrom, agentTools) +
			"export const definitions = " + strings.TrimSpace(string(tools)) + " as const;\n",
		tsSource + "/gen/texts.ts": fmt.Sprintf(generatedFrom, modelTexts) +
			"export const texts = " + strings.TrimSpace(string(texts)) + " as const;\n",
	} {
		places = append(places, place{path: path})
		if err := write(folder, path, text); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return places, nil
}

func write(root, file, text string) error {
	target := filepath.Join(root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	return os.WriteFile(target, []byte(text), 0o644)
}
