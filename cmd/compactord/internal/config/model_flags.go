package config

import (
	"fmt"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// FileFlag names the configuration file with the models. A command reads it only where the service runs in its own
// process: a daemon has its own file.
type FileFlag struct {
	ConfigFile string `env:"COMPACTORD_CONFIG" help:"Configuration file with models, as for 'compactord serve'; for work without a daemon." name:"config" placeholder:"PATH" type:"path"`
}

// ModelFlags name the summarizer.
type ModelFlags struct {
	Summarizer string `help:"Summarizer: extractive, or a model of the configuration; 'compactord summarizers' lists them." placeholder:"NAME"`
	FileFlag
}

// Apply sets the summarizer in a policy, which may be nil.
func (f *ModelFlags) Apply(policy *compactordv1.Policy) *compactordv1.Policy {
	if f.Summarizer == "" {
		return policy
	}
	if policy == nil {
		policy = &compactordv1.Policy{}
	}
	policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(f.Summarizer)}
	return policy
}

// ReadModels gives the summarizer, or the default one if it is empty, to the service of this process. It reads only
// this model's key: the user may not have the others.
func (f *FileFlag) ReadModels(a *api.App, summarizer string) error {
	file, err := f.file(a)
	if err != nil {
		return err
	}
	if summarizer == "" {
		if err := f.readDefault(a, file); err != nil {
			return err
		}
		summarizer = a.DefaultSummarizer
	} else if err := f.check(a, "--summarizer", summarizer, file); err != nil {
		return err
	}
	for _, p := range file.profiles {
		if p.name == summarizer {
			return f.build(a, file, p)
		}
	}
	return nil
}

// NamedModels gives these summarizers to the service of this process. It reads only their keys.
func (f *FileFlag) NamedModels(a *api.App, names []string) error {
	file, err := f.file(a)
	if err != nil {
		return err
	}
	var profiles []*profile
	for _, name := range names {
		if err := f.check(a, "--summarizer", name, file); err != nil {
			return err
		}
	}
	for _, p := range file.profiles {
		if slices.Contains(names, p.name) {
			profiles = append(profiles, p)
		}
	}
	return f.build(a, file, profiles...)
}

// AllModels gives all models of the file, and its default summarizer, to the service of this process.
func (f *FileFlag) AllModels(a *api.App) error {
	file, err := f.file(a)
	if err != nil {
		return err
	}
	if err := f.readDefault(a, file); err != nil {
		return err
	}
	return f.build(a, file, file.profiles...)
}

// file reads the file. It is empty where the flag names none.
func (f *FileFlag) file(a *api.App) (*File, error) {
	if f.ConfigFile == "" {
		return &File{}, nil
	}
	file, err := ReadFile(f.ConfigFile)
	if err != nil {
		return nil, terminal.Usagef("%s: %w", a.NameOf("config"), err)
	}
	return file, nil
}

// readDefault reads the default summarizer as the daemon does: from the environment, then from the file.
func (f *FileFlag) readDefault(a *api.App, file *File) error {
	const variable, key = "COMPACTORD_DEFAULT_SUMMARIZER", "default_summarizer"
	from, name := variable, os.Getenv(variable)
	if name == "" {
		from = key
		if given, there := file.Settings[key]; there {
			name = fmt.Sprint(given)
		}
	}
	if name == "" {
		name = BuiltinSummarizer
	}
	a.DefaultSummarizer = name
	return f.check(a, from, name, file)
}

// check returns an error that lists the summarizers if none has this name.
func (f *FileFlag) check(a *api.App, from, name string, file *File) error {
	if a.Summarizer != nil && name == a.Summarizer.Name() {
		return nil
	}
	err := checkSummarizer(from, name, file.profiles)
	switch {
	case err == nil:
		return nil
	case f.ConfigFile == "":
		return terminal.Advise(terminal.AsUsage(err), "Name that file with --config or COMPACTORD_CONFIG. About the file: %s", terminal.Command("help", "configuration"))
	default:
		return terminal.AsUsage(err)
	}
}

func (f *FileFlag) build(a *api.App, file *File, profiles ...*profile) (err error) {
	if a.Models, err = models(profiles, file.Overflow); err != nil {
		return terminal.Usagef("%s: %w", f.ConfigFile, err)
	}
	return nil
}

// Refuse returns an error if --config is given for a daemon, which has its own file.
func (f *FileFlag) Refuse(a *api.App) error {
	if a.Given["config"] {
		return terminal.Usagef("--config is for work without a daemon: the daemon has its own configuration")
	}
	return nil
}
