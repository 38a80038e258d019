package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// runTests tests all modules or the named packages.
func (v *verifier) runTests(ctx context.Context) error {
	packages := v.test.packages
	if len(packages) == 0 {
		// The slowest packages begin first, so that no core waits for them at the end.
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
		v.leaveOut("race detector", "no C compiler found")
	}
	if slices.Contains(tested, "./"+mockFolder) {
		if err := v.installMock(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(tested, "./"+inspectorFolder) {
		if err := v.installBrowserDriver(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(tested, "./storage/postgres") {
		if err := v.installPostgres(ctx); err != nil {
			return err
		}
	}
	without, err := v.list(ctx, slices.Concat(sequential, unraced))
	if err != nil {
		return err
	}
	recordings := v.linkRecordings()
	return v.runEach(ctx, v.testRuns(tested, without, compiler), recordings)
}

// runEach calls go test for each run, also after one that fails, so that a run of the checks tells all tests that fail.
func (v *verifier) runEach(ctx context.Context, runs []testRun, recordings string) error {
	var failures []error
	for _, r := range runs {
		err := v.run(ctx, r.command(recordings, v.test.flags))
		if errors.Is(err, errInterrupted) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// testRun is one call of go test.
type testRun struct {
	packages []string
	// folder is the folder of another module.
	folder string
	race   bool
	short  bool
	// only and without are the tests that the run has or leaves out; empty where it has all.
	only, without []string
	// uncached bypasses go's cache of results and shuffles the tests.
	uncached bool
	vet      string
	// store is the kind of store that daemons have whose tests ask for none; empty for that in memory.
	store string
	// protocol is how tests call over HTTP, as a content type; empty where they call over gRPC.
	protocol string
}

// onStores are the packages whose tests run in a full run on kinds of stores that they do not use by themselves.
var onStores = []struct {
	store    string
	packages []string
}{
	{"bolt", []string{"./service"}},
	{"postgres", []string{
		"./service", "./cmd/compactord/internal/program", "./cmd/compactord/internal/serve", "./cmd/compactord/internal/sessions",
		"./e2e", "./e2e/aimock", "./e2e/clients", "./e2e/faults", "./e2e/inspector", "./e2e/torture",
	}},
}

// overHTTP are the protocols in which the tests of the service call over HTTP in a full run, beside gRPC.
var overHTTP = []string{"application/json", "application/proto", "application/grpc-web+proto"}

// testRuns returns the calls of go test in a tier. A quick run uses -short, the race detector for concurrent packages,
// and go's cache of results. A full run tests everything without -short, and then again with -short under the race
// detector, which makes tests several times slower, and some of them on other stores and over HTTP.
func (v *verifier) testRuns(tested, withoutRace []string, compiler bool) []testRun {
	var runs []testRun
	// By default go test runs only some checks of vet. The linter runs all of them on the main module.
	const all, none = "all", "off"
	if len(v.test.packages) == 0 {
		// The tests of the tools read the repository, which go's cache does not notice.
		runs = append(runs, testRun{
			packages: []string{"./..."}, folder: "tools", race: compiler, short: v.tier == quick, uncached: true, vet: all,
		})
		for _, oracle := range []string{"tools/packaging", "tools/release", "sdkcheck", gitleaksModule} {
			runs = append(runs, testRun{
				packages: []string{"./..."}, folder: oracle, race: compiler && v.tier == full, short: v.tier == quick,
				uncached: v.tier == full, vet: all,
			})
		}
	}
	if v.tier == full {
		runs = append(runs, testRun{packages: tested, uncached: true})
		if compiler {
			runs = append(runs, testRun{packages: tested, race: true, short: true, uncached: true, vet: none})
		}
		for _, on := range onStores {
			packages := slices.DeleteFunc(slices.Clone(on.packages), func(p string) bool { return !slices.Contains(tested, p) })
			if len(packages) > 0 {
				runs = append(runs, testRun{packages: packages, short: true, uncached: true, vet: none, store: on.store})
			}
		}
		if service := "./service"; slices.Contains(tested, service) {
			for _, protocol := range overHTTP {
				runs = append(runs, testRun{packages: []string{service}, short: true, uncached: true, vet: none, protocol: protocol})
			}
		}
		return runs
	}
	group := func(race, uncached bool) {
		belong := slices.DeleteFunc(slices.Clone(tested), func(p string) bool {
			return race == (!compiler || slices.Contains(withoutRace, p)) || uncached != slices.Contains(uncacheable, p)
		})
		if len(belong) == 0 {
			return
		}
		r := testRun{packages: belong, race: race, short: true, uncached: uncached, vet: none}
		if race {
			// Flags that select tests select them in one run.
			if alone := sequentialIn(belong); len(alone.packages) > 0 && len(v.test.flags) == 0 {
				r.without, alone.uncached = alone.only, uncached
				runs = append(runs, alone)
			}
		}
		runs = append(runs, r)
	}
	group(true, false)
	group(true, true)
	group(false, false)
	group(false, true)
	return runs
}

func (r testRun) command(recordings string, flags []string) command {
	// On a busy machine some packages take almost the default limit of ten minutes.
	c := command{args: []string{"go", "test", "-timeout=60m"}, folder: r.folder}
	if r.race {
		c.args = append(c.args, "-race")
		c.env = append(c.env, "CGO_ENABLED=1")
	}
	if r.short {
		c.args = append(c.args, "-short")
	}
	if r.store != "" {
		c.env = append(c.env, "COMPACTORD_TEST_STORE="+r.store)
	}
	switch {
	case r.uncached || recordings == unlinked:
		c.args = append(c.args, "-shuffle=on", "-count=1")
	case recordings != "":
		c.env = append(c.env, recordingsVariable+"="+recordings)
	}
	if r.vet != "" {
		c.args = append(c.args, "-vet="+r.vet)
	}
	for flag, names := range map[string][]string{"-run": r.only, "-skip": r.without} {
		if len(names) > 0 {
			c.args = append(c.args, flag+"=^("+strings.Join(names, "|")+")$")
		}
	}
	c.args = append(c.args, r.packages...)
	if r.protocol != "" {
		c.args = append(c.args, "-over-http="+r.protocol)
	}
	c.args = append(c.args, flags...)
	return c
}

// mockFolder has the tests against a third-party mock of the providers, a program of Node.
const mockFolder = "e2e/aimock"

// mock is installed like the clients.
func mock() client {
	return client{
		folder: mockFolder,
		lock:   "package-lock.json",
		stamp:  "node_modules/.installed-lock.json",
		// The mock has no compiled parts, so one installation serves every version.
		language: func(*verifier, context.Context) (found, lack string) { return "node", lacksProgram("node", "npm") },
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, mockFolder) },
	}
}

// installMock installs the mock by its lock file. Without Node its tests are skipped and reported.
func (v *verifier) installMock(ctx context.Context) error {
	_, err := v.ready(ctx, mock(), "tests against the mock")
	return err
}

// inspectorFolder has the tests of the inspector in a browser, which a program of Node drives.
const inspectorFolder = "e2e/inspector"

// browserDriver is installed like the clients.
func browserDriver() client {
	return client{
		folder: inspectorFolder,
		lock:   "package-lock.json",
		stamp:  "node_modules/.installed-lock.json",
		// It has no compiled parts, so one installation serves every version.
		language: func(*verifier, context.Context) (found, lack string) {
			return "node", lacksProgram("node", "npm", "chromium")
		},
		install: func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, inspectorFolder) },
	}
}

// installBrowserDriver installs what drives a browser. Without Node or Chromium its tests are skipped and reported.
func (v *verifier) installBrowserDriver(ctx context.Context) error {
	_, err := v.ready(ctx, browserDriver(), "tests in a browser")
	return err
}

// postgresFolder starts the PostgreSQL servers of the tests, and has the packages with one for machines without.
const postgresFolder = "storage/postgres/postgrestest"

// postgres is installed like the clients.
func postgres() client {
	return client{
		folder:   postgresFolder,
		lock:     "package-lock.json",
		stamp:    "node_modules/.installed-lock.json",
		language: func(*verifier, context.Context) (found, lack string) { return "node", lacksProgram("node", "npm") },
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, postgresFolder) },
	}
}

