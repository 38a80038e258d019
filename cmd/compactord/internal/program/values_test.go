package program_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// wrongValues are values that a flag refuses in all commands, by the flag's name.
var wrongValues = map[string][]string{
	"preset": {"nope", ""}, "policy": {"nope", "./nowhere.yaml", ""}, "default-policy": {"nope"}, "format": {"nope", ""}, "nth": {"0", "-1", "99", "x"}, "dialect": {"nope", ""}, "to": {"nope", ""},
	"context-window": {"0", "x", "4000000000"}, "max-output-tokens": {"0", "x"}, "max-input-tokens": {"0", "x"},
	"keep-recent-tokens": {"x", "4000000000"}, "reason": {"nope", ""}, "estimator": {"nope", ""},
	"summarizer": {"nope", ""}, "config": {"nowhere.yaml", ""}, "role": {"nope", ""}, "kind": {"nope", ""}, "state": {"nope", ""}, "limit": {"x", "-1"},
	"addr": {"nowhere", "host:99999", "unix:"}, "as-of": {"x", "99999"}, "from": {"x"}, "label": {"x"},
	"bytes": {"x", "1:y", ""}, "lines": {"x", "3-1", ""}, "match": {"(", ""}, "context": {"x"},
	"to-checkpoint": {"x"}, "to-point": {"x", "99999"}, "turns": {"x", "0", "99999"}, "message": {" "},
	"as": {"a b", ""}, "parent": {"a b", ""}, "forked-from": {"a b", ""}, "children": {"nope", ""}, "fold": {"x", "4", "4-x"}, "fold-text": {"without --fold"}, "session": {"a b", ""}, "status": {"x", "9999"}, "window": {"x"}, "input": {"x"}, "cached": {"x"},
	"output": {"x"}, "listen": {"nowhere"}, "default-preset": {"nope"}, "default-summarizer": {"nope"},
	"max-message-bytes": {"3", "x"}, "max-inflight-bytes": {"3", "x"}, "max-connections": {"0", "x"}, "max-connections-of-client": {"0", "x"}, "min-free-bytes": {"x", "-1"}, "drain-timeout": {"soon", "0s"}, "heartbeat": {"soon", "0s"}, "log-level": {"nope"},
	"log-format": {"nope"}, "audit-log": {""}, "store-keys": {""}, "store-keys-env": {""}, "metrics-listen": {"nowhere"}, "http-listen": {"nowhere", "0.0.0.0:0"}, "http-allow-host": {"without-listen", "a/b"}, "http-allow-origin": {"https://without.listen", "x"}, "admin-listen": {"nowhere", "0.0.0.0:0"}, "budget": {"x", "63"}, "price": {"x", "-1", "NaN"},
	"traces-endpoint": {"nowhere"}, "traces-protocol": {"nope"}, "traces-ca": {"without-endpoint.pem"}, "traces-headers": {"without-endpoint"}, "traces-sample": {"x", "-1", "1.5", "NaN"}, "traces-service": {""},
	"timeout": {"x", "0s"}, "tls-cert": {"without-key.pem"}, "tls-key": {"without-cert.pem"}, "tls-client-ca": {"without-cert.pem"},
	"export": {"", "nowhere/page.html"}, "place": {"nope", ""}, "priority": {"x", "1001"}, "max-tokens": {"x"}, "sees": {"nope", ""}, "block": {"a b", ""}, "call-id": {""},
	"token-file": {""}, "tokens": {""}, "days": {"x", "-1"}, "tenant": {"A b", ""}, "result": {""}, "cache-write": {"x", "-1"}, "cache-read": {"x", "-1"}, "cache-ttl": {"x", "-1"}, "cache-model": {"nope", ""}, "jobs": {"x", "0"},
}

// takesAll are the flags that accept any value: texts, and files that may not exist.
var takesAll = []string{"title", "focus", "text", "text-file", "stop", "store", "html", "result-file", "tls-ca", "client-cert", "client-key"}

