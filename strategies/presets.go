package strategies

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// DefaultPreset is the preset of policies that name none.
const DefaultPreset = "default"

// Limits are those of the model, in tokens; 0 is unknown. A preset is a pure function of them.
type Limits struct {
	// Window is how much the model reads and writes in one request.
	Window uint32
	// MaxOutput is how much of it the model may write.
	MaxOutput uint32
	// MaxInput is how much it may read, where that is not the window.
	MaxInput uint32
}

// readable is what a request can hold: the window, or the input limit where that is lower.
func (l Limits) readable() uint32 {
	if l.MaxInput == 0 {
		return l.Window
	}
	return min(l.Window, l.MaxInput)
}

// beside is what a request can hold where an answer of so many tokens has to fit into the window with it.
func (l Limits) beside(output uint32) uint32 {
	return min(l.Window-min(l.Window, output), l.readable())
}

// preset is a system by name: what it differs in from what all presets begin with, and where each number is from.
type preset struct {
	name string
	// does says in a sentence or two what comes of it.
	does string
	// reproduces is the system; empty where that is ours. from is where its behaviour is told.
	reproduces, from string
	// deviations are where it is not as the system on purpose, a sentence each.
	deviations []string
	// refuses says what of the limits leaves the system nothing to work in; nil where nothing can.
	refuses func(l Limits) error
	// change makes the system's policy of the one that all presets begin with.
	change func(p *compactordv1.Policy, l Limits)
	// sources say of the numbers that change sets where they are from.
	sources []source
}

// source says where the figure at a path of the policy is from, such as `trigger.trigger_ratio`. Of nested strategies the
// end of the path is enough, such as `summarize.recent_turns`.
type source struct{ path, from string }

// presets is the one place that lists them, in the order in which they are documented.
var presets = []preset{
	defaultPreset, piPreset, klaudePreset, kimiPreset, klip13Preset, opencodePreset, xbotPreset, xbotCurrentPreset,
	claudeCodePreset, maskingPreset, hybridPreset, aconPreset,
}

// PresetNames returns the names of the presets, in the order in which they are documented.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset returns the policy of that name for a model with these limits, in plain numbers. If there is none it returns
// ErrUnknown with the names that there are.
func Preset(name string, limits Limits) (*compactordv1.Policy, error) {
	for _, p := range presets {
		if p.name == name {
			return p.policy(limits), nil
		}
	}
	return nil, fmt.Errorf("%w: preset %q; there are %s", ErrUnknown, name, strings.Join(PresetNames(), ", "))
}

// policy sets all that a policy needs, but for what depends on a window that is unknown: nothing is due then.
func (p preset) policy(l Limits) *compactordv1.Policy {
	policy := basePolicy(p.name, l)
	p.change(policy, l)
	fitBudget(policy)
	return policy
}
