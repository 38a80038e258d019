package main

import (
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// template returns the --template of `buf generate`: the file with this name, without the plugins of clients whose
// tools are missing. It is empty if no plugin is left.
func (v *verifier) template(name string, without []client) (string, error) {
	text, err := os.ReadFile(v.in(name))
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		text = []byte(strings.ReplaceAll(string(text), "/.venv/bin/", "/.venv/Scripts/"))
	}
	return withoutPlugins(text, without)
}

func withoutPlugins(text []byte, without []client) (string, error) {
	var template map[string]any
	if err := yaml.Unmarshal(text, &template); err != nil {
		return "", err
	}
	plugins, _ := template["plugins"].([]any)
	plugins = slices.DeleteFunc(plugins, func(plugin any) bool {
		fields, _ := plugin.(map[string]any)
		out, _ := fields["out"].(string)
		return slices.ContainsFunc(without, func(c client) bool { return strings.HasPrefix(out, c.folder+"/") })
	})
	if len(plugins) == 0 {
		return "", nil
	}
	template["plugins"] = plugins
	filtered, err := json.Marshal(template)
	return string(filtered), err
}
