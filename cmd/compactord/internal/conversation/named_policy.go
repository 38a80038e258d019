package conversation

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/policyfile"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
)

// NamedPolicy is the value of --policy: a file, or the name of a preset or of one of the daemon's policies.
type NamedPolicy struct {
	// Name is the name, or that of the file without its folder and extension.
	Name string
	// policy is nil where the flag is not given.
	policy *compactordv1.Policy
}

// Decode reads the file. It is part of kong.MapperValue.
func (n *NamedPolicy) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("FILE|NAME", &text); err != nil {
		return err
	}
	if text == "" {
		return terminal.Usagef("is blank")
	}
	if policies.ValidName(text) {
		n.Name, n.policy = text, &compactordv1.Policy{Preset: proto.String(text)}
		return nil
	}
	policy, err := policyfile.Read(text)
	if err != nil {
		return err
	}
	n.Name, n.policy = strings.TrimSuffix(filepath.Base(text), filepath.Ext(text)), policy
	return nil
}

// OfPreset returns the policy of a preset.
func OfPreset(name string) NamedPolicy {
	return NamedPolicy{Name: name, policy: &compactordv1.Policy{Preset: proto.String(name)}}
}

// CheckPolicies returns an error where policies that are to be shown beside presets have one name twice, or name what only
// a daemon knows.
func CheckPolicies(presets []string, named []NamedPolicy) error {
	there := strategies.PresetNames()
	for i, n := range named {
		if base := n.policy.GetPreset(); base != "" && !slices.Contains(there, base) {
			return terminal.Usagef("--policy: there is no preset %q%s; there are %s", base, misspelt.Of(base, there), strings.Join(there, ", "))
		}
		same := func(other NamedPolicy) bool { return other.Name == n.Name }
		if slices.Contains(presets, n.Name) || slices.ContainsFunc(named[:i], same) {
			return terminal.Usagef("--policy: %q is there already", n.Name)
		}
	}
	return nil
}
