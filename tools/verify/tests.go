package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// runTests tests all modules, or the packages that are named.
func (v *verifier) runTests(ctx context.Context) error {
	packages := v.test.packages
	if len(packages) == 0 {
		// What takes longest begins first, so that no core waits for it in the end.
		packages = []string{"./service", "./e2e/corpus", "./cmd/...", "./..."}
	}
	tested, err := v.list(ctx, packages)
	if err != nil {
		return err
	}
	compiler, err := v.hasCompiler(ctx)
	if err != nil {
		return err
	}
	if !compiler {
		v.off("race detector", "no C compiler found")
	}
	if slices.Contains(tested, "./"+mockFolder) {
		if err := v.installMock(ctx); err != nil {
			return err
		}
	}
	without, err := v.list(ctx, slices.Concat(sequential, unraced))
	if err != nil {
		return err
	}
	recordings := v.linkRecordings()
	for _, r := range v.testRuns(tested, without, compiler) {
		if err := v.run(ctx, r.command(recordings, v.test.flags)); err != nil {
			return err
		}
	}
	return nil
}

// testRun is one call of go test.
type testRun struct {
	packages []string
	// folder is that of a module of its own.
	folder string
	race   bool
	short  bool
	// anew is a run that go's cache of results does not answer: each package is tested, and its tests in any order.
	anew bool
	vet  string
}

// testRuns are what a tier makes of the packages. A quick run is in short, with the race detector where there is
// concurrency, and go answers for packages of which nothing has changed. A full one runs everything whole, and then, since
// the race detector makes the same tests take several times as long, everything in short under it.
func (v *verifier) testRuns(tested, withoutRace []string, compiler bool) []testRun {
	var runs []testRun
	// go test vets with a few rules only, unless told. The linter vets the main module with all.
	const all, none = "all", "off"
	if len(v.test.packages) == 0 {
		// Those of the tools look at the repository, which go does not see.
		runs = append(runs, testRun{
			packages: []string{"./..."}, folder: "tools", race: compiler, short: v.tier == quick, anew: true, vet: all,
		})
		for _, oracle := range []string{"sdkcheck", gitleaksModule} {
			runs = append(runs, testRun{
				packages: []string{"./..."}, folder: oracle, race: compiler && v.tier == full, short: v.tier == quick,
				anew: v.tier == full, vet: all,
			})
		}
	}
	if v.tier == full {
		runs = append(runs, testRun{packages: tested, anew: true})
		if compiler {
			runs = append(runs, testRun{packages: tested, race: true, short: true, anew: true, vet: none})
		}
		return runs
	}
	group := func(race, anew bool) {
		belong := slices.DeleteFunc(slices.Clone(tested), func(p string) bool {
			return race == (!compiler || slices.Contains(withoutRace, p)) || anew != slices.Contains(unseen, p)
		})
		if len(belong) > 0 {
			runs = append(runs, testRun{packages: belong, race: race, short: true, anew: anew, vet: none})
		}
	}
	group(true, false)
	group(true, true)
	group(false, false)
	group(false, true)
	return runs
}

func (r testRun) command(recordings string, flags []string) command {
	// Some packages come near go test's own limit of ten minutes where the machine has other things to do.
	c := command{args: []string{"go", "test", "-timeout=60m"}, folder: r.folder}
	if r.race {
		c.args = append(c.args, "-race")
		c.env = append(c.env, "CGO_ENABLED=1")
	}
	if r.short {
		c.args = append(c.args, "-short")
	}
	switch {
	case r.anew || recordings == outOfSight:
		c.args = append(c.args, "-shuffle=on", "-count=1")
	case recordings != "":
		c.env = append(c.env, recordingsVariable+"="+recordings)
	}
	if r.vet != "" {
		c.args = append(c.args, "-vet="+r.vet)
	}
	c.args = slices.Concat(c.args, r.packages, flags)
	return c
}

// mockFolder is where the tests are that run against a mock of the providers that is not ours, a program of Node.
const mockFolder = "e2e/aimock"

// mock is installed as the clients are.
func mock() client {
	return client{
		folder: mockFolder,
		lock:   "package-lock.json",
		stamp:  "node_modules/.installed-lock.json",
		// It has no part that is compiled, so that one installation serves every version.
		language: func(*verifier, context.Context) (found, lack string) { return "node", lacksProgram("node", "npm") },
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, mockFolder) },
	}
}

// installMock installs it as its lock file says. Without Node its tests skip, which is printed.
func (v *verifier) installMock(ctx context.Context) error {
	_, err := v.ready(ctx, mock(), "tests against the mock")
	return err
}

// unraced are packages whose tests a quick run takes without the race detector, beside those that are sequential. Those
// of e2e run the program as a user does, of which it sees nothing, or replay recordings on what is sequential. Some test
// what is sequential with more than one goroutine. And most of those of the program wait for one answer after the other,
// which would take as long as those of the service, whose goroutines it starts; its own are few.
var unraced = []string{
	"./cmd/compactord", "./cmd/compactord/internal/catalog", "./cmd/compactord/internal/program",
	"./cmd/compactord/internal/rules", "./cmd/compactord/internal/sessions", "./cmd/compactord/internal/transcripts",
	"./dialects/transcript", "./e2e", "./e2e/corpus", "./summarizers/extractive",
}

// unseen are packages whose tests depend on what go does not see: files that the programs read which they start. A result of
// theirs is never taken from go's cache.
var unseen = []string{
	"./cmd/compactord/internal/program", "./cmd/compactord/internal/sessions", "./e2e", "./e2e/aimock", "./e2e/clients",
}

// recordingsVariable names the folder of recorded conversations, which are not in the repository.
const recordingsVariable = "COMPACTORD_CORPUS"

// outOfSight stands for recordings of which go does not see whether they have changed.
const outOfSight = "-"

// linkRecordings makes a link to the recordings within the clone, and returns it as the tests take it; without recordings
// nothing, and outOfSight where there are no links. go takes no notice of files outside of a module, and would answer for
// tests that have seen other recordings.
func (v *verifier) linkRecordings() string {
	recordings := cmp.Or(os.Getenv(recordingsVariable), v.in("..", "shared", "corpus"))
	if _, err := os.Stat(recordings); err != nil {
		return ""
	}
	link := v.in("bin", "test", "recordings")
	// The folder that the link leads to, for tests that walk it.
	folder := link + string(filepath.Separator) + "."
	if to, err := os.Readlink(link); err == nil && to == recordings {
		return folder
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o750); err != nil {
		return outOfSight
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outOfSight
	}
	if err := os.Symlink(recordings, link); err != nil {
		return outOfSight
	}
	return folder
}
