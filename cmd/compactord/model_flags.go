package main

import (
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
	var file configFile
	if f.ConfigFile != "" {
		read, err := readConfigFile(f.ConfigFile)
		if err != nil {
			return usagef("--config: %w", err)
		}
		file = *read
	}
	if summarizer == "" {
		summarizer = builtinSummarizer
	}
	if a.summarizer == nil || summarizer != a.summarizer.Name() {
		if err := checkSummarizer("--summarizer", summarizer, file.profiles); err != nil {
			if f.ConfigFile == "" {
				return advise(usageError{err}, "Name that file with --config or COMPACTORD_CONFIG: docs/configuration.md says what it holds.")
			}
			return usageError{err}
		}
	}
	for _, p := range file.profiles {
		if p.name != summarizer {
			continue
		}
		var err error
		if a.models, err = models([]*profile{p}, file.overflow); err != nil {
			return usagef("%s: %w", f.ConfigFile, err)
		}
	}
	return nil
}

// allModels takes all models of the file into the service of this process.
func (f *configFlag) allModels(a *app) error {
	if f.ConfigFile == "" {
		return nil
	}
	file, err := readConfigFile(f.ConfigFile)
	if err != nil {
		return usagef("--config: %w", err)
	}
	if a.models, err = models(file.profiles, file.overflow); err != nil {
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

// localModels reads the models that a compaction in this process may need: the one that is named, or for sessions of a
// store, whose policies may name any, all.
func (c *compactCommand) localModels(a *app) error {
	switch {
	case c.File == "" && c.Store == "":
		return c.refuse(a)
	case c.Summarizer != "" || c.File != "":
		return c.readModels(a, c.Summarizer)
	default:
		return c.allModels(a)
	}
}

// streams says whether the text of the summary is shown as it is written. That of extractive is there at once.
func (c *compactCommand) streams() bool {
	return !c.DryRun && (c.Summarizer != "" || c.File == "") && c.Summarizer != builtinSummarizer
}
