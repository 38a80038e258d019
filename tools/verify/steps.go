package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// step is a word on the command line.
type step struct {
	name string
	help string
	run  func(*verifier, context.Context) error
	// from is the lowest tier that runs the step.
	from tier
}

// tier says how much a run does.
type tier int

const (
	// quick is what every change must pass: all tests, with a sample of the recordings and of the generated sessions.
	quick tier = iota
	// full is everything.
	full
	// named is for steps that only run if they are named.
	named
)

func steps() []step {
	return []step{
		{"tools", "build the pinned tools into .bin and install those of the clients, if that is not done yet", (*verifier).installTools, quick},
		{"lint", "go mod tidy, buf, golangci-lint, the linter of the OpenAPI document and the check of the inspector's page, without changing anything", (*verifier).lint, quick},
		{"check-generate", "fail if the committed files differ from what `generate` writes", (*verifier).checkGenerate, quick},
		{"test", "run the Go tests with -short, concurrent packages under the race detector; full: without -short, then all under the race detector", (*verifier).runTests, quick},
		{"python", "lint the Python client, check its types and run its tests; needs Python 3.10", (*verifier).checkPython, quick},
		{"typescript", "the same for the TypeScript client; needs Node 20 with npm", (*verifier).checkTypeScript, quick},
		{"frameworks", "check the adapters of the clients with the real packages of their frameworks; full: at length", (*verifier).checkFrameworks, full},
		{"fuzz", fuzzHelp(), (*verifier).fuzz, full},
		{"newest-frameworks", "the step frameworks with the newest releases of the frameworks", (*verifier).checkNewestFrameworks, named},
		{"generate", "generate the code of all languages, and the files that are embedded", (*verifier).generate, named},
		{"freeze", "add new fields and calls of the contract to the frozen contract", (*verifier).freeze, named},
		{"fmt", "format the code of all languages, and the protos", (*verifier).format, named},
	}
}

// stepsOf returns the steps of a tier.
func stepsOf(t tier) []step {
	return slices.DeleteFunc(steps(), func(s step) bool { return s.from > t })
}

func usage() string {
	var text strings.Builder
	text.WriteString("Usage: go run -C tools ./verify [full] [STEP...] [PACKAGE...] [-- FLAG...]\n\nSteps:\n")
	for _, s := range steps() {
		fmt.Fprintf(&text, "  %-16s %s\n", s.name, s.help)
	}
	fmt.Fprintf(&text, "\nWithout steps: %s.\n", namesOf(stepsOf(quick)))
	fmt.Fprintf(&text, "With full and no steps: %s.\n\n", namesOf(stepsOf(full)))
	text.WriteString("full runs all recordings, long generated sessions, the race detector everywhere and long fuzzing. Without it,\n" +
		"tests run samples, and go's cache holds the results of packages that have not changed.\n\n")
	text.WriteString("Packages and the flags of go test narrow the step test: test ./session/... -- -run Cut -v\n")
	return text.String()
}

func namesOf(steps []step) string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// selection is a parsed command line.
type selection struct {
	help bool
	tier tier
	// named says that the command line names the steps.
	named bool
	steps []step
	test  testArgs
}

// testArgs select tests.
type testArgs struct {
	packages []string
	flags    []string
}

// parse parses a command line: the tier, steps, after `test` also packages, and after `--` flags of go test.
func parse(args []string) (selection, error) {
	var s selection
	words := args
	if at := slices.Index(args, "--"); at >= 0 {
		words, s.test.flags = args[:at], args[at+1:]
	}
	known := steps()
	tests := false
	for _, word := range words {
		at := slices.IndexFunc(known, func(s step) bool { return s.name == word })
		switch {
		case word == "help" || word == "-h" || word == "--help":
			return selection{help: true}, nil
		case word == "full":
			s.tier = full
		case at >= 0:
			s.steps = append(s.steps, known[at])
			tests = tests || word == "test"
		case strings.HasPrefix(word, "-"):
			return selection{}, fmt.Errorf("unknown flag %s; write the flags of go test after --", word)
		case tests:
			s.test.packages = append(s.test.packages, word)
		default:
			return selection{}, fmt.Errorf("unknown step %q", word)
		}
	}
	s.named = len(s.steps) > 0
	if !s.named {
		s.steps = stepsOf(s.tier)
		tests = true
	}
	if len(s.test.flags) > 0 && !tests {
		return selection{}, errors.New("the flags after -- are for the step test, which is not named")
	}
	return s, nil
}

