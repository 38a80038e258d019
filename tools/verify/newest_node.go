package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// nodePackage is what we read of a package.json.
type nodePackage struct {
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
}

// heldBack are the packages that newest-frameworks leaves as they are pinned: the compiler, its types, and what the client
// itself needs.
var heldBack = []string{"typescript", "@types/node", "@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-node"}

// pinned returns the packages that a folder pins, but for those that are held back, with their versions.
func (p nodePackage) pinned() map[string]string {
	all := map[string]string{}
	maps.Copy(all, p.Dependencies)
	maps.Copy(all, p.DevDependencies)
	for _, name := range heldBack {
		delete(all, name)
	}
	return all
}

// installNewestNode installs the newest releases of the packages that a folder pins, and says which are newer. It leaves
// package.json and the lock file as they are.
func (v *verifier) installNewestNode(ctx context.Context, c client) error {
	text, err := os.ReadFile(v.in(c.folder, "package.json"))
	if err != nil {
		return err
	}
	var own nodePackage
	if err := json.Unmarshal(text, &own); err != nil {
		return err
	}
	pinned := own.pinned()
	names := slices.Sorted(maps.Keys(pinned))
	install := []string{"npm", "install", "--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"}
	if err := v.run(ctx, command{args: slices.Concat(install, newest(pinned)), folder: c.folder}); err != nil {
		return err
	}
	installed := map[string]string{}
	for _, name := range names {
		if installed[name], err = v.versionOfNode(c, name); err != nil {
			return err
		}
	}
	fmt.Fprintf(v.out, "    not as pinned: %s\n", strings.Join(differencesOfNode(pinned, installed), ", "))
	return nil
}

// newest returns what npm is asked for: of each package the newest release. The tag `latest` alone may name an older one than
// what is pinned, where two major versions are looked after.
func newest(pinned map[string]string) []string {
	wanted := make([]string, 0, len(pinned))
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		wanted = append(wanted, name+"@>="+pinned[name])
	}
	return wanted
}

// differencesOfNode returns the packages that are installed in another version than the pinned one.
func differencesOfNode(pinned, installed map[string]string) []string {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if version := installed[name]; version != pinned[name] {
			others = append(others, fmt.Sprintf("%s %s, pinned %s", name, version, pinned[name]))
		}
	}
	if len(others) == 0 {
		return []string{"nothing"}
	}
	return others
}

// versionOfNode returns the version of a package that is installed.
func (v *verifier) versionOfNode(c client, name string) (string, error) {
	text, err := os.ReadFile(v.in(c.folder, "node_modules", name, "package.json"))
	if err != nil {
		return "", err
	}
	var installed struct {
		Version string `json:"version"`
	}
	return installed.Version, json.Unmarshal(text, &installed)
}
