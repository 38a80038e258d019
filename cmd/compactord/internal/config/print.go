package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/service"
)

// Setting is a setting that is in effect.
type Setting struct {
	Key string `json:"key"`
	// Value is a text, a number, a bool or a list of texts; nil where the setting is left out.
	Value  any    `json:"value"`
	Source Source `json:"source"`
	// From is the flag, the variable, or the path of the file; empty for a default.
	From string `json:"from,omitempty"`
}

// Settings lists the settings in effect, in the order of their declaration.
func (s *Settled) Settings() []Setting {
	values := reflect.ValueOf(s.Config)
	all := make([]Setting, 0, values.NumField())
	for i, key := range settingKeys() {
		flag := flagNamed(key)
		setting := Setting{Key: key, Source: s.Kind(flag), Value: s.effective(key, values.Field(i).Interface())}
		if _, secret := values.Type().Field(i).Tag.Lookup(secretTag); secret && setting.Value != nil {
			setting.Value = hiddenSecret
		}
		switch setting.Source {
		case FromFlag, FromEnvironment:
			setting.From = s.Of(flag)
		case FromFile:
			setting.From = s.path
		case FromDefault:
		}
		all = append(all, setting)
	}
	return all
}

// effective returns the value of a setting as it has an effect, also where the default depends on other settings.
func (s *Settled) effective(key string, value any) any {
	switch v := value.(type) {
	case *bool:
		return s.Reflects()
	case time.Duration:
		return v.String()
	case string:
		if v == "" {
			return nil
		}
	case []string:
		if len(v) == 0 {
			return nil
		}
	case int64:
		if key == "max_inflight_bytes" && v == 0 {
			return service.LeastInflightBytes(s.MaxMessageBytes)
		}
	}
	return value
}

// Sections returns the parts of the file that are no flags. Secrets are hidden, and what looks like one.
func (s *Settled) Sections() map[string]any {
	sections := make(map[string]any, len(s.File.sections))
	for key, section := range s.File.sections {
		sections[key] = hidden(section, secretsOf(key))
	}
	return sections
}

// hidden replaces the values of secret keys in a YAML value, and texts that look like keys of providers in a wrong place.
func hidden(value any, secrets map[string]bool) any {
	switch v := value.(type) {
	case string:
		if keyPrefix().MatchString(v) {
			return hiddenSecret
		}
	case settings:
		// The decoder makes mappings within a mapping of its type.
		return hidden(map[string]any(v), secrets)
	case map[string]any:
		shown := make(map[string]any, len(v))
		for key, value := range v {
			if shown[key] = hidden(value, secrets); secrets[key] {
				shown[key] = hiddenSecret
			}
		}
		return shown
	case []any:
		shown := make([]any, len(v))
		for i, value := range v {
			shown[i] = hidden(value, secrets)
		}
		return shown
	}
	return value
}

// YAML returns the settings in effect as a file, with the source of each as a comment. Those that are left out are
// comments themselves.
func (s *Settled) YAML() ([]byte, error) {
	document := &yaml.Node{Kind: yaml.MappingNode}
	var left strings.Builder
	for _, setting := range s.Settings() {
		if setting.Value == nil {
			left.WriteString(setting.Key + ": not set\n")
			continue
		}
		source := string(setting.Source)
		if setting.From != "" {
			source += " " + setting.From
		}
		if err := addTo(document, setting.Key, setting.Value, source); err != nil {
			return nil, err
		}
	}
	sections := s.Sections()
	for _, key := range sectionKeys {
		if section, there := sections[key]; there {
			if err := addTo(document, key, section, ""); err != nil {
				return nil, err
			}
			document.Content[len(document.Content)-2].HeadComment = fmt.Sprintf("%s %s", FromFile, s.path)
		}
	}
	document.FootComment = left.String()
	return yaml.Marshal(document)
}

func addTo(document *yaml.Node, key string, value any, comment string) error {
	name, encoded := &yaml.Node{}, &yaml.Node{}
	if err := name.Encode(key); err != nil {
		return err
	}
	if err := encoded.Encode(value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if encoded.LineComment = comment; encoded.Kind == yaml.SequenceNode {
		// A list begins on the next line.
		name.LineComment = comment
	}
	document.Content = append(document.Content, name, encoded)
	return nil
}
