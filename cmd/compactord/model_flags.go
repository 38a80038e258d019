package main

import (
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// configFlag names the file that holds models. A command reads it only where the service runs in its own process: a daemon
// has its own.
type configFlag struct {
	ConfigFile string `env:"COMPACTORD_CONFIG" help:"Configuration file with models, as 'compactord serve' has it, to work without a daemon." name:"config" placeholder:"PATH" type:"path"`
}

// modelFlags say who writes summaries.
type modelFlags struct {
	Summarizer string `help:"Who writes the summary: extractive, or a model of the configuration; 'compactord summarizers' lists them." placeholder:"NAME"`
	configFlag
}

// apply puts the summarizer into a policy, which may be nil.
func (f *modelFlags) apply(policy *compactordv1.Policy) *compactordv1.Policy {
	if f.Summarizer == "" {
		return policy
	}
	if policy == nil {
		policy = &compactordv1.Policy{}
	}
	policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(f.Summarizer)}
	return policy
}

// readModels takes the models of the file into the service of this process. Where a summarizer is named, only its key is
// read: somebody else may have those of the others.
func (f *configFlag) readModels(a *app, summarizer string) error {
	file, err := f.file()
	if err != nil {
		return err
	}
	if summarizer == "" {
		if err := f.readDefault(a, file); err != nil {
			return err
		}
		summarizer = a.defaultSummarizer
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

// allModels takes all models of the file into the service of this process, and its default.
func (f *configFlag) allModels(a *app) error {
	file, err := f.file()
	if err != nil {
		return err
	}
	if err := f.readDefault(a, file); err != nil {
		return err
	}
	return f.build(a, file, file.profiles...)
}

// file reads the file; where none is named, it is empty.
func (f *configFlag) file() (*configFile, error) {
	if f.ConfigFile == "" {
		return &configFile{}, nil
	}
	file, err := readConfigFile(f.ConfigFile)
	if err != nil {
		return nil, usagef("--config: %w", err)
	}
	return file, nil
}

// readDefault takes who writes for sessions that name nobody from where the daemon takes it: the environment, then the file.
func (f *configFlag) readDefault(a *app, file *configFile) error {
	const variable, key = "COMPACTORD_DEFAULT_SUMMARIZER", "default_summarizer"
	from, name := variable, os.Getenv(variable)
	if name == "" {
		from = key
		if given, there := file.settings[key]; there {
			name = fmt.Sprint(given)
		}
	}
	if name == "" {
		name = builtinSummarizer
	}
	a.defaultSummarizer = name
	return f.check(a, from, name, file)
}

// check says which summarizers there are where there is none of that name.
func (f *configFlag) check(a *app, from, name string, file *configFile) error {
	if a.summarizer != nil && name == a.summarizer.Name() {
		return nil
	}
	err := checkSummarizer(from, name, file.profiles)
	switch {
	case err == nil:
		return nil
	case f.ConfigFile == "":
		return advise(asUsage(err), "Name that file with --config or COMPACTORD_CONFIG. What it holds: %s", command("help", "configuration"))
	default:
		return asUsage(err)
	}
}

func (f *configFlag) build(a *app, file *configFile, profiles ...*profile) (err error) {
	if a.models, err = models(profiles, file.overflow); err != nil {
		return usagef("%s: %w", f.ConfigFile, err)
	}
	return nil
}

// refuse says that a file with models was named for a daemon that has its own.
func (f *configFlag) refuse(a *app) error {
	if a.given["config"] {
		return usagef("--config goes without a daemon: the daemon has a configuration of its own")
	}
	return nil
}
