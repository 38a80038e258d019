package main

import (
	"context"
	"runtime"
)

// checkPython lints the Python client, checks its types and runs its tests.
func (v *verifier) checkPython(ctx context.Context) error {
	client := pythonClient()
	if err := v.needClient(ctx, client); err != nil {
		return err
	}
	daemon, err := v.daemon(ctx)
	if err != nil {
		return err
	}
	const repair = "`go run -C tools ./verify fmt` repairs what it can"
	commands := []command{
		{args: []string{v.venv("ruff"), "check"}, hint: repair},
		{args: []string{v.venv("ruff"), "format", "--check"}, hint: repair},
		{
			args: []string{v.venv("lint-imports"), "--no-logo", "--no-cache"},
			hint: "a file imports only files of its own layer and of those below; pyproject.toml has the layers",
		},
		{args: []string{v.venv("mypy")}},
	}
	// pyright is a program of Node in a Python package.
	if lack := lacksProgram("node"); lack != "" {
		v.leaveOut("pyright", lack)
	} else {
		commands = append(commands, command{args: []string{v.venv("pyright")}})
	}
	commands = append(commands, command{args: []string{v.venv("pytest"), "--quiet"}, env: v.clientTests(daemon)})
	return v.runAll(ctx, client, commands)
}

// clientTests returns the environment of the tests of a client.
func (v *verifier) clientTests(daemon string) []string {
	if v.tier == full {
		return []string{daemon, "COMPACTORD_TEST_FULL=1"}
	}
	return []string{daemon}
}

// checkTypeScript lints the TypeScript client, checks its types and runs its tests.
func (v *verifier) checkTypeScript(ctx context.Context) error {
	client := typescriptClient()
	if err := v.needClient(ctx, client); err != nil {
		return err
	}
	daemon, err := v.daemon(ctx)
	if err != nil {
		return err
	}
	return v.runAll(ctx, client, []command{
		{args: []string{"npm", "run", "--silent", "lint"}, hint: "`go run -C tools ./verify fmt` repairs what it can"},
		// The compiler checks the types before the tests run.
		{args: []string{"npm", "run", "--silent", "test"}, env: v.clientTests(daemon)},
	})
}

// formatClients formats the clients whose tools can be installed.
func (v *verifier) formatClients(ctx context.Context) error {
	for _, format := range []struct {
		client   client
		commands []command
	}{
		{pythonClient(), []command{
			{args: []string{v.venv("ruff"), "check", "--fix-only"}},
			{args: []string{v.venv("ruff"), "format"}},
		}},
		{typescriptClient(), []command{{args: []string{"npm", "run", "--silent", "format"}}}},
	} {
		ready, err := v.ready(ctx, format.client, "formatting")
		if err != nil {
			return err
		}
		if !ready {
			continue
		}
		if err := v.runAll(ctx, format.client, format.commands); err != nil {
			return err
		}
	}
	return nil
}

// needClient installs a client's tools. The step is skipped if that is impossible.
func (v *verifier) needClient(ctx context.Context, client client) error {
	ready, err := v.ready(ctx, client, "checks and tests")
	if err == nil && !ready {
		return errSkipped
	}
	return err
}

func (v *verifier) runAll(ctx context.Context, client client, commands []command) error {
	for _, c := range commands {
		c.folder = client.folder
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// daemon builds the daemon for the clients' tests, and returns the variable with its path.
func (v *verifier) daemon(ctx context.Context) (string, error) {
	binary := v.in("bin", "test", "compactord")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	// Build with the flags of the tests, so that the build cache has most of it.
	err := v.run(ctx, command{args: []string{"go", "build", "-o", binary, "./cmd/compactord"}})
	return "COMPACTORD_BINARY=" + binary, err
}
