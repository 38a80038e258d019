package extractive

import "strings"

// check says what kind of check a command is.
type check uint8

const (
	// notCheck is a command that checks nothing.
	notCheck check = iota
	// builds compiles, lints looks for mistakes, tests runs tests.
	builds
	lints
	tests
	// checksAll does all of this.
	checksAll
)

// checkWords are the words in programs, targets and subcommands that say which check they are.
var checkWords = func() map[string]check {
	known := map[string]check{}
	for what, list := range map[check]string{
		builds: `build compile compiles tsc tsgo make cmake gcc g++ clang javac rustc gradle gradlew mvn ninja bazel webpack vite rollup esbuild xcodebuild
			dotnet py_compile compileall msbuild assemble`,
		lints: `lint vet clippy eslint ruff flake8 mypy pyright pylint staticcheck golangci rubocop shellcheck biome prettier black fmt format gofmt stylelint
			typecheck types isort tslint ktlint swiftlint`,
		tests:     `test tests pytest jest vitest tox nox unittest spec rspec mocha ctest phpunit e2e playwright cypress ava nextest gotestsum bats trial`,
		checksAll: `ci verify validate precommit check checks`,
	} {
		for _, w := range strings.Fields(list) {
			known[w] = what
		}
	}
	return known
}()

// checkOf returns the kind of check that a command is. The last word that names one decides: `make test`, `cargo check`.
func checkOf(k *commandKey) check {
	if k.program == "git" || k.program == "gh" || !isChange([]string{k.program}) {
		return notCheck
	}
	what := notCheck
	read := func(word string) {
		for _, part := range strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune(":-. ", r) }) {
			if c, ok := checkWords[part]; ok {
				what = c
			}
		}
	}
	read(k.program)
	direct := what == tests || what == lints
	for i, word := range k.words {
		if i == 3 || direct || isPath(word) {
			break
		}
		read(word)
	}
	return what
}

// proves says whether a success of this check shows that a failure of the other does not exist any more.
func (c check) proves(failed check) bool {
	return c != notCheck && failed != notCheck && (c == failed || c == checksAll || failed == builds)
}
