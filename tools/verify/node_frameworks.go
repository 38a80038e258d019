package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// piNodeVariable names the Node with which Pi is tested, where the usual one is too old for it.
const piNodeVariable = "COMPACTORD_PI_NODE"

// nodeFrameworks are the frameworks whose adapters the TypeScript client has, as its lock file pins them.
func nodeFrameworks() client { return nodeFramework("clients/ts/frameworks", (*verifier).node) }

// piFramework is Pi, whose extension is a file of its own.
func piFramework() client { return nodeFramework("clients/ts/frameworks/pi", (*verifier).nodeOfPi) }

// opencodeFramework is opencode, whose plugin is a file of its own.
func opencodeFramework() client {
	return nodeFramework("clients/ts/frameworks/opencode", (*verifier).nodeOfPi)
}

func nodeFramework(folder string, language func(*verifier, context.Context) (found, lack string)) client {
	return client{
		folder:   folder,
		lock:     "package-lock.json",
		stamp:    "node_modules/.installed-lock.json",
		language: language,
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, folder) },
	}
}

// nodeOfPi looks for a Node that Pi works with.
func (v *verifier) nodeOfPi(ctx context.Context) (found, lack string) {
	if _, lack := v.node(ctx); lack != "" {
		return "", lack
	}
	node := newNode()
	found, err := v.ask(ctx, node, "--version")
	var major, minor int
	if err == nil {
		_, err = fmt.Sscanf(found, "v%d.%d.", &major, &minor)
	}
	switch {
	case err != nil:
		return "", node + " does not say its version"
	case major < 22 || major == 22 && minor < 19:
		return "", fmt.Sprintf("%s is %s, and Pi needs 22.19: name another one by %s", node, found, piNodeVariable)
	}
	return "node " + found, ""
}

// newNode is the Node for what the usual one may be too old for.
func newNode() string {
	if named := os.Getenv(piNodeVariable); named != "" {
		return named
	}
	return "node"
}

// checkNodeFrameworks checks the types of the adapters of the TypeScript client, and runs their tests with the real
// packages. Their examples talk to the provider of the Python ones.
func (v *verifier) checkNodeFrameworks(ctx context.Context, env []string) error {
	if err := v.buildNodeFrameworks(ctx); err != nil {
		return err
	}
	if err := v.needClient(ctx, nodeFrameworks()); err != nil {
		return err
	}
	if err := v.testNodeFrameworks(ctx, env); err != nil {
		return err
	}
	if err := v.needClient(ctx, piFramework()); errors.Is(err, errSkipped) {
		return nil
	} else if err != nil {
		return err
	}
	if err := v.testPi(ctx, env); err != nil {
		return err
	}
	if err := v.needClient(ctx, opencodeFramework()); err != nil {
		return err
	}
	return v.testOpencode(ctx, env)
}

// buildNodeFrameworks builds the TypeScript client.
func (v *verifier) buildNodeFrameworks(ctx context.Context) error {
	if err := v.needClient(ctx, typescriptClient()); err != nil {
		return err
	}
	return v.runAll(ctx, typescriptClient(), []command{{args: []string{"npm", "run", "--silent", "build"}}})
}

func (v *verifier) testNodeFrameworks(ctx context.Context, env []string) error {
	err := v.runAll(ctx, nodeFrameworks(), []command{
		// The compiler checks the types, also for the linter.
		{args: []string{"npm", "run", "--silent", "build"}},
		{args: []string{"npm", "run", "--silent", "lint"}},
		{args: []string{"npm", "run", "--silent", "test"}, env: env},
	})
	if err != nil {
		return err
	}
	return v.testInPython(ctx, env, "frameworks/test_node_examples.py")
}

func (v *verifier) testPi(ctx context.Context, env []string) error {
	err := v.runAll(ctx, piFramework(), []command{
		{args: []string{"npm", "run", "--silent", "build"}},
		{args: []string{"npm", "run", "--silent", "lint"}},
	})
	if err != nil {
		return err
	}
	// It runs TypeScript.
	tests := []string{newNode(), "--test", "test/messages.test.ts", "test/pi.test.ts"}
	err = v.runAll(ctx, piFramework(), []command{{args: tests, env: env}})
	if err != nil {
		return err
	}
	return v.testInPython(ctx, env, "frameworks/test_pi.py")
}

func (v *verifier) testOpencode(ctx context.Context, env []string) error {
	err := v.runAll(ctx, opencodeFramework(), []command{
		{args: []string{"npm", "run", "--silent", "build"}},
		{args: []string{"npm", "run", "--silent", "lint"}},
		// It runs TypeScript.
		{args: []string{newNode(), "--test", "test/compactord.test.ts"}, env: env},
	})
	if err != nil {
		return err
	}
	// The program itself is large, so the user names it, by COMPACTORD_OPENCODE. Without it the test is left out.
	return v.testInPython(ctx, env, "frameworks/test_opencode.py")
}

// testInPython runs tests of programs of Node that are written in Python.
func (v *verifier) testInPython(ctx context.Context, env []string, tests string) error {
	return v.runAll(ctx, pythonClient(), []command{
		{args: []string{v.venv("mypy"), "--config-file", "frameworks/mypy.ini", tests}},
		{args: []string{v.venv("python"), "-m", "pytest", "-p", "no:asyncio", "--quiet", tests}, env: env},
	})
}

// checkNewestNodeFrameworks does the same with the newest releases of all packages that are pinned, which it installs and
// then puts back.
func (v *verifier) checkNewestNodeFrameworks(ctx context.Context, env []string) error {
	if err := v.buildNodeFrameworks(ctx); errors.Is(err, errSkipped) {
		return nil
	} else if err != nil {
		return err
	}
	tests := func(c client, run func(context.Context, []string) error) error {
		if _, lack := c.language(v, ctx); lack != "" {
			v.leaveOut(c.folder, lack)
			return nil
		}
		err := v.installNewestNode(ctx, c)
		if err == nil {
			err = run(ctx, env)
		}
		// Also after a cancel: what is pinned must be what is there.
		return errors.Join(err, v.npmInstall(context.WithoutCancel(ctx), c.folder))
	}
	return errors.Join(
		tests(nodeFrameworks(), v.testNodeFrameworks),
		tests(piFramework(), v.testPi),
		tests(opencodeFramework(), v.testOpencode),
	)
}
