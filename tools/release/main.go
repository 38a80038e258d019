// Command release makes the files of a release from a clone. It publishes nothing.
//
//	go run -C tools/release . --out ../../dist
//
// For each platform it makes the program, an archive of it with what belongs to it, a wheel and an npm package; for Linux
// also a deb and an rpm. Beside them are the wheel and the npm package without a program, the source of the Python client,
// a list of the parts of each program (SBOM), and SHA256SUMS. Two runs on one commit make the same files. docs/release.md
// says what a release needs beside that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// settings are those of the command line.
type settings struct {
	out, repository, python string
	only                    []string
	clients, changed        bool
}

func parse(args []string) (*settings, error) {
	var s settings
	var only string
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&s.out, "out", filepath.Join("..", "..", "dist"), "the `folder` to fill, which is emptied first")
	flags.StringVar(&s.repository, "repository", filepath.Join("..", ".."), "the `folder` of the clone")
	flags.StringVar(&s.python, "python", "", "the `program` of a Python with clients/python/requirements-dev.txt (default clients/python/.venv)")
	flags.StringVar(&only, "platforms", "", "make only these, such as linux/amd64,windows/amd64 (default all)")
	flags.BoolVar(&s.clients, "clients", true, "make wheels and npm packages; clients/ts needs `npm ci` first")
	flags.BoolVar(&s.changed, "changed", false, "allow changes that are not committed")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %s", flags.Arg(0))
	}
	if only != "" {
		s.only = strings.Split(only, ",")
	}
	var err error
	if s.repository, err = filepath.Abs(s.repository); err != nil {
		return nil, err
	}
	if s.out, err = filepath.Abs(s.out); err != nil {
		return nil, err
	}
	if s.python == "" {
		s.python = filepath.Join(s.repository, "clients", "python", ".venv", "bin", "python")
	}
	return &s, nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	chosen, err := chosenPlatforms(s.only)
	if err != nil {
		return err
	}
	r, err := newRelease(ctx, s)
	if err != nil {
		return err
	}
	if err := r.make(ctx, chosen); err != nil {
		return err
	}
	return writeSums(r.out)
}

// chosenPlatforms returns the named platforms; all for no name.
func chosenPlatforms(only []string) ([]platform, error) {
	if len(only) == 0 {
		return platforms, nil
	}
	var chosen []platform
	for _, name := range only {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("--platforms: %s is none of %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}