// installPostgres installs a server where the machine has none. Without Node its tests are skipped and reported.
func (v *verifier) installPostgres(ctx context.Context) error {
	if lacksProgram("initdb", "postgres") == "" {
		return nil
	}
	_, err := v.ready(ctx, postgres(), "tests on PostgreSQL")
	return err
}

// unraced are packages that a quick run tests without the race detector, beside the sequential ones. The tests of these
// folders of e2e run the program as a separate process, which the race detector does not see, or replay recordings on
// sequential packages. Some test sequential code with several goroutines. The goroutine of a digest also runs in the tests
// of the service. Most tests of the program wait for one answer after the other; they would take as long as those of the
// service, which start the same goroutines.
var unraced = []string{
	"./cmd/compactord", "./cmd/compactord/internal/catalog", "./cmd/compactord/internal/config",
	"./cmd/compactord/internal/program", "./cmd/compactord/internal/rules", "./cmd/compactord/internal/sessions",
	"./cmd/compactord/internal/transcripts",
	"./dialects/transcript", "./e2e", "./e2e/corpus", "./e2e/histories", "./e2e/inspector", "./e2e/load", "./e2e/torture",
	"./summarizers/extractive",
}

// sequentialTests are tests of concurrent packages that make one call after the other, mostly properties of generated
// sessions. The race detector makes them ten times slower, and finds no more in them than in the tests beside them, of
// which some make the same calls at the same time. A quick run tests them without it.
var sequentialTests = map[string][]string{
	"./cmd/compactord/internal/evaluation": {"TestEvaluate", "TestFiguresOfAnEvaluation", "TestPrices"},
	"./service": {
		"TestAgentsPromptIsAPrefixOfTheView", "TestAppendsAfterThePlanOfADueCompactionReadNothing",
		"TestAppendsWhereCompactionIsDueReadTheLogOnce", "TestBareQuotesAreCompactedInEachWay",
		"TestCompactionsHoldNoTexts", "TestCopyWhoseWritesFail", "TestDeltasCarryOnlyWhatIsNew", "TestErrorsStayShort",
		"TestEveryFieldOutOfRange", "TestExtractiveSummariesAreRedacted", "TestForkIsTheSessionAsOfThePoint",
		"TestForkOfALongSession", "TestGeneratedSyncs", "TestInlineHistoriesAreRedacted",
		"TestInvariantsForEveryStrategyAndPreset", "TestInvariantsOverGeneratedLogs", "TestInvariantsOverPoints",
		"TestInvariantsWithPins", "TestListedPagesReadWhatTheyList", "TestManyShortSecretsAreCompacted",
		"TestNoAnswerTellsOfThingsOfOtherTenants", "TestOnUserMessageOnKeptStates", "TestOutlinesChangeNoResult",
		"TestPagesAreTheWholeView", "TestPagesOfARenderedViewReadNothing", "TestPagesOfAViewReadWhatTheyShow",
		"TestPagesOfSessionsStaySmall", "TestPlaceholdersOfEveryPresetLeadToTheResult",
		"TestPresetOpencodesFiveStrategies", "TestRecallGivesBackWhatViewsLeaveOut",
		"TestRecallMatchDoesALimitedPartOfTheWork", "TestRepeatedKeysAreFound", "TestRetentionByEachRule",
		"TestRetentionOfGeneratedHistories", "TestSearchDoesALimitedPartOfTheWork", "TestSearchEndsAfterASecond",
		"TestSearchPages", "TestSearchPagesAreBounded", "TestSecretsInEveryPlaceOfAMessage",
		"TestSmallestBudgetsOfSummaries", "TestSyncsOfRecordings", "TestToolsWithoutTheirSecrets",
		"TestTwoHundredCredentialsInTools", "TestTwoHundredCredentialsStayInTheLog", "TestViewsOfAPointAreTheSame",
		"TestWhatIsDueCanBeCompacted",
	},
	"./session": {"TestEveryStep", "TestGroupMembersOverGeneratedLogs"},
	"./storage/bolt": {
		// TestConformance makes the same calls with a store that is not encrypted.
		"TestConformanceEncrypted",
		"TestDamageWhileOpen", "TestDamagedStores", "TestElementsAstray", "TestKilledWhileTheListIsWritten",
		"TestListAfterADamagedCommit", "TestListsThatCannotBeTrusted", "TestPointersAstray", "TestRebuildOfFilesCutShort",
	},
	"./strategies": {
		"TestCheckOfArbitraryPlans", "TestClearRules", "TestComposedPlansKeepTheRules", "TestCutBudgetRules", "TestEveryPlanKeepsTheRules",
		"TestFoldsOverConversations", "TestHideRules", "TestMaskRulesOfTurns", "TestPlansOverConversations",
		"TestPresetsActOrSayThatTheyCannot", "TestReportsOverGeneratedLogs",
	},
}

