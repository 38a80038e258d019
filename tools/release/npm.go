package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// npmScope is where the packages of platforms are: @compactord/linux-x64.
const npmScope = "@compactord/"

func (p platform) npmName() string { return npmScope + p.npmOS + "-" + p.npmCPU }

// manifest is the package.json of a platform. The order of its fields is that of npm.
type manifest struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Homepage    string          `json:"homepage"`
	Repository  json.RawMessage `json:"repository"`
	License     string          `json:"license"`
	// Type is that of the client's package: publint wants it, though there is no JavaScript in this one.
	Type string   `json:"type"`
	OS   []string `json:"os"`
	CPU  []string `json:"cpu"`
	// Unplugged asks Yarn to unpack it: a program cannot be run out of a zip.
	Unplugged bool `json:"preferUnplugged"`
}

// platformPackage returns the npm package of a platform: the program and what belongs to it.
func platformPackage(main []byte, p platform, program []byte, beside []entry, at time.Time) ([]byte, error) {
	var m manifest
	if err := json.Unmarshal(main, &m); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	m.Name, m.OS, m.CPU, m.Unplugged = p.npmName(), []string{p.npmOS}, []string{p.npmCPU}, true
	m.Description = "The program of compactord for " + p.npmOS + " on " + p.npmCPU
	described, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	files := []entry{
		{"package/package.json", append(described, '\n'), plain},
		{"package/bin/" + p.program(), program, executable},
	}
	for _, f := range beside {
		files = append(files, entry{"package/" + f.name, f.content, f.mode})
	}
	return tarball(files, at)
}

// manifestIn returns which file of an npm package is its package.json.
func manifestIn(packed []entry) (int, error) {
	i := slices.IndexFunc(packed, func(f entry) bool { return f.name == "package/package.json" })
	if i < 0 {
		return 0, errors.New("the npm package has no package.json")
	}
	return i, nil
}

// withPrograms returns the npm package of the client with the packages of the platforms as optional dependencies, of which
// npm installs the one that fits.
func withPrograms(packed []entry, of []platform, version string, at time.Time) ([]byte, error) {
	i, err := manifestIn(packed)
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{}
	for _, p := range of {
		wanted[p.npmName()] = version
	}
	optional, err := json.MarshalIndent(wanted, "  ", "  ")
	if err != nil {
		return nil, err
	}
	body, found := bytes.CutSuffix(bytes.TrimSpace(packed[i].content), []byte("\n}"))
	if !found {
		return nil, errors.New("package.json does not end as npm writes it")
	}
	packed = slices.Clone(packed)
	packed[i].content = fmt.Appendf(nil, "%s,\n  \"optionalDependencies\": %s\n}\n", body, optional)
	if !json.Valid(packed[i].content) {
		return nil, errors.New("package.json with optional dependencies is no JSON")
	}
	return tarball(packed, at)
}
