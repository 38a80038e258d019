package strategies

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/misspelt"
)

// DefaultPreset is the preset of policies that name none.
const DefaultPreset = "default"

// Limits are the model's limits in tokens; 0 means unknown. A preset depends only on them.
type Limits struct {
	// Window is how much the model can read and write in one request.
	Window uint32
	// MaxOutput is how much the model can write in one request.
	MaxOutput uint32
	// MaxInput is how much it can read, if that is less than the window.
	MaxInput uint32
}

// readable returns the most tokens of a request: the window, or the input limit if that is lower.
func (l Limits) readable() uint32 {
	if l.MaxInput == 0 {
		return l.Window
	}
	return min(l.Window, l.MaxInput)
}

// beside returns the most tokens of a request if an answer of this size must fit into the window with it.
func (l Limits) beside(output uint32) uint32 {
	return min(l.Window-min(l.Window, output), l.readable())
}

// preset is a named policy: its differences from the policy that all presets begin with, and the source of each figure.
type preset struct {
	name string
	// does describes its effect in a sentence or two.
	does string
	// reproduces is the system that it reproduces; empty for our own. from names the source on its behaviour.
	reproduces, from string
	// deviations are deliberate differences from the system, one sentence each.
	deviations []string
	// refuses returns an error for limits under which the system cannot work. It is nil if there are none.
	refuses func(l Limits) error
	// change turns the policy that all presets begin with into the system's policy.
	change func(p *compactordv1.Policy, l Limits)
	// sources name the source of each figure that change sets.
	sources []source
}

// source names the source of the figure at a path of the policy, such as `trigger.trigger_ratio`. For nested strategies
// the end of the path is enough, such as `summarize.recent_turns`.
type source struct{ path, from string }

// presets lists all presets, in the order in which they are documented.
var presets = []preset{
	defaultPreset, piPreset, klaudePreset, kimiPreset, klip13Preset, opencodePreset, xbotPreset, xbotCurrentPreset,
	claudeCodePreset, maskingPreset, hybridPreset, aconPreset, prosePreset,
}

// PresetNames returns the names of the presets, in the order in which they are documented.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset returns the policy with this name for a model with these limits, with all figures computed. If there is none,
// it returns ErrUnknown with the known names.
func Preset(name string, limits Limits) (*compactordv1.Policy, error) {
	for _, p := range presets {
		if p.name == name {
			return p.policy(limits), nil
		}
	}
	return nil, fmt.Errorf("%w: preset %q%s; there are %s", ErrUnknown, name, misspelt.Of(name, PresetNames()), strings.Join(PresetNames(), ", "))
}

// policy returns the complete policy. If the window is unknown, fields that depend on it are not set, and compaction is
// never due by them.
func (p preset) policy(l Limits) *compactordv1.Policy {
	policy := basePolicy(p.name, l)
	p.change(policy, l)
	fitBudget(policy)
	return policy
}