// sequentialIn returns the run of the sequential tests of some packages.
func sequentialIn(packages []string) testRun {
	r := testRun{short: true, vet: "off"}
	for _, folder := range packages {
		if names := sequentialTests[folder]; len(names) > 0 {
			r.packages, r.only = append(r.packages, folder), append(r.only, names...)
		}
	}
	return r
}

// uncacheable are packages whose tests start programs that read files. go does not see these files, so cached results
// may be wrong.
var uncacheable = []string{
	"./cmd/compactord/internal/futurereference", "./cmd/compactord/internal/program", "./cmd/compactord/internal/promptcache",
	"./cmd/compactord/internal/sessions", "./cmd/compactord/internal/stores", "./e2e", "./e2e/aimock", "./e2e/clients",
	"./e2e/histories", "./e2e/inspector", "./e2e/load", "./e2e/torture",
}

// recordingsVariable names the folder of recorded conversations, which are not in the repository.
const recordingsVariable = "COMPACTORD_CORPUS"

// unlinked means recordings whose changes go does not see.
const unlinked = "-"

// linkRecordings creates a link to the recordings within the clone and returns its path for the tests. It returns an
// empty text without recordings, and unlinked where links are impossible. go ignores files outside the module, so
// without the link its cache would return results for other recordings.
func (v *verifier) linkRecordings() string {
	recordings := cmp.Or(os.Getenv(recordingsVariable), v.in("..", "shared", "corpus"))
	if _, err := os.Stat(recordings); err != nil {
		return ""
	}
	link := v.in("bin", "test", "recordings")
	// The folder behind the link, for tests that walk it.
	folder := link + string(filepath.Separator) + "."
	if to, err := os.Readlink(link); err == nil && to == recordings {
		return folder
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o750); err != nil {
		return unlinked
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unlinked
	}
	if err := os.Symlink(recordings, link); err != nil {
		return unlinked
	}
	return folder
}
