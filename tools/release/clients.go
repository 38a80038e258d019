package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// clientPackages are those of the clients without a program.
type clientPackages struct {
	wheel, npm []entry
	// manifest is the package.json of the client.
	manifest []byte
}

// clientPackages has the tools of each language make the packages of the clients. It writes them too: a wheel without a
// program for all other platforms, and the client for Node, which asks for the package of its platform.
func (r *release) clientPackages(ctx context.Context, of []platform) (*clientPackages, error) {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	wheel, err := r.pythonPackages(ctx, folder)
	if err != nil {
		return nil, err
	}
	packed, err := r.nodePackage(ctx, folder)
	if err != nil {
		return nil, err
	}
	c := &clientPackages{}
	if c.wheel, err = unzip(wheel); err != nil {
		return nil, err
	}
	if c.npm, err = untar(packed); err != nil {
		return nil, err
	}
	i, err := manifestIn(c.npm)
	if err != nil {
		return nil, err
	}
	c.manifest = c.npm[i].content
	whole, err := withPrograms(c.npm, of, r.version, r.at)
	if err != nil {
		return nil, err
	}
	return c, r.write("compactord-"+r.version+".tgz", whole)
}

// pythonPackages writes the source and the wheel without a program, and returns the wheel.
func (r *release) pythonPackages(ctx context.Context, folder string) ([]byte, error) {
	cmd := r.command(ctx, filepath.Join("clients", "python"), r.python, "-m", "build", "--no-isolation", "--outdir", folder)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.at.Unix(), 10))
	if _, err := outputOf(cmd); err != nil {
		return nil, err
	}
	var wheel []byte
	for _, name := range []string{"compactord-" + r.version + ".tar.gz", "compactord-" + r.version + "-py3-none-any.whl"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if err := r.write(name, content); err != nil {
			return nil, err
		}
		wheel = content
	}
	return wheel, nil
}

// nodePackage returns what npm packs of clients/ts.
func (r *release) nodePackage(ctx context.Context, folder string) ([]byte, error) {
	cmd := r.command(ctx, filepath.Join("clients", "ts"), "npm", "pack", "--silent", "--pack-destination", folder)
	out, err := outputOf(cmd)
	if err != nil {
		return nil, err
	}
	lines := bytes.Fields([]byte(out))
	if len(lines) == 0 {
		return nil, errors.New("npm pack named no file")
	}
	return os.ReadFile(filepath.Join(folder, string(lines[len(lines)-1])))
}

// writeClients writes the wheel and the npm package of a platform.
func (r *release) writeClients(p platform, program, parts []byte, d *documents, clients *clientPackages) error {
	name, wheel, err := platformWheel(clients.wheel, p, program, parts, r.at)
	if err != nil {
		return err
	}
	if err := r.write(name, wheel); err != nil {
		return err
	}
	beside := append(slices.Clone(d.licences()), entry{"compactord.cdx.json", parts, plain})
	packed, err := platformPackage(clients.manifest, p, program, beside, r.at)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("compactord-%s-%s-%s.tgz", p.npmOS, p.npmCPU, r.version), packed)
}
