// Package settings is the commands that check and print the settings of a daemon without starting it.
package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Command is `compactord config`.
type Command struct {
	Check Check `cmd:"" help:"Say every problem with the settings of a daemon."`
	Print Print `cmd:"" help:"Print the settings of a daemon, and where each comes from."`
}

// source are the file and the flags of `serve`.
type source struct {
	File       string `arg:"" help:"Configuration file (default: that of --config)." optional:"" type:"path"`
	ConfigFile string `env:"COMPACTORD_CONFIG" help:"The same, as for 'compactord serve'." name:"config" placeholder:"PATH" type:"path"`
	config.Config
	JSON bool `help:"Print one JSON document." name:"json"`
}

// BeforeReset keeps kong from reading the settings' variables: it would stop at the first wrong one.
func (s *source) BeforeReset(k *kong.Context) error { return config.LeaveVariables(k) }

func (s *source) settle(k *kong.Context, a *api.App) (*config.Settled, error) {
	path := s.ConfigFile
	if s.File != "" {
		if a.Given["config"] {
			return nil, terminal.Usagef("--config: the file is named already")
		}
		path = s.File
	}
	settled, err := config.Settle(k, path)
	return settled, terminal.AsUsage(err)
}

// Check is `compactord config check`.
type Check struct{ source }

// Help is printed below the flags.
func (c *Check) Help() string {
	return `It takes the flags of 'compactord serve', and reads the environment and the file as that does, with the keys of models, the
files of TLS and the file of --tokens. It starts nothing and changes nothing. Exit code 2 means that the daemon would not start.`
}

// Run checks the settings.
func (c *Check) Run(k *kong.Context, a *api.App) error {
	settled, err := c.settle(k, a)
	if settled == nil {
		return err
	}
	if c.JSON {
		problems := settled.Problems(errors.Unwrap(err))
		document := struct {
			OK       bool             `json:"ok"`
			Problems []config.Problem `json:"problems"`
		}{len(problems) == 0, problems}
		return errors.Join(terminal.PrintJSON(a.Out, document), err)
	}
	if err == nil {
		fmt.Fprintln(a.Out, "The settings are right.")
	}
	return err
}

// Print is `compactord config print`.
type Print struct{ source }

// Help is printed below the flags.
func (p *Print) Help() string {
	return `It takes the flags of 'compactord serve', and reads the environment and the file as that does. The output is a file for
--config. Keys of models are never in it.`
}

// Run prints the settings.
func (p *Print) Run(k *kong.Context, a *api.App) error {
	settled, err := p.settle(k, a)
	if err != nil {
		return err
	}
	if p.JSON {
		document := map[string]any{"settings": settled.Settings()}
		for key, section := range settled.Sections() {
			document[key] = section
		}
		return terminal.PrintJSON(a.Out, document)
	}
	text, err := settled.YAML()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Out, strings.TrimRight(string(text), "\n"))
	return nil
}
