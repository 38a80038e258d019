package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers deb
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers rpm
)

// unitProgram is where the unit in the repository expects the program, which packages have in /usr/bin.
const unitProgram = "/usr/local/bin/compactord"

// writeLinuxPackages writes a deb and an rpm: the program, its unit, which is not started, the manual and completions.
func (r *release) writeLinuxPackages(p platform, program []byte, documents *documents) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	contents, err := installed(folder, program, documents, r.at)
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		if err := r.writeLinuxPackage(format, p, contents); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// installedFile is a file of a package, by where it is installed.
type installedFile struct {
	target  string
	content []byte
	mode    os.FileMode
}

// sampleConfiguration is where the unit of packages reads settings. Who has changed it keeps it when a package is updated.
const sampleConfiguration = "/etc/compactord/compactord.yaml"

func (f installedFile) kind() string {
	if f.target == sampleConfiguration {
		return files.TypeConfigNoReplace
	}
	return files.TypeFile
}

// installed lays out in a folder what a package installs, and returns where to.
func installed(folder string, program []byte, d *documents, at time.Time) (files.Contents, error) {
	const shared = "/usr/share/"
	wanted := []installedFile{
		{"/usr/bin/compactord", program, executable},
		{"/usr/lib/systemd/system/compactord.service", unitOfPackage(d.unit), plain},
		{sampleConfiguration, d.sample, plain},
		{shared + "man/man1/compactord.1", d.manual, plain},
		{shared + "bash-completion/completions/compactord", d.completions["bash"], plain},
		{shared + "zsh/site-functions/_compactord", d.completions["zsh"], plain},
		{shared + "fish/vendor_completions.d/compactord.fish", d.completions["fish"], plain},
		{shared + "doc/compactord/LICENSE", d.licence, plain},
		{shared + "doc/compactord/NOTICES.txt", d.notices, plain},
	}
	var all files.Contents
	for i, f := range wanted {
		path := filepath.Join(folder, strconv.Itoa(i))
		if err := os.WriteFile(path, f.content, f.mode); err != nil {
			return nil, err
		}
		all = append(all, &files.Content{
			Source: path, Destination: f.target, Type: f.kind(),
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: at},
		})
	}
	return all, nil
}

func (r *release) writeLinuxPackage(format string, p platform, contents files.Contents) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "compactord", Arch: p.arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1", Section: "net",
		Priority: "optional", Maintainer: "The compactord authors <compactord@users.noreply.github.com>", License: "Apache-2.0",
		Homepage:    "https://github.com/compactord/compactord",
		Description: "Keeps the conversations of language model agents within their context window",
		MTime:       r.at,
		Overridables: nfpm.Overridables{
			Contents: contents,
			RPM:      nfpm.RPM{BuildHost: "compactord"},
		},
	})
	out, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	if err := packager.Package(info, out); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// unitOfPackage returns the unit with the program where packages have it, and with the configuration that they install.
func unitOfPackage(unit []byte) []byte {
	return bytes.ReplaceAll(unit, []byte(unitProgram+" serve "), []byte("/usr/bin/compactord serve --config "+sampleConfiguration+" "))
}
