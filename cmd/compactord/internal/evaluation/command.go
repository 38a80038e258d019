// Package evaluation holds the command evaluate, which measures on transcripts what presets and summaries cost and lose.
package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
)

// Command is `compactord evaluate`.
type Command struct {
	Paths       []string                   `arg:"" help:"Transcripts, or folders of them." name:"file"`
	Presets     []string                   `help:"Evaluate only this preset; may be given again: ${presets}." name:"preset" placeholder:"NAME"`
	Policies    []conversation.NamedPolicy `help:"Evaluate the policy of this YAML or JSON file; may be given again." name:"policy" placeholder:"FILE|NAME"`
	Summarizers []string                   `help:"Let this summarizer write, instead of extractive; may be given again." name:"summarizer" placeholder:"NAME"`
	config.FileFlag
	conversation.LimitFlags
	Budgets    []uint32 `default:"1000,2000,4000" help:"Sizes of summaries at which recall is measured, in tokens." name:"budget" placeholder:"N,..."`
	Price      float64  `default:"3" help:"Price of a million input tokens, in US dollars." placeholder:"X"`
	CacheWrite float64  `default:"1.25" help:"What tokens cost that the prompt cache stores, as a multiple of --price." placeholder:"X"`
	CacheRead  float64  `default:"0.1" help:"What tokens cost that the prompt cache has, as a multiple of --price." placeholder:"X"`
	CacheTTL   uint32   `default:"300" help:"Seconds that the prompt cache keeps what is not used, where FILE has times." name:"cache-ttl" placeholder:"N"`
	CacheModel string   `default:"prefix" enum:"prefix,breakpoints" help:"How the provider caches: prefix (by itself) or breakpoints (where the client marks them)." placeholder:"NAME"`
	RecallOnly bool     `help:"Measure only what summaries hold, without replays."`
	Figures    bool     `help:"Leave out what was lost: the output then holds nothing that the conversations say." name:"figures-only"`
	HTML       string   `help:"Also write a page with plots to this file." name:"html" placeholder:"PATH" type:"path"`
	Jobs       int      `default:"${cpus}" help:"How many replays run at the same time (default: one for each processor)." placeholder:"N"`
	Format     string   `help:"Format of FILE, if it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth        int      `help:"Number of the session in a file with several, from 1." placeholder:"N"`
	terminal.Output
}

// Help is printed below the flags.
func (c *Command) Help() string {
	return `Replays each transcript under each preset, as by an agent, and measures what the requests cost with a prompt cache, and how
much of what the agent went on to use the views still held. Of a folder, it reads the *.jsonl and *.json files. It also
asks each summarizer for summaries of several sizes, and compares them with simple baselines of the same sizes. A model
that is named by --summarizer gets a request for each of these summaries, which costs money.

Without --context-window, the window is two thirds of a transcript, but at least 8,000 tokens. The same input gives the
same output, whatever --jobs is. 'compactord help evaluation' explains the figures and their limits.

The JSON document holds transcripts, prices, presets (the figures of each preset), summaries (recall by size),
recorded_summaries (of those in the files), optimum (when compaction costs least) and unread (files that could not be
read).`
}

// limits of flags that kong cannot check.
const (
	smallestBudget = 64
	largestPrice   = 1e6
)

// check reports wrong flags before anything is read.
func (c *Command) check(a *api.App) error {
	for _, name := range c.Presets {
		if there := strategies.PresetNames(); !slices.Contains(there, name) {
			return terminal.Usagef("--preset: there is no preset %q%s; there are %s", name, misspelt.Of(name, there), strings.Join(there, ", "))
		}
	}
	if err := conversation.CheckPolicies(c.Presets, c.Policies); err != nil {
		return err
	}
	for _, b := range c.Budgets {
		if b < smallestBudget {
			return terminal.Usagef("--budget: must be at least %d tokens, is %d", smallestBudget, b)
		}
	}
	for _, price := range []struct {
		flag  string
		value float64
	}{{"price", c.Price}, {"cache-write", c.CacheWrite}, {"cache-read", c.CacheRead}} {
		if !(price.value >= 0 && price.value <= largestPrice) {
			return terminal.Usagef("--%s: must be a number from 0 to %.0f", price.flag, largestPrice)
		}
	}
	if c.Jobs < 1 {
		return terminal.Usagef("--jobs: must be at least 1")
	}
	if c.HTML == "" && a.Given["html"] {
		return terminal.Usagef("--html: is blank")
	}
	// The page is written last, after what may take an hour.
	if info, err := os.Stat(filepath.Dir(c.HTML)); c.HTML != "" && (err != nil || !info.IsDir()) {
		return terminal.Usagef("--html: there is no folder %s", filepath.Dir(c.HTML))
	}
	if info, err := os.Stat(c.HTML); err == nil && info.IsDir() {
		return terminal.Usagef("--html: %s is a folder", c.HTML)
	}
	return c.reading().Check(a)
}

func (c *Command) reading() conversation.Reading {
	return conversation.Reading{Format: c.Format, Nth: c.Nth}
}

// prices returns the prices that the flags set.
func (c *Command) prices() promptcache.Prices {
	p := promptcache.DefaultPrices()
	p.Input, p.Write, p.Read, p.TTL = c.Price, c.CacheWrite, c.CacheRead, time.Duration(c.CacheTTL)*time.Second
	return p
}

// Run evaluates.
func (c *Command) Run(ctx context.Context, a *api.App) (err error) {
	if err := c.check(a); err != nil {
		return err
	}
	if len(c.Presets) == 0 && len(c.Policies) == 0 {
		c.Presets = strategies.PresetNames()
	}
	if len(c.Summarizers) == 0 {
		c.Summarizers = []string{config.BuiltinSummarizer}
	}
	c.Presets, c.Summarizers = unique(c.Presets), unique(c.Summarizers)
	slices.Sort(c.Budgets)
	c.Budgets = slices.Compact(c.Budgets)
	if err := c.NamedModels(a, c.Summarizers); err != nil {
		return err
	}
	files, err := transcriptsIn(c.Paths)
	if err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	service, err := a.EmbedInMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	for _, based := range append([]conversation.NamedPolicy{{}}, c.Policies...) {
		if err := service.CheckPolicy(ctx, c.policy(c.LimitFlags, based, "")); err != nil {
			return err
		}
	}
	e := &evaluator{Command: c, app: a, service: service, progress: p}
	report, err := e.evaluate(ctx, files)
	if err != nil {
		return terminal.WhenInterrupted(err, "No file was changed.")
	}
	p.Clear()
	return errors.Join(c.write(a, report), report.ending())
}

// write writes the page, and the document or the tables.
func (c *Command) write(a *api.App, report *Report) error {
	if c.HTML != "" {
		if err := writePage(c.HTML, report); err != nil {
			return err
		}
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, report)
	}
	report.print(a.Out)
	if c.HTML != "" {
		fmt.Fprintf(a.Out, "\nThe page: %s\n", c.HTML)
	}
	return nil
}

// under are the presets and policies to evaluate.
func (c *Command) under() []conversation.NamedPolicy {
	var all []conversation.NamedPolicy
	for _, name := range c.Presets {
		all = append(all, conversation.OfPreset(name))
	}
	return append(all, c.Policies...)
}

// policy returns a policy with a summarizer; that of the limits alone if both are empty.
func (c *Command) policy(limits conversation.LimitFlags, based conversation.NamedPolicy, summarizer string) *compactordv1.Policy {
	policy := (&conversation.PresetFlags{Based: based, LimitFlags: limits}).Policy()
	if summarizer != "" {
		if policy == nil {
			policy = &compactordv1.Policy{}
		}
		if policy.GetSummary() == nil {
			policy.Summary = &compactordv1.SummaryPolicy{}
		}
		policy.Summary.Summarizer = proto.String(summarizer)
		if summarizer == config.BuiltinSummarizer {
			// Nothing leaves the process, and placeholders of secrets differ with each session.
			policy.Summary.Redact = proto.Bool(false)
		}
	}
	return policy
}

// unique returns the names, each once, in their order.
func unique(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// notRead are what a folder can hold beside files, links and folders: to read a pipe in it would wait for ever.
const notRead = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice

// transcriptsIn returns the files that the paths name, those of a folder sorted by name. A folder with the events of one
// session of OpenHands is one transcript.
func transcriptsIn(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			// Reading it reports what is wrong with it.
			files = append(files, path)
			continue
		}
		if events, err := transcript.EventFiles(path); err == nil && len(events) > 0 {
			files = append(files, path)
			continue
		}
		before := len(files)
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, terminal.Unreadable(path, err)
		}
		for _, e := range entries {
			if extension := filepath.Ext(e.Name()); !e.IsDir() && e.Type()&notRead == 0 && (extension == ".jsonl" || extension == ".json") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
		if len(files) == before {
			return nil, terminal.Usagef("%s has no *.jsonl or *.json files", path)
		}
	}
	return unique(files), nil
}

// CPUs returns the default of --jobs.
func CPUs() string { return strconv.Itoa(runtime.GOMAXPROCS(0)) }
