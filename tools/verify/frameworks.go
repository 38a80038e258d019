package main

import (
	"context"
	"path"
	"path/filepath"
	"slices"
)

// frameworks are the frameworks whose adapters the Python client has: the names of the adapters' modules. Each has an
// environment of its own, which frameworks/NAME.txt pins, and its tests are frameworks/test_NAME*.py.
var frameworks = []string{"openai_agents"}

// frameworkClient is the Python client, installed with a framework.
func frameworkClient(name string) client {
	venv, lock := path.Join("frameworks", ".venv", name), path.Join("frameworks", name+".txt")
	return client{
		folder:   pythonClient().folder,
		lock:     lock,
		stamp:    path.Join(venv, "installed.txt"),
		language: (*verifier).python,
		install:  func(v *verifier, ctx context.Context) error { return v.installVenv(ctx, venv, lock) },
	}
}

// checkFrameworks checks the types of each adapter, and runs its tests with the package of the framework.
func (v *verifier) checkFrameworks(ctx context.Context) error {
	if err := v.needClient(ctx, pythonClient()); err != nil {
		return err
	}
	daemon, err := v.daemon(ctx)
	if err != nil {
		return err
	}
	env := []string{daemon}
	if recordings := v.linkRecordings(); recordings != "" && recordings != unlinked {
		env = append(env, recordingsVariable+"="+recordings)
	}
	if v.tier == quick {
		env = append(env, "COMPACTORD_FRAMEWORK_TURNS=20")
	}
	for _, name := range frameworks {
		if err := v.checkFramework(ctx, name, env); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkFramework(ctx context.Context, name string, env []string) error {
	client := frameworkClient(name)
	if err := v.needClient(ctx, client); err != nil {
		return err
	}
	tests, err := filepath.Glob(v.in(client.folder, "frameworks", "test_"+name+"*.py"))
	if err != nil {
		return err
	}
	python := v.venvProgram(path.Join("frameworks", ".venv", name), "python")
	adapter := path.Join("src", "compactord", name+".py")
	example := path.Join("examples", name+"_agent.py")
	types := []string{
		v.venv("mypy"), "--config-file", "frameworks/mypy.ini", "--python-executable", python, adapter, example,
	}
	return v.runAll(ctx, client, []command{
		{args: slices.Concat(types, tests)},
		{args: slices.Concat([]string{python, "-m", "pytest", "--quiet"}, tests), env: env},
	})
}
