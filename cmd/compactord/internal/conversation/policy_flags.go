package conversation

import (
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// LimitFlags are the limits of the model, for which presets give their numbers.
type LimitFlags struct {
	ContextWindow   *uint32 `aliases:"window" help:"The model's context window in tokens." placeholder:"N"`
	MaxOutputTokens *uint32 `aliases:"max-output" help:"The model's output limit in tokens; some presets go by it." placeholder:"N"`
	MaxInputTokens  *uint32 `aliases:"max-input" help:"The model's input limit in tokens, where it is not the window." placeholder:"N"`
}

// NeverDue says why compaction is never due under a preset that is disabled. A preset is so only where its numbers leave
// nothing of the window.
func (f LimitFlags) NeverDue() string {
	if f.MaxOutputTokens != nil {
		return "it is never due: the output limit leaves nothing of what the model can read."
	}
	return "it is never due: the output limit is unknown, and what is taken for it leaves nothing of the window. " +
		"--max-output-tokens gives it."
}

// PresetFlags name where a policy starts from.
type PresetFlags struct {
	Preset string `help:"Preset to work by: ${presets}." placeholder:"NAME"`
	LimitFlags
}

// Policy is what the flags ask for; nil where they ask for nothing.
func (f *PresetFlags) Policy() *compactordv1.Policy {
	if *f == (PresetFlags{}) {
		return nil
	}
	p := &compactordv1.Policy{
		ContextWindow: f.ContextWindow, MaxOutputTokens: f.MaxOutputTokens, MaxInputTokens: f.MaxInputTokens,
	}
	if f.Preset != "" {
		p.Preset = proto.String(f.Preset)
	}
	return p
}

// PolicyFlags are the settings of a policy that commands take which compact.
type PolicyFlags struct {
	PresetFlags
	KeepRecentTokens *uint32 `help:"Summarize all but so many tokens of the newest messages, whatever the preset's strategy." placeholder:"N"`
}

// Policy is what the flags ask for; nil where they ask for nothing.
func (f *PolicyFlags) Policy() *compactordv1.Policy {
	p := f.PresetFlags.Policy()
	if f.KeepRecentTokens == nil {
		return p
	}
	if p == nil {
		p = &compactordv1.Policy{}
	}
	p.Strategy = Keeping(*f.KeepRecentTokens)
	return p
}

// Keeping is the strategy of --keep-recent-tokens.
func Keeping(tokens uint32) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(tokens)},
	}}
}

// PresetNames are the presets that there are, for help texts.
func PresetNames() string { return strings.Join(strategies.PresetNames(), ", ") }
