package main

import "context"

// nodeFrameworks are the frameworks whose adapters the TypeScript client has, as its lock file pins them.
func nodeFrameworks() client {
	const folder = "clients/ts/frameworks"
	return client{
		folder:   folder,
		lock:     "package-lock.json",
		stamp:    "node_modules/.installed-lock.json",
		language: (*verifier).node,
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, folder) },
	}
}

// checkNodeFrameworks checks the types of the adapters of the TypeScript client, and runs their tests with the real packages. Their examples talk to the provider of the
// Python ones.
func (v *verifier) checkNodeFrameworks(ctx context.Context, env []string) error {
	for _, c := range []client{typescriptClient(), nodeFrameworks()} {
		if err := v.needClient(ctx, c); err != nil {
			return err
		}
	}
	if err := v.runAll(ctx, typescriptClient(), []command{{args: []string{"npm", "run", "--silent", "build"}}}); err != nil {
		return err
	}
	err := v.runAll(ctx, nodeFrameworks(), []command{
		// The compiler checks the types, also for the linter.
		{args: []string{"npm", "run", "--silent", "build"}},
		{args: []string{"npm", "run", "--silent", "lint"}},
		{args: []string{"npm", "run", "--silent", "test"}, env: env},
	})
	if err != nil {
		return err
	}
	const examples = "frameworks/test_node_examples.py"
	return v.runAll(ctx, pythonClient(), []command{
		{args: []string{v.venv("mypy"), "--config-file", "frameworks/mypy.ini", examples}},
		{args: []string{v.venv("python"), "-m", "pytest", "-p", "no:asyncio", "--quiet", examples}, env: env},
	})
}
