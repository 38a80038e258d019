package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// step is what a word on the command line stands for.
type step struct {
	name string
	help string
	run  func(*verifier, context.Context) error
	// always is set for the steps of a run that selects none.
	always bool
}

func steps() []step {
	return []step{
		{"lint", "go mod tidy, buf and golangci-lint, without changing anything", (*verifier).lint, true},
		{"check-generate", "fail if what `generate` writes is not what is committed", (*verifier).checkGenerate, true},
		{"test", "run the tests, and in short under the race detector where there is a C compiler", (*verifier).runTests, true},
		{"python", "lint the Python client, check its types and run its tests, where there is Python 3.10", (*verifier).checkPython, true},
		{"typescript", "the same for the TypeScript client, where there is Node 20 with npm", (*verifier).checkTypeScript, true},
		{"fuzz", fuzzHelp(), (*verifier).fuzz, true},
		{"generate", "generate the code of all languages, and what is embedded of other projects", (*verifier).generate, false},
		{"freeze", "take what was added to the contract into the image that it is held to", (*verifier).freeze, false},
		{"fmt", "format the code of all languages, and the protos", (*verifier).format, false},
		{"tools", "build all pinned tools into .bin", (*verifier).buildTools, false},
	}
}

func usage() string {
	var text strings.Builder
	text.WriteString("Usage: go run -C tools ./verify [STEP...] [PACKAGE...] [-- FLAG...]\n\nSteps:\n")
	var always []string
	for _, s := range steps() {
		fmt.Fprintf(&text, "  %-16s %s\n", s.name, s.help)
		if s.always {
			always = append(always, s.name)
		}
	}
	fmt.Fprintf(&text, "\nWithout steps: %s.\n\n", strings.Join(always, ", "))
	text.WriteString("Packages and the flags of go test narrow the step test: test ./session/... -- -run Cut -v\n")
	return text.String()
}

// selection is what the command line asks for.
type selection struct {
	help  bool
	steps []step
	test  testArgs
}

// testArgs narrow the tests.
type testArgs struct {
	packages []string
	flags    []string
}

// parse reads a command line: steps, behind `test` also packages, and behind `--` flags of go test.
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
		case at >= 0:
			s.steps = append(s.steps, known[at])
			tests = tests || word == "test"
		case strings.HasPrefix(word, "-"):
			return selection{}, fmt.Errorf("unknown flag %s; the flags of go test stand behind --", word)
		case tests:
			s.test.packages = append(s.test.packages, word)
		default:
			return selection{}, fmt.Errorf("unknown step %q", word)
		}
	}
	if len(s.steps) == 0 {
		s.steps = slices.DeleteFunc(known, func(s step) bool { return !s.always })
		tests = true
	}
	if len(s.test.flags) > 0 && !tests {
		return selection{}, errors.New("there are flags of go test behind --, but no step test")
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
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: "sdkcheck", hint: "`go -C sdkcheck mod tidy` repairs them"},
		{args: []string{"go", "mod", "tidy", "-diff"}, folder: gitleaksModule, hint: "`go -C " + gitleaksModule + " mod tidy` repairs them"},
		{args: []string{buf, "lint"}},
		{args: []string{buf, "format", "--diff", "--exit-code", "proto"}, hint: format},
		{
			args: []string{buf, "breaking", "proto", "--against", frozenContract},
			hint: "clients keep generated stubs: add fields and calls, and leave those that there are as they are",
		},
		{args: []string{golangci, "run"}},
		// It finds the same configuration in the folder above.
		{args: []string{golangci, "run"}, folder: "tools"},
		{args: []string{golangci, "run"}, folder: "sdkcheck"},
		{args: []string{golangci, "run"}, folder: gitleaksModule},
	} {
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// frozenContract is the image of the contract that clients may rely on: `buf breaking` compares with it.
const frozenContract = "proto/frozen.binpb"

// freeze holds the contract to what it is now. What it was before still holds: nothing that breaks it is taken in.
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

// runTests tests all modules, or the packages that are named: whole, and what is concurrent once more in short under the
// race detector, which makes the same tests take several times as long. It needs cgo; its absence is printed, so that a
// green run is never taken for more than it was.
func (v *verifier) runTests(ctx context.Context) error {
	// Some packages come near go test's own limit of ten minutes where the machine has other things to do.
	args := []string{"go", "test", "-shuffle=on", "-count=1", "-timeout=30m"}
	packages := v.test.packages
	if len(packages) == 0 {
		// go test vets with a few rules only, unless told.
		vetted := slices.Concat(args, []string{"-vet=all", "./..."}, v.test.flags)
		for _, module := range []string{"tools", "sdkcheck", gitleaksModule} {
			if err := v.run(ctx, command{args: vetted, folder: module}); err != nil {
				return err
			}
		}
		// What takes longest begins first, so that no core waits for it in the end.
		packages = []string{"./service", "./e2e/corpus", "./cmd/...", "./..."}
	}
	if slices.ContainsFunc(packages, func(p string) bool { return p == "./..." || strings.HasPrefix(p, "./e2e") }) {
		if err := v.installMock(ctx); err != nil {
			return err
		}
	}
	if err := v.run(ctx, command{args: slices.Concat(args, packages, v.test.flags)}); err != nil {
		return err
	}
	return v.raceTests(ctx, packages)
}

// mockFolder is where the tests are that run against a mock of the providers that is not ours, a program of Node.
const mockFolder = "e2e/aimock"

// installMock installs it as its lock file says. Without Node its tests skip, which is printed.
func (v *verifier) installMock(ctx context.Context) error {
	if lack := lacksProgram("node", "npm"); lack != "" {
		fmt.Fprintf(v.out, "tests against the mock in %s off: %s\n", mockFolder, lack)
		return nil
	}
	return v.npmInstall(ctx, mockFolder)
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
		return fmt.Errorf("not what the protos generate: %s; run `go run -C tools ./verify generate` and commit",
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