// wrongBeside returns the arguments with which a command comes as far as checking a flag.
func wrongBeside(name, flag, path, store string) []string {
	session := []string{"--session", "s", "--store", store}
	switch name {
	case "compact", "prune", "view", "tokens", "inspect":
		if flag == "session" || flag == "addr" || flag == "as-of" {
			return session
		}
		return []string{path}
	case "recall", "search":
		if flag == "session" || flag == "addr" {
			return append([]string{"1"}, session...)
		}
		return []string{"1", path}
	case "compare", "evaluate":
		return []string{path}
	case "convert":
		return []string{path, "--to", "markdown"}
	case "validate":
		return []string{path, "--dialect", "openai_chat"}
	case "import":
		return append([]string{path}, session...)
	case "export":
		return append([]string{"--to", "markdown"}, session...)
	case "pin":
		return append([]string{"1"}, session...)
	case "update":
		if flag == "context-window" {
			return session
		}
		return append([]string{"--context-window", "9000"}, session...)
	case "block":
		if flag == "as-of" {
			return append([]string{"plan"}, session...)
		}
		return append([]string{"plan", "--text", "x"}, session...)
	case "revert":
		if strings.HasPrefix(flag, "to-") || flag == "turns" {
			return session
		}
		return append([]string{"--turns", "1"}, session...)
	case "classify":
		return []string{"--text", "x"}
	case "watch":
		return session[:2]
	case "healthcheck":
		return nil
	case "sessions":
		return session[2:]
	case "salvage":
		return []string{store, store + ".new"}
	case "strategies", "summarizers", "serve", "check", "help", "version":
		return nil
	case "token":
		return []string{"name"}
	default:
		return session
	}
}

// without removes a flag and its value from a command line.
func without(args []string, flag string) []string {
	for i, arg := range args {
		if arg == "--"+flag {
			return append(append([]string{}, args[:i]...), args[i+2:]...)
		}
	}
	return args
}

// Each flag refuses a wrong value as wrong usage, before a file is read. Where the service refuses it, the error names the flag and not
// the field that it went into.
func TestWrongValueOfEveryFlagIsWrongUsage(t *testing.T) {
	sample.TemporaryFolder(t)
	path, store := sample.File(t, "talk.jsonl", sample.Talk(3)), anystore.Place(t)
	programtest.Ran(t, "import", path, "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	parser, err := kong.New(&program.Commands{}, program.Variables())
	require.NoError(t, err)
	seen := make(map[string]bool)
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			if flag.IsBool() || flag.Hidden {
				continue
			}
			values, known := wrongValues[flag.Name]
			require.True(t, known || slices.Contains(takesAll, flag.Name), "no wrong value of --%s of %s", flag.Name, command.Name)
			seen[flag.Name] = true
			for _, value := range values {
				if !refusedBy(command.Name, flag.Name, value) {
					continue
				}
				args := without(wrongBeside(command.Name, flag.Name, path, store), flag.Name)
				if flag.Name == "addr" {
					args = without(args, "store")
				}
				args = append(append([]string{command.Name}, args...), "--"+flag.Name+"="+value)
				r := programtest.Ran(t, args...)
				assert.Equal(t, terminal.ExitUsage, r.Code, "%v\n%s", args, r.Err)
				if strings.Contains(r.Err, "(INVALID_FIELD)") {
					assert.Contains(t, r.Err, "--"+flag.Name+": ", "%v", args)
				}
				if value != "99" {
					assert.NotContains(t, r.Err, "reading "+path, "%v", args)
				}
			}
		}
	}
	for name := range wrongValues {
		require.True(t, seen[name], "there is no flag --%s", name)
	}
}

// refusedBy excludes values that one command accepts.
func refusedBy(command, flag, value string) bool {
	switch command + " " + flag + " " + value {
	case "tokens estimator ", "watch session a b", "block turns 0":
		// An empty estimator means the session's own. Without a daemon, ids of sessions cannot be checked. A block without
		// turns has no limit.
		return false
	default:
		return true
	}
}
