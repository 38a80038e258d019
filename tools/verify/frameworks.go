package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// framework is a framework whose adapter the Python client has.
type framework struct {
	// name is that of the adapter's module. frameworks/NAME.txt pins the framework for an environment of its own, and the
	// tests are frameworks/test_NAME*.py.
	name string
	// oldest is the oldest minor version of Python 3 with which the framework works.
	oldest int
}

var frameworks = []framework{
	{name: "openai_agents", oldest: 10},
	{name: "langchain", oldest: 11},
	{name: "pydantic_ai", oldest: 11},
	{name: "google_adk", oldest: 11},
	{name: "litellm", oldest: 11},
}

// venv is the folder of the framework's environment, in that of the Python client.
func (f framework) venv() string { return path.Join("frameworks", ".venv", f.name) }

// lock is the file that pins the framework.
func (f framework) lock() string { return path.Join("frameworks", f.name+".txt") }

// client is the Python client, installed with the framework.
func (f framework) client() client {
	return client{
		folder:   pythonClient().folder,
		lock:     f.lock(),
		stamp:    path.Join(f.venv(), "installed.txt"),
		language: func(v *verifier, ctx context.Context) (found, lack string) { return f.python(ctx, v) },
		install:  func(v *verifier, ctx context.Context) error { return v.installVenv(ctx, f.venv(), f.lock()) },
	}
}

func (f framework) python(ctx context.Context, v *verifier) (found, lack string) {
	found, lack = v.python(ctx)
	if lack != "" {
		return "", lack
	}
	var minor int
	if _, err := fmt.Sscanf(found, "3.%d.", &minor); err != nil || minor < f.oldest {
		version, _, _ := strings.Cut(found, " ")
		return "", fmt.Sprintf("%s is %s, and 3.%d is the oldest that %s works with", interpreter(), version, f.oldest, f.name)
	}
	return found, ""
}

// checkFrameworks checks the types of each adapter, and runs its tests with the package of the framework.
func (v *verifier) checkFrameworks(ctx context.Context) error {
	env, err := v.frameworkTests(ctx)
	if err != nil {
		return err
	}
	for _, f := range frameworks {
		err := v.needClient(ctx, f.client())
		if err == nil {
			err = v.checkFramework(ctx, f, f.venv(), env)
		}
		if err != nil && !errors.Is(err, errSkipped) {
			return err
		}
	}
	if err := v.checkNodeFrameworks(ctx, env); !errors.Is(err, errSkipped) {
		return err
	}
	return nil
}

// frameworkTests prepares the tests of all adapters, and returns their environment.
func (v *verifier) frameworkTests(ctx context.Context) ([]string, error) {
	if err := v.needClient(ctx, pythonClient()); err != nil {
		return nil, err
	}
	daemon, err := v.daemon(ctx)
	if err != nil {
		return nil, err
	}
	env := []string{daemon}
	if recordings := v.linkRecordings(); recordings != "" && recordings != unlinked {
		env = append(env, recordingsVariable+"="+recordings)
	}
	if v.tier == quick {
		env = append(env, "COMPACTORD_FRAMEWORK_TURNS=20")
	}
	return env, nil
}

// checkFramework checks the types of an adapter and runs its tests, in an environment with its framework.
func (v *verifier) checkFramework(ctx context.Context, f framework, venv string, env []string) error {
	folder := pythonClient().folder
	tests, err := filepath.Glob(v.in(folder, "frameworks", "test_"+f.name+"*.py"))
	if err != nil {
		return err
	}
	python := v.venvProgram(venv, "python")
	adapter := path.Join("src", "compactord", f.name+".py")
	examples, err := filepath.Glob(v.in(folder, "examples", f.name+"_*.py"))
	if err != nil {
		return err
	}
	types := []string{v.venv("mypy"), "--config-file", "frameworks/mypy.ini", "--python-executable", python, adapter}
	return v.runAll(ctx, f.client(), []command{
		{args: slices.Concat(types, examples, tests)},
		{args: slices.Concat([]string{python, "-m", "pytest", "--quiet"}, tests), env: env},
	})
}
