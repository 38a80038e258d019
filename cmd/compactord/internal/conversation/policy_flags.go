package conversation

import (
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// LimitFlags are the limits of the model, from which presets compute their numbers.
type LimitFlags struct {
	ContextWindow   *uint32 `aliases:"window" help:"The model's context window in tokens." placeholder:"N"`
	MaxOutputTokens *uint32 `aliases:"max-output" help:"The model's output limit in tokens; some presets use it." placeholder:"N"`
	MaxInputTokens  *uint32 `aliases:"max-input" help:"The model's input limit in tokens, if it is less than the window." placeholder:"N"`
}

// NeverDue says why compaction is never due under a preset that is disabled. A preset is disabled only where a given
// output limit takes the whole window.
const NeverDue = "compaction is never due: the output limit leaves no room for input."

// PresetFlags name the preset or the policy, and the model's limits.
type PresetFlags struct {
	Preset string      `help:"Preset to use: ${presets}." placeholder:"NAME" xor:"policy"`
	Based  NamedPolicy `help:"Policy to use: a YAML or JSON file with the fields of policy.proto, or the name of a preset or of one of the daemon's policies." name:"policy" placeholder:"FILE|NAME" xor:"policy"`
	LimitFlags
}

// Policy returns the policy that the flags set; nil if none is given.
func (f *PresetFlags) Policy() *compactordv1.Policy {
	if *f == (PresetFlags{}) {
		return nil
	}
	p := strategies.Merge(f.Based.policy, &compactordv1.Policy{
		ContextWindow: f.ContextWindow, MaxOutputTokens: f.MaxOutputTokens, MaxInputTokens: f.MaxInputTokens,
	})
	if f.Preset != "" {
		p.Preset = proto.String(f.Preset)
	}
	return p
}

// PolicyFlags are the settings of a policy in commands that compact.
type PolicyFlags struct {
	PresetFlags
	KeepRecentTokens *uint32 `help:"Summarize all but the newest messages of at least N tokens, whatever the preset's strategy is." placeholder:"N"`
}

// Policy returns the policy that the flags set; nil if none is given.
func (f *PolicyFlags) Policy() *compactordv1.Policy {
	p := f.PresetFlags.Policy()
	if f.KeepRecentTokens == nil {
		return p
	}
	if p == nil {
		p = &compactordv1.Policy{}
	}
	p.Strategy = Keeping(*f.KeepRecentTokens, p.GetStrategy())
	return p
}

// Keeping returns the strategy of --keep-recent-tokens. If the policy itself has a strategy that summarizes, only what
// that keeps is another: its budget and the rest stay.
func Keeping(tokens uint32, of *compactordv1.Strategy) *compactordv1.Strategy {
	s := &compactordv1.SummarizeStrategy{}
	if own := of.GetSummarize(); own != nil {
		s = proto.CloneOf(own)
		s.ManualRecentTokens, s.RecentTurns, s.RecentMessages, s.RecentToolGroups = nil, nil, nil, nil
	}
	s.RecentTokens = proto.Uint32(tokens)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: s}}
}

// PresetNames lists the presets, for help texts.
func PresetNames() string { return strings.Join(strategies.PresetNames(), ", ") }