func (v *verifier) lint(ctx context.Context) error {
	if err := v.need(ctx, "buf", "golangci-lint"); err != nil {
		return err
	}
	buf, golangci := v.tool("buf"), v.tool("golangci-lint")
	const format = "`go run -C tools ./verify fmt` formats"
	for _, c := range []command{
		{args: []string{"go", "mod", "tidy", "-diff"}, hint: "`go mod tidy` repairs go.mod and go.sum"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: "tools", hint: "`go -C tools mod tidy` repairs them"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: "tools/packaging", hint: "`go -C tools/packaging mod tidy` repairs them"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: "tools/release", hint: "`go -C tools/release mod tidy` repairs them"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: "sdkcheck", hint: "`go -C sdkcheck mod tidy` repairs them"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: gitleaksModule, hint: "`go -C " + gitleaksModule + " mod tidy` repairs them"},
		{args: []string{buf, "lint"}},
		{args: []string{buf, "format", "--diff", "--exit-code", "proto"}, hint: format},
		{
			args: []string{buf, "breaking", "proto", "--against", frozenContract},
			hint: "clients keep generated stubs: add fields and calls, and do not change or remove existing ones",
		},
		{args: []string{golangci, "run"}},
		// golangci-lint finds the configuration in the parent folder.
		{args: []string{golangci, "run"}, folder: "tools"},
		{args: []string{golangci, "run"}, folder: "tools/packaging"},
		{args: []string{golangci, "run"}, folder: "tools/release"},
		{args: []string{golangci, "run"}, folder: "sdkcheck"},
		{args: []string{golangci, "run"}, folder: gitleaksModule},
	} {
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	if err := v.lintOpenAPI(ctx); err != nil {
		return err
	}
	return v.lintPage(ctx)
}

// pageFolder has the modules of the inspector's page, and how they are checked.
const pageFolder = "service/inspector"

// lintPage checks the modules of the inspector's page by TypeScript's checker, which reads plain JavaScript, too: names, calls
// and what is not used. The TypeScript client has it. Without Node it is left out and reported.
func (v *verifier) lintPage(ctx context.Context) error {
	ready, err := v.ready(ctx, typescriptClient(), "the check of the inspector's page")
	if err != nil || !ready {
		return err
	}
	return v.run(ctx, command{args: []string{"node", filepath.Join(typescriptClient().folder, "node_modules", "typescript", "bin", "tsc"), "--project", pageFolder}})
}

// frozenContract is the compiled contract that clients may rely on. `buf breaking` compares with it.
const frozenContract = "proto/frozen.binpb"

// freeze adds what is new in the contract to the frozen contract. It fails if the contract breaks the frozen one.
func (v *verifier) freeze(ctx context.Context) error {
	if err := v.need(ctx, "buf"); err != nil {
		return err
	}
	buf := v.tool("buf")
	if err := v.run(ctx, command{args: []string{buf, "breaking", "proto", "--against", frozenContract}}); err != nil {
		return err
	}
	return v.run(ctx, command{args: []string{buf, "build", "proto", "--exclude-source-info", "--output", frozenContract}})
}

func (v *verifier) format(ctx context.Context) error {
	if err := v.need(ctx, "buf", "golangci-lint"); err != nil {
		return err
	}
	if err := v.run(ctx, command{args: []string{v.tool("buf"), "format", "--write", "proto"}}); err != nil {
		return err
	}
	if err := v.run(ctx, command{args: []string{v.tool("golangci-lint"), "fmt"}}); err != nil {
		return err
	}
	return v.formatClients(ctx)
}

func (v *verifier) generate(ctx context.Context) error {
	err := v.withStubs(ctx, "generate the stubs", func(committed, fresh stubs, generated string) error {
		for _, path := range committed.differences(fresh) {
			fmt.Fprintln(v.out, path)
			if err := v.move(path, generated, fresh); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.fromPython(ctx); err != nil {
		return err
	}
	if err := v.generateDescriptions(ctx); err != nil {
		return err
	}
	return v.generateEmbedded(ctx)
}

func (v *verifier) checkGenerate(ctx context.Context) error {
	err := v.withStubs(ctx, "check that the stubs are fresh", func(committed, fresh stubs, _ string) error {
		stale := committed.differences(fresh)
		if len(stale) == 0 {
			return nil
		}
		return fmt.Errorf("the protos have changed since these files were generated: %s; run `go run -C tools ./verify generate` and commit",
			strings.Join(stale, ", "))
	})
	if err != nil {
		return err
	}
	if err := v.fromPython(ctx, "--check"); err != nil {
		return err
	}
	if err := v.checkDescriptions(ctx); err != nil {
		return err
	}
	return v.checkEmbedded(ctx)
}
